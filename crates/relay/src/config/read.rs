//! The keys of the file, their allowed values, and their defaults.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use axum::http::{HeaderName, Uri, header};
use jsonwebtoken::Algorithm;
use toml::de::DeTable;

use super::section::{Section, Source};
use super::{
    BearerConfig, Config, Durability, ForwardConfig, IdentityConfig, Limits, LogConfig, Problems, Secret,
    Store, TlsConfig, TracesConfig, UpstreamConfig,
};
use crate::address::Upstream;
use crate::headers;
use crate::host::is_this_machine;
use crate::route::Protocol;

const MINUTE: Duration = Duration::from_mins(1);
/// The shortest silence after which an owner may be presumed dead.
pub(crate) const SHORTEST_TAKEOVER: Duration = Duration::from_secs(3);
/// The algorithms that sign with a key pair. With a shared secret, anyone who holds it could name any user.
const ALGORITHMS: [&str; 9] =
    ["ES256", "ES384", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "EdDSA"];

pub(super) fn config(text: &str) -> Result<Config, Problems> {
    let source = Source::new(text);
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        source.note(error.span().map_or(0, |span| span.start), "", error.message());
    }
    let config = root(&Section::root(&source, &table));
    let problems = source.into_problems();
    match config {
        Some(config) if problems.is_empty() => Ok(config),
        _ => Err(Problems(problems)),
    }
}

/// Returns `None` only after noting a mistake.
fn root(file: &Section<'_, '_>) -> Option<Config> {
    let listen = file.needed("listen").and_then(|_| file.parsed_address("listen"));
    let admin = file.parsed_address("admin");
    let tls = tls(file);
    let hosts = names(file, "hosts");
    let origins = origins(file);
    let drain = file.any_duration("drain", 10 * MINUTE);
    let identity = identity(file, listen);
    let log = log(file);
    let upstreams = upstreams(file);
    let limits = limits(file);
    let traces = traces(file);
    if listen.is_some_and(|listen| !listen.ip().is_loopback()) && hosts.is_empty() {
        file.note("hosts", "others can reach `listen`: name the hosts by which the relay may be called");
    }
    if listen.zip(admin).is_some_and(|(listen, admin)| is_one_place(listen, admin)) {
        file.note("admin", "it is the address of `listen`: take another port");
    }
    file.finish();
    let (listen, identity, log) = (listen?, identity?, log?);
    Some(Config { listen, admin, tls, hosts, origins, drain, identity, upstreams, log, limits, traces })
}

/// Whether two sockets cannot listen on these addresses at once.
fn is_one_place(one: SocketAddr, other: SocketAddr) -> bool {
    let is_one_ip = one.ip() == other.ip() || one.ip().is_unspecified() || other.ip().is_unspecified();
    is_one_ip && one.port() == other.port() && one.port() != 0
}

impl Section<'_, '_> {
    fn parsed_address(&self, key: &str) -> Option<SocketAddr> {
        let text = self.text(key)?;
        let address = text.value.parse().ok();
        if address.is_none() {
            self.note(key, "it must be an address and a port, such as \"127.0.0.1:8791\"");
        }
        address
    }
}

fn tls(file: &Section<'_, '_>) -> Option<TlsConfig> {
    let section = file.section("tls")?;
    let (cert, key) = (section.needed("cert").map(PathBuf::from), section.needed("key").map(PathBuf::from));
    section.finish();
    let tls = TlsConfig { cert: cert?, key: key? };
    if let Err(problem) = tls.certified() {
        section.note(problem.key, problem.text);
    }
    Some(tls)
}

fn traces(file: &Section<'_, '_>) -> Option<TracesConfig> {
    let section = file.section("traces")?;
    let url = section.needed("url").and_then(|_| section.parsed::<Upstream>("url"));
    let headers = section.section("headers").map(|headers| secrets(&headers)).unwrap_or_default();
    if let Some(url) = &url
        && !headers.is_empty()
        && !url.is_encrypted()
        && !is_this_machine(url.authority())
    {
        let text =
            "its key would be read on the way: it must begin with https://, unless it is on this machine";
        section.note("url", text);
    }
    let one_in = u32::try_from(section.number("one_in", 1, 1..=1_000_000)).unwrap_or(1);
    section.finish();
    Some(TracesConfig { url: url?, headers, one_in })
}

