//! The steps that mostly compile Rust.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use serde_json::{Value, json};

use crate::families::FAMILIES;
use crate::front_end;
use crate::fuzz;
use crate::gateway::{self, Gateway};
use crate::interop::{self, Vendor};
use crate::output;
use crate::project::{Project, cargo};
use crate::relay::Relay;
use crate::test::executables::{self, Tests};
use crate::test::report::Verdict;
use crate::test::runner::{NodeTests, in_browser};
use crate::test::session::{Session, check, played};
use crate::test::tally::{self, Tally};
use crate::tools::browser::Browser;
use crate::tools::{npm, rust};

/// The port of the gateway for the crate's own tests in the browser, if it is free.
const GATEWAY_PORT: u16 = 8797;
/// The port of the relay in front of that gateway, if it is free.
const RELAY_PORT: u16 = 8817;
/// How many seconds each fuzz target runs, in a quick run and in a full one.
const FUZZ_SECONDS: [u64; 2] = [3, 15];
/// The families that a quick run lints separately: one over `fetch` with the least features, and the one over sockets.
const QUICK_FAMILIES: [&str; 2] = ["truefoundry", "turn-rpc"];

pub(super) fn format(session: &Session<'_>) -> Result<Verdict> {
    check(cargo().args(["fmt", "--all", "--check"]).current_dir(session.project.root()))
}

pub(super) fn clippy(session: &Session<'_>) -> Result<Verdict> {
    let root = session.project.root();
    let lint = |arguments: &[&str]| {
        check(cargo().arg("clippy").args(arguments).args(["--", "-D", "warnings"]).current_dir(root))
    };
    lint(&["--all-targets", "--workspace", "--features", "turnwire-relay/mutants"])?;
    if session.scope.of(1, 2, "relays, with faults on purpose and without") > 1 {
        lint(&["--all-targets", "--workspace"])?;
    }
    rust::ensure_wasm_target(session.project)?;
    let browser = ["--package", "turnwire", "--target", rust::WASM_TARGET];
    lint(&[&browser[..], &["--all-targets", "--features", "module,js-classes"]].concat())?;
    lint(&["--package", "turnwire-packing", "--target", rust::WASM_TARGET])?;
    // Each family of protocols separately, as the package has it and as a Rust front end may.
    let ways = session.scope.of(1, 2, "ways to build each family");
    let count = session.scope.of(QUICK_FAMILIES.len(), FAMILIES.len(), "families by themselves");
    let is_chosen = |family: &&String| count == FAMILIES.len() || QUICK_FAMILIES.contains(&family.as_str());
    for family in FAMILIES.iter().filter(is_chosen) {
        for features in [format!("module,{family}"), family.clone()].iter().take(ways) {
            lint(&[&browser[..], &["--lib", "--no-default-features", "--features", features]].concat())?;
        }
    }
    Ok(Verdict::Held)
}

/// For both targets: the browser layer exists only for one, the host's API only for the other.
pub(super) fn docs(session: &Session<'_>) -> Result<Verdict> {
    let root = session.project.root();
    let document = |arguments: &[&str]| {
        check(
            cargo()
                .args(["doc", "--package", "turnwire", "--no-deps"])
                .args(arguments)
                .env("RUSTDOCFLAGS", "-D warnings")
                .current_dir(root),
        )
    };
    document(&[])?;
    rust::ensure_wasm_target(session.project)?;
    document(&["--target", rust::WASM_TARGET, "--features", "module,js-classes"])
}

pub(super) fn host(session: &Session<'_>) -> Result<Verdict> {
    npm::ci(
        session.project,
        "tests/streams",
        "with a durable-streams server for the relay's tests, and its suite",
    )?;
    let mut tally = Tests::default().run(session)?;
    let documentation = || executables::documentation(session);
    tally.add(session.again(&"the documentation's examples", documentation(), documentation)?);
    // Relays with deliberate faults, each of which the relay's checker must find.
    let options = ["--features", "turnwire-relay/mutants", "--test", "checker"];
    tally.add(Tests { options: &options, filter: Some("mutants") }.run(session)?);
    Ok(Verdict::Counted(tally))
}

pub(super) fn fuzz(session: &Session<'_>) -> Result<Verdict> {
    let [quick, all] = FUZZ_SECONDS;
    let seconds = session.scope.of(quick, all, "seconds for each target");
    let is_blind = session.scope.of("blind changes", "libFuzzer", "ways to make inputs") != "libFuzzer";
    fuzz::run_all(session.project, Duration::from_secs(seconds), is_blind).map(Verdict::Counted)
}

