//! The relay's listening socket: at a free address, at the address of another relay of this machine that is shutting
//! down, or a socket that systemd keeps open over restarts.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::log::Company;

/// The most connections that wait to be accepted.
const WAITING: u32 = 1024;
/// How often to try an address that another relay is about to release.
const TRY: Duration = Duration::from_millis(20);

/// Set when the relay begins to shut down, to the processes that use its log.
pub(super) type Draining = Option<Company>;

/// Waits until this relay shuts down while another one serves at its address.
pub(super) async fn left_to_others(mut draining: watch::Receiver<Draining>) {
    if draining.wait_for(|draining| *draining == Some(Company::Serving)).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Listens for pages.
pub(super) async fn pages(address: SocketAddr, company: Company) -> io::Result<TcpListener> {
    if let Some(listener) = inherited()? {
        return Ok(listener);
    }
    match company {
        Company::Unknown => TcpListener::bind(address).await,
        Company::Alone => alone(address).await,
        Company::Beside | Company::Serving => shared(address),
    }
}

/// Listens for metrics and health, once another relay of this machine has released the address.
pub(super) async fn admin(address: SocketAddr, company: Company) -> io::Result<TcpListener> {
    loop {
        match TcpListener::bind(address).await {
            Err(error) if error.kind() == ErrorKind::AddrInUse && company.is_near() => {
                sleep(TRY).await;
            }
            bound => return bound,
        }
    }
}

/// The socket that systemd has opened for this process, if any.
#[cfg(unix)]
fn inherited() -> io::Result<Option<TcpListener>> {
    let Some(listener) = listenfd::ListenFd::from_env().take_tcp_listener(0)? else { return Ok(None) };
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener).map(Some)
}

#[cfg(not(unix))]
fn inherited() -> io::Result<Option<TcpListener>> {
    Ok(None)
}

/// Listens so that a later relay can do the same. The address must be free now: no other program knows its turns.
async fn alone(address: SocketAddr) -> io::Result<TcpListener> {
    drop(TcpListener::bind(address).await?);
    shared(address)
}

/// Listens beside other processes of the same user.
fn shared(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    #[cfg(unix)]
    {
        socket.set_reuseaddr(true)?;
        socket.set_reuseport(true)?;
    }
    socket.bind(address)?;
    socket.listen(WAITING)
}
