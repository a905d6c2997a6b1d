//! The start and the shutdown of the process, and its background tasks.

use std::convert::Infallible;
use std::fmt;
use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderMap, HeaderName};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_rustls::TlsAcceptor;

use super::bind::{self, Draining, left_to_others};
use super::hub::Request;
use super::{App, admin, dispatch, listen, sweep};
use crate::address::Upstream;
use crate::certificate::Certificate;
use crate::client;
use crate::config::{Config, Durability, Secret, Store};
use crate::connection::{Connections, Listener};
use crate::descriptors;
use crate::log::{
    self, Company, Lifetimes, LogError, MemoryLog, Purge, RedisLog, ReplayLog, SqliteLog, StreamsLog,
};
use crate::observe;
use crate::say::say;

/// How long a reader may accept no bytes. It can reconnect.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long readers have to receive the end.
const FAREWELL: Duration = Duration::from_secs(3);
/// How long a start waits for a log that does not say which processes use it, as for a busy file, and how often it tries.
const BUSY: Duration = Duration::from_secs(5);
const TRY: Duration = Duration::from_millis(100);
/// How often a relay that shuts down looks for its successor.
const LOOK: Duration = Duration::from_secs(1);

/// Why the relay cannot run.
#[derive(Debug)]
pub enum Failure {
    /// An address is not available.
    Listen(SocketAddr, std::io::Error),
    /// The log cannot be used.
    Log(LogError),
    /// The certificate cannot be used.
    Certificate(String),
    /// The memory of a running relay cannot be reached from here.
    InMemory,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen(address, error) => write!(f, "cannot listen on {address}: {error}"),
            Self::Log(error) => write!(f, "{error}"),
            Self::InMemory => f.write_str(
                "the log is in the memory of the relay that runs: send its admin address `DELETE /turns?subject=ID`",
            ),
            Self::Certificate(problem) => write!(f, "the certificate cannot be used: {problem}"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<LogError> for Failure {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}

/// The addresses of a relay.
#[derive(Debug, Clone, Copy)]
pub struct Addresses {
    /// For pages.
    pub relay: SocketAddr,
    /// For metrics and health.
    pub admin: Option<SocketAddr>,
}

/// What a relay is about to do.
#[derive(Debug, Clone, Copy)]
pub enum Stage {
    /// It serves.
    Serving(Addresses),
    /// It lets turns end.
    Ending,
}

/// Serves until `stop` completes or the admin address is told to drain, then lets turns end, as long as the config
/// allows. `stop` is polled for as long as it has not completed.
pub async fn serve(
    config: Config,
    told: impl Fn(Stage),
    stop: impl Future<Output = ()>,
) -> Result<(), Failure> {
    observe::begin();
    descriptors::prepare(&config.limits);
    let log = open(&config).await?;
    let tls = tls(&config)?;
    let company = settled(&*log, BUSY).await?;
    let failed = |address| move |error| Failure::Listen(address, error);
    let listener = bind::pages(config.listen, company).await.map_err(failed(config.listen))?;
    // Another relay on this machine may release its address only later.
    let mut admin = Box::pin(async move {
        match config.admin {
            Some(address) => bind::admin(address, company).await.map(Some).map_err(failed(address)),
            None => Ok(None),
        }
    });
    let bound = if company.is_near() { None } else { (&mut admin).await? };
    let local = |listener: &TcpListener, asked| listener.local_addr().unwrap_or(asked);
    let addresses = Addresses {
        relay: local(&listener, config.listen),
        admin: config.admin.map(|asked| bound.as_ref().map_or(asked, |listener| local(listener, asked))),
    };
    let app = Arc::new(App::new(config, log));
    sweep::recover(&app).await?;
    let (drains, draining) = watch::channel(None);
    tokio::spawn({
        let (app, draining) = (app.clone(), draining.clone());
        async move {
            let bound = if company.is_near() { admin.await.ok().flatten() } else { bound };
            if let Some(listener) = bound {
                let left = left_to_others(draining);
                let _ = axum::serve(listener, admin::routes(app)).with_graceful_shutdown(left).await;
            }
        }
    });
    tokio::spawn(sweep::sweep(app.clone()));
    tokio::spawn(sweep::watch_over(app.clone()));
    let router = Router::new().fallback(dispatch::answer).layer(app.edge.cors()).with_state(app.clone());
    let listener =
        Listener::new(listener, Connections::default()).with_patience(PATIENCE).telling(descriptors::missing);
    if let Some(shared) = app.log.shared() {
        shared.announce(true).await?;
    }
    told(Stage::Serving(addresses));
    // Polled until the end: if the admin address has begun it, the first signal changes nothing, and the second does.
    let heard = async {
        stop.await;
        app.ending.notify_one();
        pending::<Infallible>().await
    };
    let ending = async {
        app.ending.notified().await;
        told(Stage::Ending);
        drain(&app, &drains).await;
    };
    tokio::select! {
        never = listen::serve(listener, tls, router, draining) => match never {},
        never = heard => match never {},
        () = ending => {
            app.traces.flush().await;
            Ok(())
        }
    }
}

/// Reads the certificate, and again when its files change.
fn tls(config: &Config) -> Result<Option<TlsAcceptor>, Failure> {
    let Some(files) = &config.tls else { return Ok(None) };
    let certificate = Certificate::open(files).map_err(|problem| Failure::Certificate(problem.text))?;
    tokio::spawn(certificate.clone().renew());
    Ok(Some(certificate.acceptor()))
}

/// Which other processes use the log now.
async fn company(log: &dyn ReplayLog) -> Result<Company, LogError> {
    match log.shared() {
        Some(shared) => shared.company().await,
        // Only this process can read its turns.
        None => Ok(Company::Unknown),
    }
}

/// The same at the start, once the log says so: it may be busy with another process for this long.
async fn settled(log: &dyn ReplayLog, patience: Duration) -> Result<Company, LogError> {
    let until = Instant::now() + patience;
    loop {
        match company(log).await {
            Err(_) if Instant::now() < until => sleep(TRY).await,
            company => return company,
        }
    }
}

async fn open(config: &Config) -> Result<Arc<dyn ReplayLog>, LogError> {
    Ok(match &config.log.store {
        Store::Memory => Arc::new(MemoryLog::default()),
        Store::Sqlite(path) => Arc::new(SqliteLog::open(path, config.log.durability == Durability::Disk)?),
        Store::Redis { url, password } => Arc::new(redis(config, url, password.as_ref()).await?),
        Store::Streams { url, headers } => Arc::new(streams(config, url, headers).await?),
    })
}

fn lifetimes(config: &Config) -> Lifetimes {
    Lifetimes { running: config.limits.turn_time, retention: config.log.retention }
}

async fn streams(
    config: &Config,
    url: &Upstream,
    headers: &[(HeaderName, Secret)],
) -> Result<StreamsLog, LogError> {
    let headers = headers.iter().map(|(name, value)| (name.clone(), value.value())).collect();
    StreamsLog::open(url, headers, lifetimes(config)).await
}

async fn redis(config: &Config, url: &str, password: Option<&Secret>) -> Result<RedisLog, LogError> {
    let log = RedisLog::open(url, password.and_then(Secret::text), lifetimes(config)).await?;
    Ok(if config.log.durability == Durability::Replica { log.replicated() } else { log })
}

/// Starts no more turns, and waits for running ones. Turns that take too long are cut, and their readers are informed.
async fn drain(app: &App, drains: &watch::Sender<Draining>) {
    app.is_draining.store(true, Ordering::SeqCst);
    // A file that cannot be read now is looked at again, until others are seen in it.
    let at_first = company(&*app.log).await.unwrap_or(Company::Alone);
    drains.send_replace(Some(at_first));
    let owned = || app.hubs.all().into_iter().filter(|hub| hub.is_owned());
    let running = owned().count();
    say(format_args!("ending; {running} turns run"));
    let hand_over = async {
        let Some(shared) = app.log.shared() else { return };
        // If this fails, only another relay that shuts down takes this one for its successor.
        let _ = shared.announce(false).await;
        if matches!(at_first, Company::Alone | Company::Beside) {
            // A starting relay uses the log before it serves, and may still fail.
            while shared.company().await != Ok(Company::Serving) {
                sleep(LOOK).await;
            }
            drains.send_replace(Some(Company::Serving));
        }
        // Other relays can serve the turns that run here.
        app.hubs.all().iter().for_each(|hub| hub.send_away());
    };
    let is_busy = || app.sockets.end_idle() > 0 || app.hubs.making.is_busy() || owned().next().is_some();
    let pause = || sleep(Duration::from_millis(20));
    let ended = async {
        while is_busy() {
            pause().await;
        }
    };
    let cut = async {
        app.sockets.end_all();
        while is_busy() {
            // Each time: a start that waited for the log may create its turn only now.
            for hub in owned() {
                hub.ask(Request::Drain);
            }
            pause().await;
        }
    };
    let deadline = *app.drains_until.get_or_init(|| Instant::now() + app.config.drain);
    tokio::select! {
        biased;
        () = async { hand_over.await; pending().await } => {}
        () = ended => {}
        () = sleep_until(deadline) => drop(timeout(FAREWELL, cut).await),
    }
    app.hubs.all().iter().for_each(|hub| hub.send_away());
    // Gives readers of turns that have just ended time to receive the end.
    sleep(Duration::from_millis(300)).await;
}

/// Checks what a config needs from outside, and returns the result for each.
pub async fn check(config: &Config) -> Vec<(String, Result<(), String>)> {
    descriptors::prepare(&config.limits);
    let mut results = Vec::new();
    let store = match &config.log.store {
        Store::Memory => "the log in memory".to_owned(),
        Store::Sqlite(path) => format!("the log in {}", path.display()),
        Store::Redis { url, .. } => format!("the log in {url}"),
        Store::Streams { url, .. } => format!("the log at {url}"),
    };
    let opened = match &config.log.store {
        Store::Memory => Ok(()),
        Store::Sqlite(path) => SqliteLog::beside(path).map(drop).map_err(|error| error.to_string()),
        Store::Redis { url, password } => {
            let tried = async { log::probe(&redis(config, url, password.as_ref()).await?).await };
            tried.await.map_err(|error| error.to_string())
        }
        Store::Streams { url, headers } => {
            streams(config, url, headers).await.map(drop).map_err(|error| error.to_string())
        }
    };
    results.push((store, opened));
    let is_ready = crate::identity::of(&config.identity).is_ready().await;
    let problem = || "it does not answer, or its keys cannot be read".to_owned();
    results.push(("the identity".to_owned(), is_ready.then_some(()).ok_or_else(problem)));
    for upstream in &config.upstreams {
        let mut head = HeaderMap::new();
        for (name, value) in &upstream.headers {
            head.insert(name, value.value());
        }
        let client = client::client(&upstream.url);
        // Any response shows that the server is there, whatever it says about this path.
        let answer = client::get(&client, upstream.url.uri(), head, Duration::from_secs(5), 1 << 20).await;
        let result = match answer {
            Ok((parts, _)) if parts.status == axum::http::StatusCode::UNAUTHORIZED => {
                Err("it refuses the key".to_owned())
            }
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        results.push((format!("{} at {}", upstream.name, upstream.url), result));
    }
    results
}

/// Removes data from a log. Returns how many turns.
pub async fn purge(config: &Config, what: Purge) -> Result<usize, Failure> {
    match &config.log.store {
        Store::Memory => Err(Failure::InMemory),
        Store::Sqlite(path) => Ok(SqliteLog::beside(path)?.purge(what).await?),
        Store::Redis { url, password } => {
            Ok(redis(config, url, password.as_ref()).await?.purge(what).await?)
        }
        Store::Streams { url, headers } => Ok(streams(config, url, headers).await?.purge(what).await?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_start_waits_for_a_log_that_fails_for_a_moment_and_no_longer() {
        let directory = std::env::temp_dir().join(format!("turnwire-relay-company-{}", std::process::id()));
        let path = directory.join("turns.db");
        let log = SqliteLog::open(&path, false).expect("a log");
        let file = rusqlite::Connection::open(&path).expect("the file");
        file.execute_batch("ALTER TABLE process RENAME TO away").expect("renamed");
        let gives_up = settled(&log, Duration::from_millis(300)).await;
        assert!(matches!(gives_up, Err(LogError::Unreachable(_))), "{gives_up:?}");
        let back = async {
            sleep(Duration::from_millis(300)).await;
            file.execute_batch("ALTER TABLE away RENAME TO process").expect("renamed");
        };
        assert_eq!(tokio::join!(settled(&log, BUSY), back).0, Ok(Company::Alone));
        drop(log);
        let _ = std::fs::remove_dir_all(&directory);
    }
}
