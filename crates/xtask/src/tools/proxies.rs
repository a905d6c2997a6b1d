//! The proxies that stand in front of a relay.

use std::process::Command;

use anyhow::Result;

use super::debian::unpacked;
use crate::command::on_path;

/// By the variable that names it to the tests: the package, and where it has its program.
const PROXIES: [(&str, &str, &str); 2] =
    [("TURNWIRE_NGINX", "nginx", "usr/sbin/nginx"), ("TURNWIRE_CADDY", "caddy", "usr/bin/caddy")];

/// Tells a command where the proxies are, which are fetched if they are missing. On systems without apt they must be
/// installed; the tests that need them say so.
pub(crate) fn tell(command: &mut Command) -> Result<()> {
    for (variable, package, place) in PROXIES {
        if !on_path(package) && on_path("apt-get") {
            command.env(variable, unpacked(package, &[package], (place, "-h"), |_| Ok(()))?);
        }
    }
    Ok(())
}
