//! The connections to Redis, the requirements on its server, and the meaning of its errors.

use std::time::Duration;

use fred::interfaces::{ClientLike, ConfigInterface};
use fred::prelude::{Builder, Client, Config, Error, ReconnectPolicy};
use fred::types::InfoKind;
use fred::types::config::{ClusterDiscoveryPolicy, UnresponsiveConfig};

use super::super::LogError;

/// The time limit of a command. A turn's owner tries again, and then finds what was answered too late.
const COMMAND: Duration = Duration::from_secs(4);
/// How long a connection may leave a command unanswered before it is replaced.
const UNRESPONSIVE: Duration = Duration::from_secs(2);
/// The time limit of the first connection.
const FIRST: Duration = Duration::from_secs(10);

/// One connection for commands and one for hints; in a cluster, one of each to every node.
#[derive(Debug, Clone)]
pub(super) struct Connections {
    pub(super) commands: Client,
    pub(super) hints: Client,
}

/// Connects, and checks that the server can keep turns.
pub(super) async fn connect(url: &str, password: Option<&str>) -> Result<Connections, LogError> {
    let mut config = Config::from_url(url).map_err(|error| failed(&error))?;
    config.password = password.map(str::to_owned);
    if config.server.is_clustered() {
        // Also through nodes that the others named: the configured ones may be gone.
        let by_all = ClusterDiscoveryPolicy::UseCache;
        config.server.set_cluster_discovery_policy(by_all).map_err(|error| failed(&error))?;
    }
    // The first connection fails at once; later ones are retried without limit.
    config.fail_fast = true;
    let mut builder = Builder::from_config(config);
    builder
        .with_connection_config(|connection| {
            connection.connection_timeout = Duration::from_secs(2);
            connection.internal_command_timeout = Duration::from_secs(2);
            connection.tcp.nodelay = Some(true);
            connection.unresponsive =
                UnresponsiveConfig { max_timeout: Some(UNRESPONSIVE), interval: UNRESPONSIVE / 4 };
        })
        .with_performance_config(|performance| {
            performance.default_command_timeout = COMMAND;
            performance.broadcast_channel_capacity = 4096;
        })
        .set_policy(ReconnectPolicy::new_exponential(0, 50, 500, 2));
    let build = || builder.build().map_err(|error| failed(&error));
    let connections = Connections { commands: build()?, hints: build()? };
    for client in [&connections.commands, &connections.hints] {
        let connected = tokio::time::timeout(FIRST, client.init()).await;
        connected
            .map_err(|_| LogError::Unreachable("Redis does not answer".to_owned()))?
            .map_err(|error| failed(&error))?;
    }
    require(&connections.commands).await?;
    Ok(connections)
}

/// Refuses servers that may drop turns, or that lack commands of the scripts.
async fn require(client: &Client) -> Result<(), LogError> {
    let info: String = client.info(Some(InfoKind::Server)).await.map_err(|error| failed(&error))?;
    let value = |name: &str| info.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    // Valkey reports a compatible version of Redis; its own version number is larger.
    let version = value("redis_version:").unwrap_or("unknown");
    let major: u32 = version.split('.').next().and_then(|major| major.parse().ok()).unwrap_or(0);
    if major < 7 {
        let text = format!("this is Redis {version}, and the log needs 7.0 or later, or Valkey");
        return Err(LogError::Unreachable(text));
    }
    let policy: Result<Vec<String>, Error> = client.config_get("maxmemory-policy").await;
    // Hosted servers may not allow reading their settings, but show the policy here.
    let policy = if let Ok(policy) = policy {
        policy.into_iter().nth(1)
    } else {
        let info: String = client.info(Some(InfoKind::Memory)).await.map_err(|error| failed(&error))?;
        info.lines().find_map(|line| line.strip_prefix("maxmemory_policy:")).map(|it| it.trim().to_owned())
    };
    match policy.as_deref() {
        Some("noeviction") => Ok(()),
        other => Err(LogError::Unreachable(format!(
            "Redis may drop turns when its memory is full: its `maxmemory-policy` is {}; set it to `noeviction`",
            other.unwrap_or("unknown")
        ))),
    }
}

/// The meaning of a client's or server's error for a turn.
pub(super) fn failed(error: &Error) -> LogError {
    let text = error.details();
    if text.starts_with("OOM") || text.contains("used memory > 'maxmemory'") {
        return LogError::Full;
    }
    // The client passes on how the library of TLS prints its error.
    if let Some((_, cause)) = text.split_once("InvalidCertificate(") {
        let cause = cause.split([')', ' ']).next().unwrap_or_default();
        let text = format!(
            "the certificate of Redis is not trusted here ({cause}): the system's certificates count, or those in the file that \
             `SSL_CERT_FILE` names"
        );
        return LogError::Unreachable(text);
    }
    LogError::Unreachable(format!("Redis: {text}"))
}
