//! A schedule of three relays behind a balancer, with one Redis: turns, their tabs, and faults, all by a seed.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use reqwest::Client;
use tokio::time::{sleep, timeout};
use turnwire_relay::log::{Lifetimes, RedisLog};

use crate::history::{Heard, History};
use crate::laws::{Loss, Violation, judge};
use crate::process::{Relay, Scratch};
use crate::proxy::Proxy;
use crate::random::Random;
use crate::redis::Redis;
use crate::schedule::{LAST_TAB, PATIENCE, begin, read_log, scripts};
use crate::tab::{Page, Tabs};
use crate::upstream::{self, Script};

/// The silence after which an owner is presumed dead.
const TAKEOVER: &str = "3s";

/// A fault. Each has ended before the next one begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// A relay crashes, and is started again.
    Kill,
    /// It is suspended for longer than the others wait for it.
    Pause,
    /// It is shut down, and started again.
    Terminate,
    /// Redis crashes, and is started again with the data that it kept.
    KillRedis,
    /// A relay's connections to Redis are reset.
    CutRedis,
    /// They stay open, but silent.
    FreezeRedis,
    /// They are reset, and new ones are refused for a while.
    RefuseRedis,
    /// What the relay says arrives there, and what Redis answers does not arrive here.
    DeafenRedis,
    /// Redis has no room for a while.
    FullMemory,
    /// Redis ends the connections on which relays hear of new frames.
    CutHints,
    /// Redis loses everything.
    Flush,
    /// It crashes, and has lost the last of what it had acknowledged.
    LoseSuffix,
    /// The same, and a relay crashes as well.
    FlushAndKill,
    LoseSuffixAndKill,
    /// The tabs' connections are reset.
    CutTabs,
    /// They stay open, but silent, until they are reset.
    FreezeTabs,
    /// The agents' connections are reset.
    CutAgent,
    /// They stay open, but silent.
    FreezeAgent,
    /// The agent refuses connections for a while.
    RefuseAgent,
    /// A user stops a turn.
    Stop,
}

/// The first fault of a schedule is one of these, by its seed.
const FAULTS: [Fault; 20] = [
    Fault::Kill,
    Fault::Flush,
    Fault::Pause,
    Fault::KillRedis,
    Fault::FreezeRedis,
    Fault::LoseSuffix,
    Fault::Terminate,
    Fault::DeafenRedis,
    Fault::RefuseRedis,
    Fault::FlushAndKill,
    Fault::CutRedis,
    Fault::FullMemory,
    Fault::FreezeTabs,
    Fault::LoseSuffixAndKill,
    Fault::CutTabs,
    Fault::Stop,
    Fault::FreezeAgent,
    Fault::CutHints,
    Fault::CutAgent,
    Fault::RefuseAgent,
];

/// Faults after which each owner lives, and can reach Redis at once.
const GENTLE: [Fault; 8] = [
    Fault::CutRedis,
    Fault::CutHints,
    Fault::CutTabs,
    Fault::FreezeTabs,
    Fault::CutAgent,
    Fault::FreezeAgent,
    Fault::RefuseAgent,
    Fault::Stop,
];

impl Fault {
    /// Whether Redis loses what it has acknowledged.
    fn loses(self) -> bool {
        matches!(self, Self::Flush | Self::LoseSuffix | Self::FlushAndKill | Self::LoseSuffixAndKill)
    }

    /// Whether it is started again.
    fn restarts(self) -> bool {
        matches!(self, Self::KillRedis | Self::LoseSuffix | Self::LoseSuffixAndKill)
    }

    /// The faults that may follow this first one. Redis loses data once. Where owners live, they go on living: then they
    /// repair everything.
    fn next(self) -> Vec<Self> {
        match self {
            Self::Flush | Self::LoseSuffix => GENTLE.to_vec(),
            _ => FAULTS.into_iter().filter(|fault| !fault.loses()).collect(),
        }
    }
}

/// A relay, its address, and its connection to Redis.
struct Instance {
    relay: Relay,
    address: SocketAddr,
    redis: Proxy,
}

struct World {
    random: Random,
    history: Arc<History>,
    instances: Vec<Instance>,
    redis: Redis,
    /// Between tabs and relays, and between relays and agent.
    near: Proxy,
    far: Proxy,
    tabs: Tabs,
    scripts: Vec<Script>,
}

