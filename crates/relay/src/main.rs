//! The program `turnwire-relay`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use sd_notify::NotifyState;
use turnwire_relay::log::Purge;
use turnwire_relay::{Config, Stage};

/// Stands between web pages and agents: holds the key, knows who calls, and keeps each turn for its readers.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Serve until a signal to end; then let running turns end.
    Serve {
        /// The config, a TOML file.
        config: PathBuf,
    },
    /// Show every mistake in a config, and whether what it names is there.
    Check {
        /// The config, a TOML file.
        config: PathBuf,
    },
    /// Remove kept turns, and whose sessions are.
    Purge(PurgeArguments),
}

#[derive(Debug, Args)]
struct PurgeArguments {
    /// The config, a TOML file.
    config: PathBuf,
    /// Only what belongs to this user.
    #[arg(long, value_name = "ID")]
    subject: Option<String>,
    /// Only the turns of this session: AGENT/SESSION.
    #[arg(long, value_name = "AGENT/SESSION", conflicts_with = "subject")]
    session: Option<String>,
}

#[cfg(all(feature = "jemalloc", target_os = "linux", target_arch = "x86_64"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[tokio::main]
async fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Serve { config } => serve(&config).await,
        Task::Check { config } => check(&config).await,
        Task::Purge(arguments) => purge(arguments).await,
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn read(path: &Path) -> Result<Config, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
        let line = good.split('\n').count();
        format!("{}:\nline {line}: it is no UTF-8", path.display())
    })?;
    Config::parse(&text).map_err(|problems| format!("{}:\n{problems}", path.display()))
}

async fn serve(path: &Path) -> Result<(), String> {
    let config = read(path)?;
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    let told = |stage| {
        let Stage::Serving(addresses) = stage else { return tell(NotifyState::Stopping) };
        // Prints the address for pages as the first line of the output.
        let mut stdout = std::io::stdout();
        let _ = writeln!(stdout, "{scheme}://{}/", addresses.relay).and_then(|()| stdout.flush());
        if let Some(admin) = addresses.admin {
            let _ = writeln!(stdout, "http://{admin}/metrics").and_then(|()| stdout.flush());
        }
        tell(NotifyState::Ready);
    };
    turnwire_relay::serve(config, told, stopped())
        .await
        .map_err(|failure| format!("turnwire-relay: {failure}"))
}

async fn check(path: &Path) -> Result<(), String> {
    let config = read(path)?;
    let mut failed = 0;
    for (what, result) in turnwire_relay::check(&config).await {
        match result {
            Ok(()) => println!("ok      {what}"),
            Err(problem) => {
                failed += 1;
                println!("FAILED  {what}: {problem}");
            }
        }
    }
    if failed == 0 { Ok(()) } else { Err(format!("{failed} of what the config names cannot be used")) }
}

async fn purge(arguments: PurgeArguments) -> Result<(), String> {
    let config = read(&arguments.config)?;
    let what = match (arguments.subject, arguments.session) {
        (Some(subject), _) => Purge::Subject(subject),
        (None, Some(session)) => Purge::session(&session).ok_or("--session must be AGENT/SESSION")?,
        (None, None) => Purge::All,
    };
    let count = turnwire_relay::purge(&config, what).await.map_err(|failure| failure.to_string())?;
    println!("removed {count} turns");
    Ok(())
}

/// Waits for Ctrl-C or, where it exists, for the signal to terminate. A second signal ends the process at once.
async fn stopped() {
    signal().await;
    tokio::spawn(async {
        signal().await;
        std::process::exit(1);
    });
}

/// Notifies systemd, if it has started the process.
fn tell(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        eprintln!("turnwire-relay: systemd cannot be told: {error}");
    }
}

async fn signal() {
    #[cfg(unix)]
    if let Ok(mut terminate) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        }
        return;
    }
    let _ = tokio::signal::ctrl_c().await;
}
