//! A TCP proxy whose connections can be reset, or go silent and stay open, in both ways or in one.

use std::future::pending;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::random::Random;

/// Forwards connections to its current targets: each connection to one of them, as a balancer does, and to another one
/// if that does not answer.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    targets: Targets,
    order: watch::Sender<Order>,
    accepting: Mutex<Option<JoinHandle<()>>>,
}

type Targets = Arc<Mutex<Vec<SocketAddr>>>;

/// What happens to the open connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Flow,
    Freeze,
    Cut,
    Deafen,
}

impl Proxy {
    pub(crate) async fn start(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let targets = Targets::new(Mutex::new(vec![target]));
        let order = watch::Sender::new(Order::Flow);
        let accepting = Mutex::new(Some(accept(listener, targets.clone(), order.clone())));
        Self { address, targets, order, accepting }
    }

    pub(crate) fn aim(&self, targets: Vec<SocketAddr>) {
        *self.targets.lock().unwrap_or_else(PoisonError::into_inner) = targets;
    }

    /// Resets all connections; new ones work.
    pub(crate) fn cut(&self) {
        self.order.send_replace(Order::Cut);
    }

    /// Keeps all connections open but silent; new ones work.
    pub(crate) fn freeze(&self) {
        self.order.send_replace(Order::Freeze);
    }

    /// Passes on no answers any more, but all requests: on all connections, and also on new ones, until the next order.
    pub(crate) fn deafen(&self) {
        self.order.send_replace(Order::Deafen);
    }

    /// Refuses new connections.
    pub(crate) fn refuse(&self) {
        if let Some(accepting) = self.accepting.lock().unwrap_or_else(PoisonError::into_inner).take() {
            accepting.abort();
        }
    }

    /// Accepts them again.
    pub(crate) async fn welcome(&self) {
        let listener = loop {
            match TcpListener::bind(self.address).await {
                Ok(listener) => break listener,
                // For a while, a connection of another test may use this port.
                Err(_) => sleep(Duration::from_millis(50)).await,
            }
        };
        let accepting = accept(listener, self.targets.clone(), self.order.clone());
        *self.accepting.lock().unwrap_or_else(PoisonError::into_inner) = Some(accepting);
    }
}

fn accept(listener: TcpListener, targets: Targets, order: watch::Sender<Order>) -> JoinHandle<()> {
    let mut random = Random::new(listener.local_addr().map_or(0, |address| address.port().into()));
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let mut orders = order.subscribe();
            let mut targets = targets.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let first = random.index(targets.len());
            targets.rotate_left(first);
            tokio::spawn(async move {
                let Some(far) = connect(&targets).await else {
                    let _ = near.set_zero_linger();
                    return;
                };
                let _ = (near.set_nodelay(true), far.set_nodelay(true));
                pass(near, far, &mut orders).await;
            });
        }
    })
}

async fn connect(targets: &[SocketAddr]) -> Option<TcpStream> {
    for target in targets {
        if let Ok(stream) = TcpStream::connect(target).await {
            return Some(stream);
        }
    }
    None
}

async fn pass(mut near: TcpStream, mut far: TcpStream, orders: &mut watch::Receiver<Order>) {
    let is_broken = {
        let (near_read, near_write) = near.split();
        let (far_read, far_write) = far.split();
        let mut requests = pin!(forward(near_read, far_write));
        let mut deafened = orders.clone();
        let mut answers = pin!(async {
            tokio::select! {
                biased;
                () = async { drop(deafened.wait_for(|order| *order == Order::Deafen).await) } => pending().await,
                copied = forward(far_read, near_write) => copied,
            }
        });
        tokio::select! {
            copied = async { tokio::try_join!(requests.as_mut(), answers.as_mut()) } => copied.is_err(),
            order = ordered(orders) => {
                if order == Order::Freeze {
                    ordered(orders).await;
                }
                true
            }
        }
    };
    if is_broken {
        let _ = (near.set_zero_linger(), far.set_zero_linger());
    }
}

async fn forward(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin) -> std::io::Result<()> {
    copy(&mut from, &mut to).await?;
    to.shutdown().await
}

/// Waits for the next order for both ways; the end of the proxy is not an order.
async fn ordered(orders: &mut watch::Receiver<Order>) -> Order {
    loop {
        if orders.changed().await.is_err() {
            pending::<()>().await;
        }
        let order = *orders.borrow_and_update();
        if order != Order::Deafen {
            return order;
        }
    }
}
