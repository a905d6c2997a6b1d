//! Every child process runs in its own process group and is listed here, so that an interrupt, a
//! time limit or the end of a scope ends the child with all of its own children.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

static RUNNING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Time between asking a group to end and ending it.
const GRACE: Duration = Duration::from_secs(3);
/// How often a child is asked whether it has ended.
const POLL: Duration = Duration::from_millis(5);

/// On Ctrl-C, SIGTERM or SIGHUP: ends every child, then this process.
pub(crate) fn end_all_on_interrupt() -> Result<()> {
    ctrlc::set_handler(|| {
        let groups = RUNNING.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for &group in &groups {
            signal(group, Signal::Terminate);
        }
        // 130 is the shells' code for "ended by an interrupt".
        std::process::exit(130);
    })
    .context("cannot listen for Ctrl-C")
}

/// A running child; dropping it ends its whole process group.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    ended: bool,
}

impl Running {
    /// Starts a command in its own process group.
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        // The lock is held during the start, so that an interrupt never misses a child.
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let child = command.spawn()?;
        running.push(child.id());
        Ok(Self { child, ended: false })
    }

    /// The child itself, to take its pipes from.
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Waits for the end.
    pub(crate) fn wait(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait()?;
        self.forget();
        Ok(status)
    }

    /// Waits for the end, for at most this long; after that the group is ended and the result is `None`.
    pub(crate) fn wait_at_most(&mut self, limit: Duration) -> io::Result<Option<ExitStatus>> {
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait()? {
                self.forget();
                return Ok(Some(status));
            }
            thread::sleep(POLL);
        }
        self.end();
        Ok(None)
    }

    /// Asks the group to end, and makes it end when it does not.
    pub(crate) fn end(&mut self) {
        if self.ended {
            return;
        }
        signal(self.child.id(), Signal::Terminate);
        let deadline = Instant::now() + GRACE;
        while Instant::now() < deadline {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                break;
            }
            thread::sleep(POLL);
        }
        // Also reaches grandchildren that outlived their parent.
        signal(self.child.id(), Signal::Kill);
        #[cfg(not(unix))]
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.forget();
    }

    /// Ends the processes that the child left in its group.
    pub(crate) fn sweep(&self) {
        signal(self.child.id(), Signal::Kill);
    }

    fn forget(&mut self) {
        self.ended = true;
        let id = self.child.id();
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).retain(|&group| group != id);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

#[derive(Clone, Copy)]
enum Signal {
    Terminate,
    Kill,
}

#[cfg(unix)]
fn signal(group: u32, signal: Signal) {
    use nix::sys::signal::{Signal as Posix, killpg};
    use nix::unistd::Pid;
    let signal = match signal {
        Signal::Terminate => Posix::SIGTERM,
        Signal::Kill => Posix::SIGKILL,
    };
    if let Ok(group) = i32::try_from(group) {
        // The group may have ended already.
        let _ = killpg(Pid::from_raw(group), signal);
    }
}

#[cfg(not(unix))]
fn signal(_group: u32, _signal: Signal) {}
