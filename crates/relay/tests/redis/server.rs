//! A Redis server of a test's own, or Valkey: on a port of this machine, without a file unless it is to keep something. It ends with the test.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read, Write, stderr};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long it may take to start.
const PATIENCE: Duration = Duration::from_secs(20);

/// Settings of one that keeps nothing.
const FORGETTING: [&str; 4] = ["--save", "", "--appendonly", "no"];

/// A server, which may be ended and started again with what it has kept.
pub(crate) struct Redis {
    program: OsString,
    child: Option<Child>,
    port: u16,
    directory: PathBuf,
    /// What its command line begins with: a file of settings, if it needs one.
    file: Option<PathBuf>,
    settings: Vec<String>,
}

impl Redis {
    pub(crate) fn start() -> Self {
        Self::start_with(&FORGETTING)
    }

    /// Valkey in its place, if this machine has it.
    pub(crate) fn valkey() -> Option<Self> {
        Some(Self::started(&valkey()?, &FORGETTING))
    }

    /// One of each kind; of Redis only in a quick run.
    pub(crate) fn of_each_kind() -> Vec<Self> {
        let redis = Self::start();
        if std::env::var_os("TURNWIRE_TEST").is_some_and(|scope| scope == "quick") {
            let _ = writeln!(stderr(), "quick: without Valkey; --all has it");
            return vec![redis];
        }
        std::iter::once(redis).chain(Self::valkey()).collect()
    }

