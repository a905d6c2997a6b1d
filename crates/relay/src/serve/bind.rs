//! Where the relay listens: at an address of its own; beside another relay of this machine that is about to end, at the same one;
//! or on a socket that systemd holds over restarts.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::log::Company;

/// The most connections that wait until they are accepted.
const WAITING: u32 = 1024;
/// How often an address is tried that another relay is about to leave.
const TRY: Duration = Duration::from_millis(20);

/// That the relay is ending, and who else used its log when that began.
pub(super) type Draining = Option<Company>;

/// Waits until this relay ends while another one has its address.
pub(super) async fn left_to_others(mut draining: watch::Receiver<Draining>) {
    if draining.wait_for(|draining| *draining == Some(Company::Beside)).await.is_err() {
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
        Company::Beside => shared(address),
    }
}

/// Listens for metrics and health, as soon as another relay of this machine has left the address.
pub(super) async fn admin(address: SocketAddr, company: Company) -> io::Result<TcpListener> {
    loop {
        match TcpListener::bind(address).await {
            Err(error) if error.kind() == ErrorKind::AddrInUse && company == Company::Beside => {
                sleep(TRY).await;
            }
            bound => return bound,
        }
    }
}

/// The socket that systemd has opened for this process, if there is one.
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

/// Listens so that a relay that comes later can do the same. Now the address must be free: what else has it is not a relay that
/// knows the turns of this one.
async fn alone(address: SocketAddr) -> io::Result<TcpListener> {
    drop(TcpListener::bind(address).await?);
    shared(address)
}

/// Listens beside others of the same user.
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