/// Hosts with or without a port.
fn names(file: &Section<'_, '_>, key: &str) -> Vec<String> {
    let mut names = Vec::new();
    for name in file.texts(key).unwrap_or_default() {
        match Uri::from_str(name.value).ok().and_then(|uri| uri.into_parts().authority) {
            Some(authority) if matches!(authority.port_u16(), Some(80 | 443)) => {
                let text = format!("requests leave out the port of `{}`: leave it out", name.value);
                file.note_at(name.at, key, text);
            }
            Some(authority) if authority.as_str() == name.value && !name.value.contains(['@', '*']) => {
                names.push(name.value.to_ascii_lowercase());
            }
            _ => file.note_at(name.at, key, format!("`{}` is no host such as relay.example.com", name.value)),
        }
    }
    names
}

fn origins(file: &Section<'_, '_>) -> Vec<String> {
    let mut origins = Vec::new();
    for origin in file.texts("origins").unwrap_or_default() {
        let uri = Uri::from_str(origin.value).ok().filter(|uri| {
            matches!(uri.scheme_str(), Some("http" | "https"))
                && uri.path() == "/"
                && uri.query().is_none()
                && !origin.value.ends_with('/')
                && !origin.value.contains(['@', '*'])
        });
        let default = uri.as_ref().and_then(|uri| match (uri.scheme_str(), uri.port_u16()) {
            (Some("http"), Some(80)) | (Some("https"), Some(443)) => uri.port_u16(),
            _ => None,
        });
        if let Some(port) = default {
            let text = format!("browsers leave out the port of `{}`: leave out `:{port}`", origin.value);
            file.note_at(origin.at, "origins", text);
        } else if uri.is_some() {
            origins.push(origin.value.to_ascii_lowercase());
        } else {
            let text = format!("`{}` is no origin such as https://app.example.com", origin.value);
            file.note_at(origin.at, "origins", text);
        }
    }
    origins
}

fn identity(file: &Section<'_, '_>, listen: Option<SocketAddr>) -> Option<IdentityConfig> {
    let Some(section) = file.section("identity") else {
        file.note_here(
            "`identity` is missing: write [identity.bearer], [identity.forward] or [identity.none]",
        );
        return None;
    };
    let (bearer, forward, none) =
        (section.section("bearer"), section.section("forward"), section.section("none"));
    section.finish();
    match (bearer, forward, none) {
        (Some(bearer), None, None) => self::bearer(&bearer).map(IdentityConfig::Bearer),
        (None, Some(forward), None) => self::forward(&forward).map(IdentityConfig::Forward),
        (None, None, Some(none)) => {
            none.finish();
            if listen.is_some_and(|listen| !listen.ip().is_loopback()) {
                none.note_here("others can reach `listen`, and all would be one user: listen on 127.0.0.1, or tell users apart");
                return None;
            }
            Some(IdentityConfig::None)
        }
        _ => {
            section
                .note_here("write exactly one of [identity.bearer], [identity.forward] and [identity.none]");
            None
        }
    }
}

fn bearer(section: &Section<'_, '_>) -> Option<BearerConfig> {
    let jwks = section.needed("jwks").and_then(|_| trusted(section, "jwks"));
    let issuer = section.needed("issuer").map(str::to_owned);
    let audience = section.needed("audience").map(str::to_owned);
    let subject = section.text("subject").map_or("sub", |claim| claim.value).to_owned();
    let mut algorithms = Vec::new();
    let listed = section.texts("algorithms");
    if listed.as_ref().is_none_or(Vec::is_empty) {
        section.note("algorithms", format!("name at least one of {}", ALGORITHMS.join(", ")));
    }
    for name in listed.unwrap_or_default() {
        match Algorithm::from_str(name.value) {
            Ok(algorithm) if ALGORITHMS.contains(&name.value) => algorithms.push(algorithm),
            _ => section.note_at(
                name.at,
                "algorithms",
                format!("`{}` is not accepted; these are: {}", name.value, ALGORITHMS.join(", ")),
            ),
        }
    }
    section.finish();
    Some(BearerConfig { jwks: jwks?, issuer: issuer?, audience: audience?, algorithms, subject })
}