    /// A cluster of one.
    pub(crate) fn cluster() -> Self {
        let redis = Self::start_with(&[
            "--save",
            "",
            "--cluster-enabled",
            "yes",
            "--cluster-announce-ip",
            "127.0.0.1",
        ]);
        assert_eq!(redis.ask(&["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]), "OK");
        redis.until(&["CLUSTER", "INFO"], "cluster_state:ok");
        redis
    }

    /// A cluster of so many servers, each with its part of the keys.
    pub(crate) fn cluster_of(count: usize) -> Vec<Self> {
        Self::cluster_by(&redis(), count)
    }

    /// The same of Valkey, if this machine has it.
    pub(crate) fn valkey_cluster_of(count: usize) -> Option<Vec<Self>> {
        Some(Self::cluster_by(&valkey()?, count))
    }

    fn cluster_by(program: &OsString, count: usize) -> Vec<Self> {
        let node = || {
            // By default its port for other servers is 10,000 more, which may be none.
            let bus = free_port().to_string();
            let settings = [
                "--save",
                "",
                "--cluster-enabled",
                "yes",
                "--cluster-announce-ip",
                "127.0.0.1",
                "--cluster-port",
                &bus,
                "--cluster-node-timeout",
                "1000",
            ];
            Self::started(program, &settings)
        };
        let nodes: Vec<Self> = std::iter::repeat_with(node).take(count).collect();
        for (at, node) in nodes.iter().enumerate() {
            let [first, end] = [at, at + 1].map(|part| part * 16_384 / count);
            let range = [first, end - 1].map(|slot| slot.to_string());
            assert_eq!(node.ask(&["CLUSTER", "ADDSLOTSRANGE", &range[0], &range[1]]), "OK");
            // So that no two begin with the same number.
            assert_eq!(node.ask(&["CLUSTER", "SET-CONFIG-EPOCH", &(at + 1).to_string()]), "OK");
            node.meet(&nodes[0]);
        }
        for node in &nodes {
            node.until(&["CLUSTER", "INFO"], "cluster_state:ok");
            node.until(&["CLUSTER", "INFO"], &format!("cluster_known_nodes:{count}"));
        }
        nodes
    }

    /// Joins the cluster that another server is of.
    fn meet(&self, other: &Self) {
        if other.port != self.port {
            let bus = other.settings.iter().skip_while(|text| *text != "--cluster-port").nth(1);
            let words = ["CLUSTER", "MEET", "127.0.0.1", &other.port.to_string(), bus.expect("a port")];
            assert_eq!(self.ask(&words), "OK");
        }
    }

    /// A further server of this one's cluster, which takes its place when it is gone.
    pub(crate) fn stand_in(&self) -> Self {
        let bus = free_port().to_string();
        let at = self.settings.iter().position(|text| text == "--cluster-port").expect("a cluster") + 1;
        let mut settings: Vec<&str> = self.settings.iter().map(String::as_str).collect();
        settings[at] = &bus;
        let other = Self::started(&self.program, &settings);
        other.meet(self);
        let own = self.ask(&["CLUSTER", "MYID"]);
        other.until(&["CLUSTER", "NODES"], &own);
        // It says so for a moment after it has met the other one.
        while other.ask(&["CLUSTER", "REPLICATE", &own]) != "OK" {
            sleep(Duration::from_millis(20));
        }
        other.until(&["INFO", "replication"], "master_link_status:up");
        other
    }

    /// A server that has what this one has.
    pub(crate) fn replica(&self) -> Self {
        let settings = ["--save", "", "--replicaof", "127.0.0.1", &self.port.to_string()];
        let replica = Self::started(&self.program, &settings);
        replica.until(&["INFO", "replication"], "master_link_status:up");
        replica
    }

    /// Waits until the answer to a command has this text.
    pub(crate) fn until(&self, words: &[&str], text: &str) {
        let began = Instant::now();
        while !self.ask(words).contains(text) {
            assert!(began.elapsed() < PATIENCE, "{text} does not come: {}", self.ask(words));
            sleep(Duration::from_millis(20));
        }
    }

    /// A Sentinel that knows this server as `main`. Where it is gone, a replica takes its place in about a second.
    pub(crate) fn sentinel(&self) -> Self {
        let mut sentinel = Self::new(self.program.clone(), &["--sentinel"]);
        let file = sentinel.directory.join("sentinel.conf");
        let lines = format!(
            "sentinel monitor main 127.0.0.1 {} 1\nsentinel down-after-milliseconds main 500\n",
            self.port
        );
        std::fs::write(&file, lines).expect("written");
        sentinel.file = Some(file);
        sentinel.start_again();
        sentinel
    }

    /// Starts one with further settings, as its command line takes them.
    pub(crate) fn start_with(settings: &[&str]) -> Self {
        Self::started(&redis(), settings)
    }

    fn started(program: &OsStr, settings: &[&str]) -> Self {
        // Another program may have taken the port meanwhile.
        for _ in 0..4 {
            let mut redis = Self::new(program.to_owned(), settings);
            if let Some(at) = redis.settings.iter().position(|text| text == "--cluster-port") {
                redis.settings[at + 1] = free_port().to_string();
            }
            if redis.is_started() {
                return redis;
            }
        }
        panic!("Redis ends at its start, at each of four ports")
    }

    /// One that is not started.
    fn new(program: OsString, settings: &[&str]) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let directory =
            std::env::temp_dir().join(format!("turnwire-relay-redis-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let settings = settings.iter().map(|text| (*text).to_owned()).collect();
        Self { program, child: None, port: free_port(), directory, file: None, settings }
    }

    /// Starts it again, with what it has kept.
    pub(crate) fn start_again(&mut self) {
        assert!(self.is_started(), "Redis ends at its start at port {}", self.port);
    }

    /// Starts it. Returns false if it ends at once.
    fn is_started(&mut self) -> bool {
        let mut command = Command::new(&self.program);
        command.args(&self.file);
        command.args(["--bind", "127.0.0.1", "--port", &self.port.to_string(), "--dir"]).arg(&self.directory);
        command.args(&self.settings).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn();
        self.child = Some(child.unwrap_or_else(|error| {
            panic!(
                "{}: {error}; `cargo xtask test --only host` installs it",
                Path::new(&self.program).display()
            )
        }));
        let began = Instant::now();
        while self.try_ask(&["PING"]).is_none_or(|answer| answer != "PONG") {
            assert!(began.elapsed() < PATIENCE, "Redis does not start");
            if self.child.as_mut().is_some_and(|child| child.try_wait().expect("its state").is_some()) {
                return false;
            }
            sleep(Duration::from_millis(10));
        }
        true
    }

    /// Ends it at once, as a crash would.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("ended");
            child.wait().expect("ended");
        }
    }

    /// Suspends it: its connections stay, and it does not answer.
    pub(crate) fn freeze(&self) {
        self.signal("-STOP");
    }

    /// Lets a suspended one go on.
    pub(crate) fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let pid = self.child.as_ref().expect("a server").id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().expect("run").success());
    }