/// Plays the schedule of this seed, and returns the laws that did not hold, and the relays' output.
pub(crate) async fn play(seed: u64, mutant: Option<&str>) -> (Vec<Violation>, String) {
    let mut random = Random::new(seed ^ 0x5EE5);
    let scratch = Scratch::new("several", seed, mutant);
    let history = Arc::new(History::default());
    let far = Proxy::start(upstream::start(history.clone()).await).await;
    let redis = Redis::start_with(&["--appendonly", "yes", "--save", ""]);
    let mut instances = Vec::new();
    for name in ["a", "b", "c"] {
        let way = Proxy::start(redis.address()).await;
        let log = format!("store = \"redis://{}\"\ntakeover = \"{TAKEOVER}\"", way.address);
        let mut relay = Relay::new(&scratch, name, far.address, &log, mutant);
        let address = relay.start().await;
        instances.push(Instance { relay, address, redis: way });
    }
    let near = Proxy::start(instances[0].address).await;
    let client = Client::builder().no_proxy().pool_max_idle_per_host(0).build().expect("a client");
    let scripts = scripts(&mut random, seed);
    let tabs = Tabs { history: history.clone(), client, relay: near.address, patient: 40 };
    let mut world = World { random, history, instances, redis, near, far, tabs, scripts };
    world.balance();

    let turns: Vec<_> = world
        .scripts
        .clone()
        .into_iter()
        .map(|script| begin(&mut world.random, &world.tabs, script))
        .collect();
    let first = FAULTS[usize::try_from(seed).unwrap_or_default() % FAULTS.len()];
    let next = first.next();
    let is_of_owners = matches!(first, Fault::FlushAndKill | Fault::LoseSuffixAndKill);
    let mut loss = Loss { times: first.loses().into(), is_of_owners, is_doubted: false };
    world.history.is_lossy.store(first.loses(), Ordering::Relaxed);
    let count = world.random.within(2..4);
    for number in 0..count {
        let pause = world.random.millis(50..900);
        sleep(pause).await;
        let fault = if number == 0 { first } else { world.random.of(&next) };
        loss.is_doubted |= fault.restarts();
        world.fault(fault).await;
    }
    // Until then, tabs connect for the first time.
    sleep(LAST_TAB).await;
    let quiet = Instant::now();
    let _ = timeout(PATIENCE, join_all(turns)).await;
    world.read_again().await;
    for instance in &mut world.instances {
        instance.relay.terminate().await;
    }
    let lifetimes = Lifetimes { running: Duration::from_mins(1), retention: Duration::from_mins(10) };
    let log = RedisLog::open(&world.redis.url(), None, lifetimes).await.expect("the log");
    read_log(&log, &world.history, &world.scripts).await;
    world.history.trace(world.instances.iter().flat_map(|it| it.relay.acknowledged()).collect());
    let violations = judge(&world.history.turns(), quiet, loss);
    let said: Vec<_> = world.instances.iter().map(|instance| instance.relay.said()).collect();
    (violations, said.join("\n"))
}

impl World {
    fn page(&mut self, script: Script, starts: bool) -> Page {
        self.tabs.page(&mut self.random, script, starts)
    }

    fn balance(&self) {
        self.near.aim(self.instances.iter().map(|instance| instance.address).collect());
    }

    async fn fault(&mut self, fault: Fault) {
        let a_while = self.random.millis(100..1500);
        let place = self.random.index(self.instances.len());
        match fault {
            Fault::Kill => {
                self.instances[place].relay.kill();
                self.start_again(place, a_while).await;
            }
            Fault::Terminate => {
                self.instances[place].relay.terminate().await;
                self.start_again(place, a_while).await;
            }
            Fault::Pause => {
                self.instances[place].relay.pause();
                sleep(Duration::from_secs(4) + a_while).await;
                self.instances[place].relay.go_on();
            }
            Fault::KillRedis => {
                self.redis.kill();
                sleep(a_while).await;
                self.redis.start_again();
            }
            Fault::CutRedis => self.instances[place].redis.cut(),
            Fault::FreezeRedis => self.instances[place].redis.freeze(),
            Fault::RefuseRedis => {
                self.instances[place].redis.refuse();
                self.instances[place].redis.cut();
                sleep(a_while * 3).await;
                self.instances[place].redis.welcome().await;
            }
            Fault::DeafenRedis => {
                self.instances[place].redis.deafen();
                sleep(Duration::from_secs(2) + a_while * 2).await;
                self.instances[place].redis.cut();
            }
            Fault::CutHints => drop(self.redis.ask(&["CLIENT", "KILL", "TYPE", "pubsub"])),
            Fault::Flush => drop(self.redis.ask(&["FLUSHALL"])),
            Fault::FlushAndKill => {
                self.redis.ask(&["FLUSHALL"]);
                self.instances[place].relay.kill();
                self.start_again(place, a_while).await;
            }
            Fault::LoseSuffix => self.lose_suffix(a_while).await,
            Fault::LoseSuffixAndKill => {
                self.instances[place].relay.kill();
                self.lose_suffix(a_while).await;
                self.start_again(place, a_while).await;
            }
            Fault::FullMemory => {
                self.redis.ask(&["CONFIG", "SET", "maxmemory", "1"]);
                sleep(a_while).await;
                self.redis.ask(&["CONFIG", "SET", "maxmemory", "0"]);
            }
            Fault::CutTabs => self.near.cut(),
            Fault::FreezeTabs => {
                self.near.freeze();
                // Patient tabs would notice it only within a minute.
                sleep(Duration::from_secs(2) + a_while).await;
                self.near.cut();
            }
            Fault::CutAgent => self.far.cut(),
            Fault::FreezeAgent => self.far.freeze(),
            Fault::RefuseAgent => {
                self.far.refuse();
                sleep(a_while).await;
                self.far.welcome().await;
            }
            Fault::Stop => {
                let script = self.random.of(&self.scripts);
                self.page(script, false).stop().await;
            }
        }
    }

    /// Redis crashes, and its file has lost up to half of what was in it.
    async fn lose_suffix(&mut self, pause: Duration) {
        self.redis.kill();
        let share = self.random.index(50);
        self.redis.lose(share);
        sleep(pause).await;
        self.redis.start_again();
    }

    async fn start_again(&mut self, place: usize, pause: Duration) {
        sleep(pause).await;
        self.instances[place].address = self.instances[place].relay.start().await;
        self.balance();
    }

    /// At the end, each turn is read from its beginning, and its start is repeated.
    async fn read_again(&mut self) {
        let pages: Vec<_> = self.scripts.clone().into_iter().map(|script| self.page(script, false)).collect();
        let read = pages.into_iter().map(|page| timeout(PATIENCE, page.read()));
        for (script, heard) in self.scripts.clone().into_iter().zip(join_all(read).await) {
            if heard == Ok(Heard::Gone) {
                // It would be another turn.
                continue;
            }
            if let Some(surprise) = self.page(script, true).start_again().await {
                self.history.with(&script.id(), |turn| {
                    turn.tabs.iter_mut().take(1).for_each(|tab| tab.surprises.push(surprise.clone()));
                });
            }
        }
    }
}
