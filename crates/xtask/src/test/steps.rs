//! The steps of a test run, in their order.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::bench;
use crate::command::run;
use crate::demo;
use crate::families::FAMILIES;
use crate::front_end;
use crate::fuzz;
use crate::gateway::{self, Gateway};
use crate::interop::{self, Vendor};
use crate::licences;
use crate::matrix;
use crate::progress::begin;
use crate::project::{Project, cargo};
use crate::site;
use crate::size;
use crate::soak;
use crate::tarball::{self, Tarball};
use crate::test::report::Verdict;
use crate::test::session::{Scope, Session, check, count};
use crate::test::tally::{self, Tally};
use crate::tools::{npm, rust};

/// Where the gateway listens that the crate's own tests in the browser call, if that is free.
const GATEWAY_PORT: u16 = 8797;
/// For how many seconds each fuzz target runs, in a quick run and in a whole one.
const FUZZ_SECONDS: [u64; 2] = [5, 15];
/// Whose software a quick run leaves out: it is 400 MB to download.
const LARGE: [Vendor; 1] = [Vendor::Codex];

/// The most bytes of the npm package, packed and unpacked.
const TARBALL_BYTES: [u64; 2] = [900_000, 2_500_000];

/// One step of a test run.
#[derive(Debug)]
pub(crate) struct Step {
    /// Its name, as `--only` takes it.
    pub(crate) name: &'static str,
    /// What it does and what for.
    pub(crate) about: &'static str,
    /// Runs it.
    pub(crate) run: fn(&mut Session<'_>) -> Result<Verdict>,
}

/// Cheap checks come first; whatever needs the built package comes after it is built.
pub(crate) const STEPS: [Step; 24] = [
    Step { name: "format", about: "the Rust code is formatted by rustfmt", run: format },
    Step { name: "clippy", about: "lints, for the host and for the browser target", run: clippy },
    Step { name: "docs", about: "the API documentation builds without a warning", run: docs },
    Step { name: "host", about: "Rust tests on this machine", run: host },
    Step { name: "fuzz", about: "random inputs against the decoders, a short while each", run: fuzz },
    Step { name: "build", about: "the npm package is built", run: build },
    Step {
        name: "types",
        about: "the public types hold, from TypeScript 5.4 on, with the DOM and without",
        run: types,
    },
    Step {
        name: "publish",
        about: "what npm and crates.io would take resolves, and is complete",
        run: publish,
    },
    Step { name: "node", about: "conformance cases on the built package, in Node", run: node },
    Step { name: "page", about: "the demo page is built, and its own tests", run: page },
    Step {
        name: "site",
        about: "the site builds: no dead link, and each export has a comment",
        run: build_site,
    },
    Step {
        name: "browser",
        about: "the crate's own tests in headless Chromium and Firefox, against the gateway",
        run: browser,
    },
    Step { name: "rust-page", about: "the chat page in Rust, in headless Chromium", run: rust_page },
    Step { name: "e2e", about: "the package in a page, against the development gateway", run: e2e },
    Step { name: "bindings", about: "the bindings, in an app of each framework in Chromium", run: bindings },
    Step { name: "engines", about: "each kind of fault in Chromium, Firefox and WebKit", run: engines },
    Step { name: "pages", about: "what a page downloads, for each family of protocols", run: pages },
    Step { name: "oldest", about: "the package needs no younger engines than documented", run: oldest },
    Step {
        name: "matrix",
        about: "the packed package in bundlers and runtimes, on cut streams",
        run: matrix,
    },
    Step { name: "app", about: "a Vite app made with the packed package", run: app },
    Step { name: "soak", about: "twenty turns at once on connections that keep breaking", run: soak },
    Step {
        name: "bench",
        about: "the benchmark itself works, with little work and no claim judged",
        run: bench,
    },
    Step { name: "size", about: "the parts of the package against their budget", run: size },
    Step { name: "interop", about: "vendors' own clients and servers against ours", run: interop },
];

fn format(session: &mut Session<'_>) -> Result<Verdict> {
    check(cargo().args(["fmt", "--all", "--check"]).current_dir(session.project.root()))
}

fn clippy(session: &mut Session<'_>) -> Result<Verdict> {
    let root = session.project.root();
    let lint = |arguments: &[&str]| {
        check(cargo().arg("clippy").args(arguments).args(["--", "-D", "warnings"]).current_dir(root))
    };
    lint(&["--all-targets", "--workspace"])?;
    rust::ensure_wasm_target(session.project)?;
    let browser = ["--package", "turnwire", "--target", rust::WASM_TARGET];
    lint(&[&browser[..], &["--all-targets", "--features", "module,js-classes"]].concat())?;
    // As the package has it: each family of protocols by itself. The tests need all of them.
    for family in &*FAMILIES {
        for alone in [format!("module,{family}"), family.clone()] {
            lint(&[&browser[..], &["--lib", "--no-default-features", "--features", &alone]].concat())?;
        }
    }
    Ok(Verdict::Held)
}

/// For both targets: the browser layer exists only on one, the host's API only on the other.
fn docs(session: &mut Session<'_>) -> Result<Verdict> {
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

fn host(session: &mut Session<'_>) -> Result<Verdict> {
    let mut command = cargo();
    command.args(["test", "--workspace", "--no-fail-fast"]).current_dir(session.project.root());
    count("cargo test", session.scope.tell(&mut command), tally::rust)
}

fn fuzz(session: &mut Session<'_>) -> Result<Verdict> {
    fuzz::lint(session.project)?;
    let [quick, all] = FUZZ_SECONDS;
    let seconds = session.scope.of(quick, all, "seconds for each target");
    fuzz::run_all(session.project, Duration::from_secs(seconds)).map(Verdict::Counted)
}

fn build(session: &mut Session<'_>) -> Result<Verdict> {
    session.package().map(|()| Verdict::Held)
}

/// With the oldest and the newest compiler, and one between; in pages, and on servers whose compiler knows no DOM.
fn types(session: &mut Session<'_>) -> Result<Verdict> {
    session.package()?;
    session.test_packages()?;
    for compiler in [
        "tests/node_modules/typescript-oldest",
        "tests/node_modules/typescript-5-9",
        "pkg/node_modules/typescript",
    ] {
        let compiler = session.project.path(compiler).join("bin/tsc");
        for project in ["tsconfig.types.json", "tsconfig.nodom.json"] {
            check(
                Command::new("node")
                    .arg(&compiler)
                    .args(["--noEmit", "--project", project])
                    .current_dir(session.project.path("pkg")),
            )?;
        }
    }
    Ok(Verdict::Held)
}

fn publish(session: &mut Session<'_>) -> Result<Verdict> {
    session.package()?;
    let project = session.project;
    let Tarball { path, packed, unpacked } = tarball::pack(project)?;
    let [most_packed, most_unpacked] = TARBALL_BYTES;
    begin(&format!(
        "publish: {packed} of {most_packed} bytes packed, {unpacked} of {most_unpacked} unpacked"
    ));
    if packed > most_packed || unpacked > most_unpacked {
        bail!("the package is larger than users were promised");
    }
    session.test_packages()?;
    let tests = project.path("tests");
    check(
        Command::new("node")
            .args(["node_modules/publint/src/cli.js", "run", "--strict"])
            .arg(&path)
            .current_dir(&tests),
    )?;
    check(
        Command::new("node")
            .arg("node_modules/@arethetypeswrong/cli/dist/index.js")
            .arg(&path)
            // A wasm file is no module that types could describe. The profile leaves out the
            // resolution of Node before 16, which knows no `exports`.
            .arg("--exclude-entrypoints")
            .args(FAMILIES.iter().map(|family| format!("{family}.wasm")))
            // These are modules only: `nowasm` would make the package too large in both formats, and Svelte and Angular
            // are modules themselves.
            .args(["nowasm", "worker", "svelte", "angular"])
            .args(["--profile", "node16"])
            .current_dir(&tests),
    )?;
    licences::check(project)?;
    check(npm::npm(&project.path("pkg")).args(["publish", "--dry-run", "--silent"]).arg(&path))?;
    // A working tree may have changes: what is published is what the registry gets from a release.
    check(
        cargo()
            .args(["publish", "--dry-run", "--quiet", "--allow-dirty", "--package", "turnwire"])
            .current_dir(project.root()),
    )
}

fn node(session: &mut Session<'_>) -> Result<Verdict> {
    session.package()?;
    let mut runner = node_tests(session, "pkg/test")?;
    runner.env("TURNWIRE_GATEWAY", session.gateway()?);
    for family in &*FAMILIES {
        let folder = session.project.path("pkg/test").join(family);
        if folder.is_dir() {
            runner.args(test_files(&folder)?);
        }
    }
    count("node --test", runner.current_dir(session.project.path("pkg")), tally::node)
}

fn build_site(session: &mut Session<'_>) -> Result<Verdict> {
    session.package()?;
    site::run(session.project, &site::Options::default()).map(|()| Verdict::Held)
}

/// All tests in Chromium; those of the crate's own client and of its classes in Firefox as well.
fn browser(session: &mut Session<'_>) -> Result<Verdict> {
    let project = session.project;
    rust::ensure_wasm_target(project)?;
    let runners = rust::wasm_bindgen(project)?;
    let wasm_pack = rust::wasm_pack()?.join("wasm-pack");
    let program = session.gateway()?;
    // The tests are compiled with its address: as long as it stays the same, they are not compiled again.
    let gateway = Gateway::start(program, gateway::free_port(GATEWAY_PORT)?, None)?;
    let (chrome, chromedriver) = {
        let browser = session.browser()?;
        (browser.chrome.clone(), browser.driver.clone())
    };
    let engines = session.engines()?;
    let program = |name: &str| engines.path(name).map(Path::to_path_buf).context("Firefox is not there");
    let (firefox, geckodriver) = (program("FIREFOX")?, program("GECKODRIVER")?);
    let capabilities = capabilities(project, &chrome, &firefox)?;
    let mut search = vec![runners];
    search.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    let search = env::join_paths(search).context("the PATH cannot be extended")?;
    let play = |browser: &str, driver: &Path, filter: &[&str]| {
        count(
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
                // Its default, 20 seconds, is little on a machine that has other work.
                .env("WASM_BINDGEN_TEST_TIMEOUT", "120")
                .env("TURNWIRE_GATEWAY_URL", gateway.url())
                .current_dir(project.root()),
            tally::rust,
        )
    };
    let mut played = Tally::default();
    for (browser, driver, filter) in
        [("chrome", &chromedriver, [].as_slice()), ("firefox", &geckodriver, &["--test", "browser"])]
    {
        if let Verdict::Counted(tally) = play(browser, driver, filter)? {
            played.add(tally);
        }
    }
    Ok(Verdict::Counted(played))
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

/// Its lints too: it is no member of the workspace.
fn rust_page(session: &mut Session<'_>) -> Result<Verdict> {
    let project = session.project;
    let page = front_end::build_page(project)?;
    check(cargo().args(["fmt", "--check"]).current_dir(project.path("www/rust")))?;
    session.test_packages()?;
    let mut runner = node_tests(session, "tests/rust-page")?;
    runner.env("TURNWIRE_PAGE", page);
    in_browser(session, &mut runner)?;
    count("node --test", &mut runner, tally::node)
}

/// The end-to-end tests that need nothing but a page with the package in it: all that `WebKit` runs.
const PACKAGE_TESTS: [&str; 7] =
    ["aap", "conversation", "load", "page-life", "rendering", "scripts", "worker"];
/// What a quick run has of the end-to-end tests in Firefox and in `WebKit`, and all that other entries run.
const QUICK_TESTS: [&str; 2] = ["rendering", "scripts"];

fn e2e(session: &mut Session<'_>) -> Result<Verdict> {
    session.package()?;
    demo::build_page(session.project)?;
    session.test_packages()?;
    let quick = session.scope.of("some", "all", "files of tests in Firefox and WebKit") == "some";
    let mut played = Tally::default();
    for (engine, entry) in [
        ("chromium", "index"),
        ("firefox", "index"),
        ("webkit", "index"),
        ("chromium", "nowasm"),
        ("chromium", "worker"),
    ] {
        begin(&format!("e2e: in {engine}, with the package's {entry}.js"));
        let directory = session.project.path("tests/e2e");
        let files = test_files(&directory)?.into_iter().filter(|path| {
            let name = path.file_name().map(|name| name.to_string_lossy().replace(".test.mjs", ""));
            let name = name.unwrap_or_default();
            match engine {
                "chromium" if entry == "index" => true,
                _ if quick || entry != "index" => QUICK_TESTS.contains(&name.as_str()),
                // The documents' programs run in Node.
                "firefox" => name != "documents",
                _ => PACKAGE_TESTS.contains(&name.as_str()),
            }
        });
        let mut runner = node_tests_of(session, &directory, files);
        runner.env("TURNWIRE_ENGINE", engine).env("TURNWIRE_ENTRY", entry);
        session.engines()?.tell(&mut runner);
        in_browser(session, &mut runner)?;
        if let Verdict::Counted(tally) = count("node --test", &mut runner, tally::node)? {
            played.add(tally);
        }
    }
    Ok(Verdict::Counted(played))
}

/// What a quick run has of the frameworks, by `tests/bindings/frameworks.mjs`, and all of them.
const APPS: [usize; 2] = [2, 7];

/// Each app is built by its framework's usual tool, with the package copied as npm installs it.
fn bindings(session: &mut Session<'_>) -> Result<Verdict> {
    session.package()?;
    session.test_packages()?;
    let project = session.project;
    let [quick, all] = APPS;
    npm::ci(project, "tests/bindings", "which build an app of each framework")?;
    if session.scope.of(quick, all, "apps") == all {
        npm::ci(project, "tests/bindings/angular", "which build Angular's app")?;
    }
    let directory = project.path("tests/bindings");
    let mut build = Command::new("node");
    build.arg("build.mjs").current_dir(&directory);
    check(session.scope.tell(&mut build))?;
    let mut runner = node_tests(session, "tests/bindings")?;
    in_browser(session, &mut runner)?;
    count("node --test", &mut runner, tally::node)
}

fn engines(session: &mut Session<'_>) -> Result<Verdict> {
    session.package()?;
    session.test_packages()?;
    let classes = front_end::build_classes(session.project)?;
    let mut runner = node_tests(session, "tests/engines")?;
    runner.env("TURNWIRE_CLASSES", classes);
    session.engines()?.tell(&mut runner);
    in_browser(session, &mut runner)?;
    count("node --test", &mut runner, tally::node)
}

fn pages(session: &mut Session<'_>) -> Result<Verdict> {
    session.package()?;
    session.test_packages()?;
    let mut runner = node_tests(session, "tests/pages")?;
    in_browser(session, &mut runner)?;
    count("node --test", &mut runner, tally::node)
}

/// Installs the packed package into the app as a user would, builds the app for production, and
/// runs the app's test in the browser.
fn oldest(session: &mut Session<'_>) -> Result<Verdict> {
    session.package()?;
    session.test_packages()?;
    count("node --test", &mut node_tests(session, "tests/oldest")?, tally::node)
}

fn matrix(session: &mut Session<'_>) -> Result<Verdict> {
    session.package()?;
    session.test_packages()?;
    let judged = count("node --test", &mut node_tests(session, "tests/matrix")?, tally::node)?;
    let options = matrix::Options { quick: session.scope == Scope::Quick, ..Default::default() };
    let mut played = matrix::run(session.project, &options)?;
    if let Verdict::Counted(tally) = judged {
        played.add(tally);
    }
    Ok(Verdict::Counted(played))
}

fn app(session: &mut Session<'_>) -> Result<Verdict> {
    let tarball = pack(session)?;
    session.test_packages()?;
    let app = session.project.path("tests/apps/vite");
    npm::ci(session.project, "tests/apps/vite", "which build a user's app")?;
    // npm takes a tarball of the same name and version for the one it has.
    for stale in ["node_modules/turnwire", "node_modules/.package-lock.json"] {
        let stale = app.join(stale);
        let _ = if stale.is_dir() { fs::remove_dir_all(&stale) } else { fs::remove_file(&stale) };
    }
    begin("app: installing the packed package, building the app");
    run(npm::npm(&app).args(["install", "--no-save", "--no-package-lock"]).arg(&tarball))?;
    run(npm::npm(&app).args(["run", "build"]))?;
    let mut runner = node_tests(session, "tests/apps/vite")?;
    in_browser(session, &mut runner)?;
    count("node --test", &mut runner, tally::node)
}

fn page(session: &mut Session<'_>) -> Result<Verdict> {
    session.package()?;
    demo::build_page(session.project)?;
    let www = session.project.path("www");
    count("vitest", npm::npm(&www).args(["test"]).env("NO_COLOR", "1"), tally::vitest)
}

fn soak(session: &mut Session<'_>) -> Result<Verdict> {
    session.package()?;
    soak::run(session.project, &soak::Options::SHORT).map(|()| Verdict::Held)
}

fn bench(session: &mut Session<'_>) -> Result<Verdict> {
    session.package()?;
    bench::install(session.project)?;
    let counted = count("node --test", &mut node_tests(session, "tests/bench")?, tally::node)?;
    bench::run(session.project, &bench::Options::QUICK)?;
    Ok(counted)
}

fn size(session: &mut Session<'_>) -> Result<Verdict> {
    session.package()?;
    size::run(session.project, &size::Options::default()).map(|()| Verdict::Held)
}

fn interop(session: &mut Session<'_>) -> Result<Verdict> {
    session.package()?;
    let (large, others): (Vec<_>, Vec<_>) =
        Vendor::ALL.into_iter().partition(|vendor| LARGE.contains(vendor));
    let count = session.scope.of(others.len(), Vendor::ALL.len(), "vendors");
    let mut tally = Tally::default();
    for vendor in others.into_iter().chain(large).take(count) {
        tally.add(interop::run_vendor(session.project, vendor)?);
    }
    Ok(Verdict::Counted(tally))
}

/// The package as npm would publish it.
fn pack(session: &mut Session<'_>) -> Result<PathBuf> {
    session.package()?;
    Ok(tarball::pack(session.project)?.path)
}

/// Node's test runner over the `*.test.mjs` files of a directory of the checkout.
fn node_tests(session: &Session<'_>, directory: &str) -> Result<Command> {
    let directory = session.project.path(directory);
    let files = test_files(&directory)?;
    Ok(node_tests_of(session, &directory, files))
}

/// Runs these files of tests.
fn node_tests_of(
    session: &Session<'_>,
    directory: &Path,
    files: impl IntoIterator<Item = PathBuf>,
) -> Command {
    let mut node = Command::new("node");
    // One file at a time: each starts a gateway and a browser of its own. The limit is per file.
    node.args(["--test", "--test-reporter=spec", "--test-concurrency=1", "--test-timeout=600000"])
        .args(files)
        .current_dir(directory);
    session.scope.tell(&mut node);
    node
}

/// The `*.test.mjs` files of a directory, in order.
fn test_files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = fs::read_dir(directory)
        .with_context(|| format!("cannot list {}", directory.display()))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.to_string_lossy().ends_with(".test.mjs"))
        .collect();
    if files.is_empty() {
        bail!("{} has no *.test.mjs", directory.display());
    }
    files.sort();
    Ok(files)
}

/// Tells tests in a browser where the programs are that they start.
fn in_browser(session: &mut Session<'_>, runner: &mut Command) -> Result<()> {
    runner.env("TURNWIRE_GATEWAY", session.gateway()?);
    let browser = session.browser()?;
    runner.env("CHROME", &browser.chrome).env("CHROMEDRIVER", &browser.driver);
    Ok(())
}