fn forward(section: &Section<'_, '_>) -> Option<ForwardConfig> {
    let url = section.needed("url").and_then(|_| trusted(section, "url"));
    let name = section.needed("header");
    let header = name.and_then(|name| {
        HeaderName::from_str(name).map_err(|_| section.note("header", "it names no header")).ok()
    });
    section.finish();
    Some(ForwardConfig { url: url?, header: header? })
}

/// An address whose responses are trusted, so they must be protected in transit.
fn trusted(section: &Section<'_, '_>, key: &str) -> Option<Upstream> {
    let address: Upstream = section.parsed(key)?;
    if !address.is_encrypted() && !is_this_machine(address.authority()) {
        section.note(key, "it must begin with https://, unless it is on this machine");
        return None;
    }
    Some(address)
}

fn log(file: &Section<'_, '_>) -> Option<LogConfig> {
    let mut log = LogConfig {
        store: Store::Memory,
        retention: 10 * MINUTE,
        durability: Durability::Process,
        takeover: Duration::from_secs(10),
    };
    let Some(section) = file.section("log") else { return Some(log) };
    let password = section.text("password").map(|reference| Secret::read(reference.value));
    let password =
        password.and_then(|secret| secret.map_err(|problem| section.note("password", problem)).ok());
    let headers = section.section("headers").map(|headers| secrets(&headers));
    let store = match section.text("store") {
        None => Some(Store::Memory),
        Some(text) => store(&section, text.value, password, headers.unwrap_or_default()),
    };
    log.retention = section.duration("retention", log.retention);
    if let Some(text) = section.text("durability") {
        match durability(text.value, store.as_ref()) {
            Ok(durability) => log.durability = durability,
            Err(problem) => section.note("durability", problem),
        }
    }
    log.takeover = section.duration("takeover", log.takeover);
    if log.takeover < SHORTEST_TAKEOVER {
        section.note("takeover", "owners show each second that they live: it must be at least \"3s\"");
    }
    if let Some(store) = &store {
        let is_streams = matches!(store, Store::Streams { .. });
        for (key, is_there, is_of_use, whose) in [
            ("password", section.has("password"), matches!(store, Store::Redis { .. }), "in Redis"),
            ("headers", section.has("headers"), is_streams, "on a durable-streams server"),
            ("takeover", section.has("takeover"), store.is_shared(), "that several relays use"),
        ] {
            if is_there && !is_of_use {
                section.note(key, format!("only a store {whose} has it: leave it out"));
            }
        }
    }
    section.finish();
    log.store = store?;
    Some(log)
}

/// A durability that the store has. The problems of the store itself are noted elsewhere.
fn durability(text: &str, store: Option<&Store>) -> Result<Durability, &'static str> {
    match (text, store) {
        ("process", _) => Ok(Durability::Process),
        ("disk", Some(Store::Memory)) => {
            Err("\"disk\" needs a store on the disk: \"sqlite:\" and the path of a file")
        }
        ("disk", Some(Store::Redis { .. })) => {
            Err("what Redis has on its disk, its own `appendfsync` says: leave it out, or write \"replica\"")
        }
        ("disk", Some(Store::Streams { .. })) => {
            Err("what is on the server's disk, the server says: leave it out")
        }
        ("disk", _) => Ok(Durability::Disk),
        ("replica", Some(Store::Redis { .. }) | None) => Ok(Durability::Replica),
        ("replica", Some(_)) => Err("only a store in Redis has replicas to wait for: leave it out"),
        _ => Err("it must be \"process\", \"disk\" or \"replica\""),
    }
}

/// The schemes of Redis URLs: with or without TLS, for a single server, Sentinel, or a cluster.
const REDIS: [&str; 6] =
    ["redis", "rediss", "redis-sentinel", "rediss-sentinel", "redis-cluster", "rediss-cluster"];

