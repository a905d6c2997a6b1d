//! A schedule of three relays behind a balancer, with one Redis: turns, their tabs, and faults, all by a seed.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use reqwest::Client;
use tokio::time::{sleep, timeout};
use turnwire_relay::log::{Lifetimes, RedisLog};

use crate::history::History;
use crate::laws::{Violation, judge};
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
    /// Redis has no room for a while.
    FullMemory,
    /// The tabs' connections are reset.
    CutTabs,
    /// The agents' connections are reset.
    CutAgent,
    /// A user stops a turn.
    Stop,
}

const FAULTS: [Fault; 11] = [
    Fault::Kill,
    Fault::Pause,
    Fault::KillRedis,
    Fault::FreezeRedis,
    Fault::Terminate,
    Fault::RefuseRedis,
    Fault::CutRedis,
    Fault::FullMemory,
    Fault::CutTabs,
    Fault::Stop,
    Fault::CutAgent,
];

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
    let mut was_restarted = false;
    let count = world.random.within(2..4);
    for number in 0..count {
        let pause = world.random.millis(50..900);
        sleep(pause).await;
        let fault = if number == 0 {
            FAULTS[usize::try_from(seed).unwrap_or_default() % FAULTS.len()]
        } else {
            world.random.of(&FAULTS)
        };
        was_restarted |= fault == Fault::KillRedis;
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
    let violations = judge(&world.history.turns(), quiet, was_restarted);
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
            Fault::FullMemory => {
                self.redis.ask(&["CONFIG", "SET", "maxmemory", "1"]);
                sleep(a_while).await;
                self.redis.ask(&["CONFIG", "SET", "maxmemory", "0"]);
            }
            Fault::CutTabs => self.near.cut(),
            Fault::CutAgent => self.far.cut(),
            Fault::Stop => {
                let script = self.random.of(&self.scripts);
                self.page(script, false).stop().await;
            }
        }
    }

    async fn start_again(&mut self, place: usize, pause: Duration) {
        sleep(pause).await;
        self.instances[place].address = self.instances[place].relay.start().await;
        self.balance();
    }

    /// At the end, each turn is read from its beginning, and its start is repeated.
    async fn read_again(&mut self) {
        for script in self.scripts.clone() {
            let page = self.page(script, false);
            let _ = timeout(PATIENCE, page.read()).await;
            if let Some(surprise) = self.page(script, true).start_again().await {
                self.history.with(&script.id(), |turn| {
                    turn.tabs.iter_mut().take(1).for_each(|tab| tab.surprises.push(surprise.clone()));
                });
            }
        }
    }
}