/// All tests in Chromium; those of the crate's own client and of its classes in Firefox as well.
pub(super) fn browser(session: &Session<'_>) -> Result<Verdict> {
    let project = session.project;
    rust::ensure_wasm_target(project)?;
    let runners = rust::wasm_bindgen(project)?;
    let wasm_pack = rust::wasm_pack()?.join("wasm-pack");
    let program = session.gateway()?;
    // Chromium's and Firefox's gateways, each with a relay behind it, which the tests call through the gateway for its faults.
    // The addresses are compiled into the tests: while they stay the same, the tests are not recompiled.
    let start = || {
        let port = gateway::free_port(GATEWAY_PORT)?;
        let relay = Relay::prepare(project, &format!("browser-{port}"), RELAY_PORT)?;
        let gateway = Gateway::start_with(&program, port, None, &["--relay", &relay.url()])?;
        let relay = relay.start(gateway.url())?;
        anyhow::Ok((gateway, relay))
    };
    let gateways = [start()?, start()?];
    let urls = gateways.each_ref().map(|(gateway, _)| gateway.url()).join(" ");
    let Browser { chrome, driver: chromedriver } = session.browser()?;
    let engines = session.engines()?;
    let program = |name: &str| engines.path(name).map(Path::to_path_buf).context("Firefox is not there");
    let (firefox, geckodriver) = (program("FIREFOX")?, program("GECKODRIVER")?);
    let capabilities = capabilities(project, &chrome, &firefox)?;
    let mut search = vec![runners];
    search.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    let search = env::join_paths(search).context("the PATH cannot be extended")?;
    let play = |browser: &str, driver: &Path, filter: &[&str]| {
        played(
            "wasm-pack test",
            Command::new(&wasm_pack)
                .args(["test", "--headless", &format!("--{browser}"), "--mode", "no-install"])
                .arg(if browser == "chrome" { "--chromedriver" } else { "--geckodriver" })
                .arg(driver)
                .args(["--", "--features", "module,js-classes"])
                .args(filter)
                .env("PATH", &search)
                .env(if browser == "chrome" { "CHROMEDRIVER" } else { "GECKODRIVER" }, driver)
                .env("WASM_BINDGEN_TEST_WEBDRIVER_JSON", &capabilities)
                // The default, 20 seconds, is short on a busy machine.
                .env("WASM_BINDGEN_TEST_TIMEOUT", "120")
                .env("TURNWIRE_GATEWAY_URLS", &urls)
                .current_dir(project.root()),
            tally::rust,
        )
    };
    let in_chrome = || play("chrome", &chromedriver, &[]);
    let in_firefox = || play("firefox", &geckodriver, &["--test", "browser"]);
    // The tests mostly wait for the gateway, so both browsers play at once.
    let page = output::page();
    let (chrome, firefox) = thread::scope(|scope| {
        let firefox = scope.spawn(|| output::onto(page, in_firefox));
        (in_chrome(), firefox.join().unwrap_or_else(|_| Err(anyhow!("Firefox's thread panicked"))))
    });
    let mut tally = session.again(&"browser: Chromium", chrome, in_chrome)?;
    tally.add(session.again(&"browser: Firefox", firefox, in_firefox)?);
    Ok(Verdict::Counted(tally))
}

/// webdriver.json with the paths of the browsers that were found.
fn capabilities(project: &Project, chrome: &Path, firefox: &Path) -> Result<PathBuf> {
    let source = project.path("webdriver.json");
    let text = fs::read_to_string(&source).context("cannot read webdriver.json")?;
    let mut capabilities: Value = serde_json::from_str(&text).context("webdriver.json is no JSON")?;
    capabilities["goog:chromeOptions"]["binary"] = json!(chrome);
    capabilities["moz:firefoxOptions"]["binary"] = json!(firefox);
    let file = project.scratch("")?.join("webdriver.json");
    fs::write(&file, capabilities.to_string()).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}

/// This includes its lints, as it is not a member of the workspace.
pub(super) fn rust_page(session: &Session<'_>) -> Result<Verdict> {
    let project = session.project;
    let page = front_end::build_page(project)?;
    check(cargo().args(["fmt", "--check"]).current_dir(project.path("www/rust")))?;
    session.test_packages()?;
    let mut tests = NodeTests::in_directory(session, "tests/rust-page")?;
    tests.runner.env("TURNWIRE_PAGE", page);
    in_browser(session, &mut tests.runner)?;
    tests.run(session)
}

pub(super) fn interop(session: &Session<'_>) -> Result<Verdict> {
    session.package()?;
    // One of them takes minutes to compile: a quick run includes it only where that is done.
    let has_tirea = rust::has_tirea_server()?;
    let is_late = |vendor: &Vendor| vendor.is_large() || (*vendor == Vendor::Tirea && !has_tirea);
    let (large, others): (Vec<_>, Vec<_>) = Vendor::ALL.into_iter().partition(is_late);
    let count = session.scope.of(others.len(), Vendor::ALL.len(), "vendors");
    let mut tally = Tally::default();
    for vendor in others.into_iter().chain(large).take(count) {
        let run = || interop::run_vendor(session.project, vendor);
        tally.add(session.again(&format!("interop: {vendor:?}"), run(), run)?);
    }
    Ok(Verdict::Counted(tally))
}