/// The prefix of a durable-streams server's URL, before its own scheme.
const STREAMS: &str = "durable-streams+";

fn store(
    section: &Section<'_, '_>,
    text: &str,
    password: Option<Secret>,
    headers: Vec<(HeaderName, Secret)>,
) -> Option<Store> {
    if let Some(address) = text.strip_prefix(STREAMS) {
        let url: Upstream = address.parse().map_err(|problem| section.note("store", problem)).ok()?;
        if !address.starts_with("http") {
            section.note("store", "it must begin with durable-streams+http:// or durable-streams+https://");
            return None;
        }
        if !headers.is_empty() && !url.is_encrypted() && !is_this_machine(url.authority()) {
            let text = "its key would be read on the way: it must begin with durable-streams+https://, unless it is on this machine";
            section.note("store", text);
            return None;
        }
        return Some(Store::Streams { url, headers });
    }
    match text.split_once(':') {
        None if text == "memory" => return Some(Store::Memory),
        Some(("sqlite", ":memory:")) => {
            section.note("store", "write \"memory\": the memory of a relay has no file");
            return None;
        }
        Some(("sqlite", path)) if !path.is_empty() => return Some(Store::Sqlite(path.into())),
        Some((scheme, _)) if REDIS.contains(&scheme) => {
            let Some(uri) =
                Uri::from_str(text).ok().filter(|uri| uri.host().is_some_and(|host| !host.is_empty()))
            else {
                section.note("store", "it is no address such as redis://redis.internal:6379");
                return None;
            };
            let user = uri.authority().and_then(|authority| authority.as_str().rsplit_once('@'));
            let query = uri.query().unwrap_or_default();
            if user.is_some_and(|(user, _)| user.contains(':')) || query.contains("assword=") {
                section.note("store", "no password may stand in the config: name where it is in `password`");
                return None;
            }
            if scheme.ends_with("-sentinel") && !query.contains("sentinelServiceName=") {
                section.note("store", "name what Sentinel calls it: ?sentinelServiceName=NAME");
                return None;
            }
            return Some(Store::Redis { url: text.to_owned(), password });
        }
        _ => {}
    }
    section.note(
        "store",
        "it must be \"memory\", \"sqlite:\" and the path of a file, Redis' address, such as redis://redis.internal:6379, or a durable-streams server's, such as durable-streams+https://streams.internal/v1/stream",
    );
    None
}

fn upstreams(file: &Section<'_, '_>) -> Vec<UpstreamConfig> {
    let Some(all) = file.section("upstream") else {
        file.note_here("`upstream` is missing: write a table [upstream.NAME] for each agent's server");
        return Vec::new();
    };
    let mut upstreams = Vec::new();
    for name in all.keys() {
        let Some(section) = all.section(&name) else { continue };
        let is_name = !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        if !is_name || name.starts_with('_') {
            section.note_here(
                "a name has letters, digits, `-` and `_`, and does not begin with `_`: it is part of paths",
            );
        }
        upstreams.extend(upstream(&section, name));
    }
    if upstreams.is_empty() && all.keys().is_empty() {
        all.note_here("there must be a table [upstream.NAME]");
    }
    upstreams
}

fn upstream(section: &Section<'_, '_>, name: String) -> Option<UpstreamConfig> {
    let protocol: Option<Protocol> = section.needed("protocol").and_then(|_| section.parsed("protocol"));
    let url = section.needed("url").and_then(|_| section.parsed("url"));
    let headers = section.section("headers").map(|headers| secrets(&headers)).unwrap_or_default();
    let is_owned = match section.text("sessions").map(|text| text.value) {
        None | Some("owned") => true,
        Some("open") => false,
        Some(_) => {
            section.note("sessions", "it must be \"owned\" or \"open\"");
            true
        }
    };
    let is_logged = match section.text("log").map(|text| text.value) {
        None => protocol.is_some_and(Protocol::needs_log),
        Some("off") => false,
        Some("on") => {
            if protocol.is_some_and(|protocol| !protocol.needs_log() && !protocol.has_cursor()) {
                section.note(
                    "log",
                    "turns of this protocol are kept by its own server, or come over a socket: leave it out",
                );
            }
            true
        }
        Some(_) => {
            section.note("log", "it must be \"on\" or \"off\"");
            false
        }
    };
    if is_owned && protocol.is_some_and(Protocol::is_socket) {
        section.note_here("threads behind a socket cannot be kept from other users: write sessions = \"open\" if all users may see all");
    }
    let on_leave = section.text("on_leave").and_then(|text| on_leave(section, text.value));
    if section.text("on_leave").is_some() && !is_logged {
        section.note("on_leave", "without a log, a turn's connection ends with its one reader: leave it out");
    }
    section.finish();
    Some(UpstreamConfig { name, protocol: protocol?, url: url?, headers, is_owned, is_logged, on_leave })
}

