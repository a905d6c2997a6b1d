//! The Redis in which relays keep turns together.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::debian::unpacked;
use crate::command::on_path;

/// The server, and the libraries that only it needs.
const PACKAGES: [&str; 4] = ["redis-server", "redis-tools", "liblzf1", "libjemalloc2"];
/// Runs the unpacked server with the unpacked libraries.
const STARTER: &str = "#!/bin/sh
here=$(dirname \"$0\")
LD_LIBRARY_PATH=$(echo \"$here\"/usr/lib/*-linux-gnu*) exec \"$here/usr/bin/redis-server\" \"$@\"
";

/// Tells a command where the server is, which is fetched if it is missing. On systems without apt it must be installed; the
/// tests that need it say so.
pub(crate) fn tell(command: &mut Command) -> Result<()> {
    if !on_path("redis-server") && on_path("apt-get") {
        command.env("TURNWIRE_REDIS", unpacked("redis", &PACKAGES, ("start", "-v"), starter)?);
    }
    Ok(())
}

fn starter(directory: &Path) -> Result<()> {
    let path = directory.join("start");
    let failed = || format!("cannot write {}", path.display());
    fs::write(&path, STARTER).with_context(failed)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).with_context(failed)?;
    }
    Ok(())
}
