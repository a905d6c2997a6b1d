//! The command line of the development gateway.

use std::io::Write;
use std::net::SocketAddr;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};
use tokio::net::TcpListener;
use turnwire_gateway::{Chaos, Config, serve};
use turnwire_relay::Upstream;
use turnwire_relay::development::{Origins, RelayConfig, SecretHeaders};

/// A development gateway: agent protocols with scripted agents, in memory.
#[derive(Debug, Parser)]
#[command(version, after_long_help = faults())]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    task: Option<Task>,
    #[command(flatten)]
    gateway: GatewayArguments,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Pass requests on to a real server, so that pages can call it: CORS, and a key that no page holds.
    #[command(after_long_help = RELAY_HELP)]
    Relay(RelayArguments),
}

#[derive(Debug, Args)]
struct GatewayArguments {
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8790")]
    listen: SocketAddr,
    #[command(flatten)]
    config: Config,
    /// Faults at random on every stream, the same for the same seed and order of requests.
    #[arg(long, value_name = "SEED")]
    chaos: Option<u64>,
    /// How probable a random fault is for each stream, from 0 to 1; a quarter of it for each reading
    /// of turns.
    #[arg(long, value_name = "RATE", default_value_t = 0.5, requires = "chaos", value_parser = rate)]
    chaos_rate: f64,
}

impl GatewayArguments {
    fn config(self) -> Config {
        Config {
            token_in_query: self.config.token_in_query || self.config.www.is_some(),
            delivery: self.config.delivery.without_zeros(),
            chaos: self.chaos.map(|seed| Chaos { seed, rate: self.chaos_rate }),
            ..self.config
        }
    }
}

#[derive(Debug, Args)]
struct RelayArguments {
    /// The server, with the path that its paths begin with, if any.
    #[arg(long, value_name = "URL")]
    upstream: Upstream,
    /// Where to listen; port 0 takes a free one. The relay is then called by `localhost` or a loopback
    /// address; if others can reach this one, by any address, but by no name.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8791")]
    listen: SocketAddr,
    /// A page's origin that may call, such as `http://localhost:5173`; can be given several times. Without
    /// it, pages that this machine serves may. `*` lets every page call, and `null` every page that is a
    /// file or a sandboxed frame, of whatever site; these two open no WebSockets.
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,
    /// Write a line to stderr for each request.
    #[arg(long)]
    log: bool,
}

/// The end of `relay --help`.
const RELAY_HELP: &str = "\
Environment, so that no secret is in a page or in a list of processes:
  TURNWIRE_RELAY_AUTHORIZATION   the whole value of the header Authorization: `Bearer …`
  TURNWIRE_RELAY_HEADER_NAME     the value of another header; `_` stands for `-`: …_HEADER_X_API_KEY
A header of the same name that a page sends is replaced.";

impl RelayArguments {
    /// The settings. The error says what is wrong with the arguments or the environment.
    fn config(self) -> Result<RelayConfig, String> {
        let secrets = SecretHeaders::from_environment(std::env::vars_os())?;
        let origins = match self.allow_origin.as_slice() {
            [] if !self.listen.ip().is_loopback() => {
                return Err(
                    "--listen: others can reach this address: name pages with --allow-origin".to_owned()
                );
            }
            [] => Origins::ThisMachine,
            named => Origins::named(named).map_err(|problem| format!("--allow-origin: {problem}"))?,
        };
        Ok(RelayConfig { upstream: self.upstream, origins, secrets, log: self.log })
    }
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (0.0..=1.0).contains(rate));
    rate.ok_or_else(|| "it must be a number from 0 to 1".to_owned())
}

/// The end of `--help`.
fn faults() -> String {
    format!(
        "Faults, for the header x-turnwire-fault, the query parameter `fault`, or a session's schedule \
         (PUT /_gateway/sessions/ID/faults):\n{}",
        turnwire_gateway::fault_catalog()
    )
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let Arguments { task, gateway } = Arguments::parse();
    // Open streams are dropped with the process.
    tokio::select! {
        served = run(task, gateway) => served,
        stopped = stopped() => stopped,
    }
}

async fn run(task: Option<Task>, gateway: GatewayArguments) -> std::io::Result<()> {
    match task {
        None => serve(listen(gateway.listen).await?, gateway.config()).await,
        Some(Task::Relay(relay)) => {
            let address = relay.listen;
            let config = relay.config().unwrap_or_else(|problem| {
                Arguments::command().error(ErrorKind::ValueValidation, problem).exit()
            });
            turnwire_relay::development::serve(listen(address).await?, config).await
        }
    }
}

/// Listens, and prints the address as the first and only line.
async fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let listener = TcpListener::bind(address).await?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "http://{}/", listener.local_addr()?)?;
    stdout.flush()?;
    Ok(listener)
}

/// Waits for Ctrl-C, or for the signal to terminate where there is one.
async fn stopped() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            pressed = tokio::signal::ctrl_c() => pressed,
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}