fn on_leave(section: &Section<'_, '_>, text: &str) -> Option<Duration> {
    if text == "drain" {
        return None;
    }
    let after = text.strip_prefix("stop_after:").and_then(super::section::duration);
    if after.is_none() {
        section.note(
            "on_leave",
            "it must be \"drain\", or \"stop_after:\" and a time, such as \"stop_after:60s\"",
        );
    }
    after
}

/// Headers of every request to an agent.
fn secrets(section: &Section<'_, '_>) -> Vec<(HeaderName, Secret)> {
    let mut secrets: Vec<(HeaderName, Secret)> = Vec::new();
    for key in section.keys() {
        let Some(reference) = section.text(&key) else { continue };
        let name = match HeaderName::from_str(&key) {
            Ok(name) if headers::is_for_one_connection(&name) || name == header::CONTENT_LENGTH => {
                section.note(&key, "this header is the connection's own");
                continue;
            }
            Ok(name) if secrets.iter().any(|(other, _)| *other == name) => {
                section.note(&key, "this header is there twice: upper and lower case are the same");
                continue;
            }
            Ok(name) => name,
            Err(_) => {
                section.note(&key, "it names no header");
                continue;
            }
        };
        match Secret::read(reference.value) {
            Ok(secret) => secrets.push((name, secret)),
            Err(problem) => section.note(&key, problem),
        }
    }
    secrets
}

fn limits(file: &Section<'_, '_>) -> Limits {
    let default = Limits {
        body: 30 << 20,
        turns_per_subject: 10,
        streams_per_subject: 30,
        starts_per_minute: 60,
        streams: 20_000,
        turns: 2_000,
        sockets_per_subject: 10,
        sockets: 1_000,
        socket_journal: 8 << 20,
        socket_readers: 16,
        socket_requests: 256,
        socket_idle: 30 * MINUTE,
        turn_time: 30 * MINUTE,
        silence: 10 * MINUTE,
    };
    let Some(section) = file.section("limits") else { return default };
    let count = |key: &str, otherwise: usize| {
        usize::try_from(section.number(key, otherwise as u64, 1..=1_000_000)).unwrap_or(otherwise)
    };
    let limits = Limits {
        body: usize::try_from(section.number("body_bytes", default.body as u64, 1024..=1 << 30))
            .unwrap_or(default.body),
        turns_per_subject: count("turns_per_subject", default.turns_per_subject),
        streams_per_subject: count("streams_per_subject", default.streams_per_subject),
        starts_per_minute: u32::try_from(section.number("starts_per_minute", 60, 1..=1_000_000))
            .unwrap_or(60),
        streams: count("streams", default.streams),
        turns: count("turns", default.turns),
        sockets_per_subject: count("sockets_per_subject", default.sockets_per_subject),
        sockets: count("sockets", default.sockets),
        socket_journal: usize::try_from(section.number(
            "socket_journal_bytes",
            default.socket_journal as u64,
            1024..=1 << 30,
        ))
        .unwrap_or(default.socket_journal),
        socket_readers: count("socket_readers", default.socket_readers),
        socket_requests: count("socket_requests", default.socket_requests),
        socket_idle: section.duration("socket_idle", default.socket_idle),
        turn_time: section.duration("turn_time", default.turn_time),
        silence: section.duration("silence", default.silence),
    };
    section.finish();
    limits
}