    /// Removes about this share, in hundredths, of the end of its file of appends: whole transactions. Where Redis 7.0 finds
    /// a part of one, it leaves that in the file, and runs it when it is started once more. It must not run.
    #[allow(dead_code)] // the checker does this
    pub(crate) fn lose(&self, share: usize) {
        const TRANSACTION: &[u8] = b"*1\r\n$5\r\nMULTI\r\n";
        let files = std::fs::read_dir(self.directory.join("appendonlydir")).expect("a directory of appends");
        let mut files = files.map(|entry| entry.expect("an entry").path());
        let file =
            files.find(|path| path.to_string_lossy().ends_with(".incr.aof")).expect("a file of appends");
        let appends = std::fs::read(&file).expect("read");
        let rest = &appends[..appends.len() - appends.len() * share / 100];
        let end = rest.windows(TRANSACTION.len()).rposition(|bytes| bytes == TRANSACTION).unwrap_or(0);
        std::fs::write(file, &rest[..end]).expect("written");
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> std::net::SocketAddr {
        ([127, 0, 0, 1], self.port).into()
    }

    /// As a config names it.
    pub(crate) fn url(&self) -> String {
        let is = |setting: &str| self.settings.iter().any(|it| it == setting);
        let (kind, query) = match (is("--cluster-enabled"), is("--sentinel")) {
            (true, _) => ("-cluster", ""),
            (_, true) => ("-sentinel", "?sentinelServiceName=main"),
            _ => ("", ""),
        };
        format!("redis{kind}://127.0.0.1:{}{query}", self.port)
    }

    /// Sends a command. Returns the first line of the answer without its sign, or a text as it is.
    pub(crate) fn ask(&self, words: &[&str]) -> String {
        self.try_ask(words).expect("an answer")
    }

    fn try_ask(&self, words: &[&str]) -> Option<String> {
        let mut stream = TcpStream::connect(self.address()).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        let mut request = format!("*{}\r\n", words.len());
        for word in words {
            request.extend([&format!("${}\r\n", word.len()), *word, "\r\n"]);
        }
        stream.write_all(request.as_bytes()).ok()?;
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end();
        let Some(length) = line.strip_prefix('$').and_then(|length| length.parse::<usize>().ok()) else {
            return Some(line.get(1..)?.to_owned());
        };
        let mut text = vec![0; length];
        reader.read_exact(&mut text).ok()?;
        String::from_utf8(text).ok()
    }
}

/// The program of Redis.
fn redis() -> OsString {
    std::env::var_os("TURNWIRE_REDIS").unwrap_or_else(|| "redis-server".into())
}

/// The program of Valkey, if this machine has it.
fn valkey() -> Option<OsString> {
    let on_path = || {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|folder| folder.join("valkey-server")).find(|file| file.is_file())
    };
    let program = std::env::var_os("TURNWIRE_VALKEY").or_else(|| on_path().map(PathBuf::into_os_string));
    if program.is_none() {
        let _ = writeln!(stderr(), "without Valkey: this machine does not have it");
    }
    program
}

/// A port below those that the system hands out, so that no other test gets it before the server does.
fn free_port() -> u16 {
    /// The first port, and how many there are.
    const PORTS: (u32, u32) = (20_000, 12_000);
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Tests of several programs run at once, each from a place of its own.
    let begin = std::process::id().wrapping_mul(997);
    let port = |_| {
        let at = begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % PORTS.1;
        u16::try_from(PORTS.0 + at).expect("a port")
    };
    let mut ports = (0..PORTS.1).map(port);
    ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).expect("a port")
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.kill();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
