//! A TCP proxy whose connections can be reset, or go silent and stay open.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// Passes connections on to where its target is at the moment.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    target: Arc<Mutex<SocketAddr>>,
    order: watch::Sender<Order>,
    accepting: Mutex<Option<JoinHandle<()>>>,
}

/// What becomes of the connections that are open when it is given.
#[derive(Debug, Clone, Copy)]
enum Order {
    Flow,
    Freeze,
    Cut,
}

impl Proxy {
    pub(crate) async fn start(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let target = Arc::new(Mutex::new(target));
        let order = watch::Sender::new(Order::Flow);
        let accepting = Mutex::new(Some(accept(listener, target.clone(), order.clone())));
        Self { address, target, order, accepting }
    }

    pub(crate) fn aim(&self, target: SocketAddr) {
        *self.target.lock().unwrap_or_else(PoisonError::into_inner) = target;
    }

    /// Resets all connections; new ones work.
    pub(crate) fn cut(&self) {
        self.order.send_replace(Order::Cut);
    }

    /// All connections stay open, and nothing passes any more; new ones work.
    pub(crate) fn freeze(&self) {
        self.order.send_replace(Order::Freeze);
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
                // A connection of another test may have this port for a while.
                Err(_) => sleep(Duration::from_millis(50)).await,
            }
        };
        let accepting = accept(listener, self.target.clone(), self.order.clone());
        *self.accepting.lock().unwrap_or_else(PoisonError::into_inner) = Some(accepting);
    }
}

fn accept(
    listener: TcpListener,
    target: Arc<Mutex<SocketAddr>>,
    order: watch::Sender<Order>,
) -> JoinHandle<()> {
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let mut orders = order.subscribe();
            let target = *target.lock().unwrap_or_else(PoisonError::into_inner);
            tokio::spawn(async move {
                let Ok(far) = TcpStream::connect(target).await else {
                    let _ = near.set_zero_linger();
                    return;
                };
                let _ = (near.set_nodelay(true), far.set_nodelay(true));
                pass(near, far, &mut orders).await;
            });
        }
    })
}

async fn pass(mut near: TcpStream, mut far: TcpStream, orders: &mut watch::Receiver<Order>) {
    let is_broken = tokio::select! {
        copied = copy_bidirectional(&mut near, &mut far) => copied.is_err(),
        () = ordered(orders) => {
            if matches!(*orders.borrow_and_update(), Order::Freeze) {
                ordered(orders).await;
            }
            true
        }
    };
    if is_broken {
        let _ = (near.set_zero_linger(), far.set_zero_linger());
    }
}

/// Waits for the next order; the end of the proxy is none.
async fn ordered(orders: &mut watch::Receiver<Order>) {
    if orders.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}
