//! The servers in which relays keep turns together: Redis, and Valkey.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, Result};

use super::debian::unpacked;
use crate::command::on_path;
use crate::progress::note;

/// A server, and how it is fetched.
struct Server {
    name: &'static str,
    program: &'static str,
    /// The variable that names it to the tests.
    variable: &'static str,
    /// The server, and the libraries that only it needs.
    packages: &'static [&'static str],
}

const REDIS: Server = Server {
    name: "redis",
    program: "redis-server",
    variable: "TURNWIRE_REDIS",
    packages: &["redis-server", "redis-tools", "liblzf1", "libjemalloc2"],
};
const VALKEY: Server = Server {
    name: "valkey",
    program: "valkey-server",
    variable: "TURNWIRE_VALKEY",
    packages: &["valkey-server", "valkey-tools", "liblzf1", "libjemalloc2", "libatomic1"],
};

impl Server {
    /// Where the server is, if it is not on the path. It is fetched if it is missing.
    fn fetched(&self) -> Option<Result<PathBuf>> {
        let fetch =
            || unpacked(self.name, self.packages, ("start", "-v"), |directory| self.starter(directory));
        (!on_path(self.program) && on_path("apt-get")).then(fetch)
    }

    /// Makes a program that runs the unpacked server with the unpacked libraries.
    fn starter(&self, directory: &Path) -> Result<()> {
        let text = format!(
            "#!/bin/sh
here=$(dirname \"$0\")
LD_LIBRARY_PATH=$(echo \"$here\"/usr/lib/*-linux-gnu*) exec \"$here/usr/bin/{}\" \"$@\"
",
            self.program
        );
        let path = directory.join("start");
        let failed = || format!("cannot write {}", path.display());
        fs::write(&path, text).with_context(failed)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).with_context(failed)?;
        }
        Ok(())
    }
}

/// Tells a command where Redis is. On systems without apt it must be installed; the tests that need it say so.
pub(crate) fn tell(command: &mut Command) -> Result<()> {
    if let Some(fetched) = REDIS.fetched() {
        command.env(REDIS.variable, fetched?);
    }
    Ok(())
}

/// Tells a command where Valkey is, too. Not every release of Debian has it: without it, tests leave their rows with it out.
pub(crate) fn tell_both(command: &mut Command) -> Result<()> {
    static FETCHED: OnceLock<Option<PathBuf>> = OnceLock::new();
    let valkey = FETCHED.get_or_init(|| {
        VALKEY.fetched()?.map_err(|error| note(&format!("Valkey is not tested: {error:#}"))).ok()
    });
    if let Some(valkey) = valkey {
        command.env(VALKEY.variable, valkey);
    }
    tell(command)
}
