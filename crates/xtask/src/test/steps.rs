//! The steps of a test run, in their order.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use crate::bench;
use crate::command::run;
use crate::demo;
use crate::front_end;
use crate::licences;
use crate::matrix;
use crate::progress::begin;
use crate::project::cargo;
use crate::site;
use crate::size;
use crate::soak;
use crate::tarball::{self, Tarball};
use crate::test::code;
use crate::test::report::Verdict;
use crate::test::runner::{NodeTests, in_browser, test_files};
use crate::test::session::{Scope, Session, check, count};
use crate::test::tally::{self, Tally};
use crate::tools::{npm, redis};

/// The most bytes of the npm package, packed and unpacked: below 910 KB (of 1,024 bytes) and 2.5 MB.
const TARBALL_BYTES: [u64; 2] = [931_000, 2_562_000];

/// The lane of a step. On two cores, compiling and installing or waiting hardly disturb each other. Steps that compare
/// clocks in a browser, or measure, need the machine for themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Mostly compiles Rust. Its steps run one after the other, beside those of `Package`.
    Code,
    /// Needs the built package, and mostly installs and waits. Its steps run beside those of `Code`.
    Package,
    /// Alone: it has many clocks in a browser, or measures. Its steps run after both lanes.
    Alone,
}

/// One step of a test run.
#[derive(Debug)]
pub(crate) struct Step {
    /// Its name, as in `--only`.
    pub(crate) name: &'static str,
    /// Its lane.
    pub(crate) lane: Lane,
    /// What it does, and why.
    pub(crate) about: &'static str,
    /// Runs it.
    pub(crate) run: fn(&Session<'_>) -> Result<Verdict>,
}

const fn step(
    name: &'static str,
    lane: Lane,
    about: &'static str,
    run: fn(&Session<'_>) -> Result<Verdict>,
) -> Step {
    Step { name, lane, about, run }
}

/// Cheap checks come first; whatever needs the built package comes after it is built.
pub(crate) const STEPS: [Step; 24] = [
    step("format", Lane::Code, "the Rust code is formatted by rustfmt", code::format),
    step("clippy", Lane::Code, "lints, for the host and for the browser target", code::clippy),
    step("docs", Lane::Code, "the API documentation builds without a warning", code::docs),
    step("host", Lane::Code, "Rust tests on this machine", code::host),
    step("fuzz", Lane::Code, "random inputs against the decoders, a short while each", code::fuzz),
    step("build", Lane::Package, "the npm package is built", build),
    step(
        "types",
        Lane::Package,
        "the public types hold, from TypeScript 5.4 on, with the DOM and without",
        types,
    ),
    step("publish", Lane::Package, "what npm and crates.io would take resolves, and is complete", publish),
    step("page", Lane::Package, "the demo page is built, and its own tests", page),
    step("site", Lane::Package, "the site builds: no dead link, and each export has a comment", build_site),
    step("node", Lane::Package, "conformance cases on the built package, in Node", node),
    step(
        "browser",
        Lane::Code,
        "the crate's own tests in headless Chromium and Firefox, against the gateway",
        code::browser,
    ),
    step("rust-page", Lane::Code, "the chat page in Rust, in headless Chromium", code::rust_page),
    step("e2e", Lane::Alone, "the package in a page, against the development gateway", e2e),
    step(
        "bindings",
        Lane::Alone,
        "the bindings and the starter pages in Chromium, some in Firefox and WebKit",
        bindings,
    ),
    step("engines", Lane::Alone, "each kind of fault in Chromium, Firefox and WebKit", engines),
    step("pages", Lane::Package, "what a page downloads, for each family of protocols", pages),
    step("oldest", Lane::Package, "the package needs no younger engines than documented", oldest),
    step("matrix", Lane::Package, "the packed package in bundlers and runtimes, on cut streams", matrix),
    step("app", Lane::Package, "a Vite app made with the packed package", app),
    step("interop", Lane::Package, "vendors' own clients and servers against ours", code::interop),
    step("soak", Lane::Alone, "twenty turns at once on connections that keep breaking", soak),
    step("bench", Lane::Alone, "the benchmark itself works, with little work and no claim judged", bench),
    step("size", Lane::Alone, "the parts of the package against their budget", size),
];

fn build(session: &Session<'_>) -> Result<Verdict> {
    session.package().map(|()| Verdict::Held)
}

/// With the oldest and the newest compiler, and one between; in pages, and on servers whose compiler knows no DOM.
fn types(session: &Session<'_>) -> Result<Verdict> {
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

fn publish(session: &Session<'_>) -> Result<Verdict> {
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
            .arg("core.wasm")
            // These are modules only: `nowasm` would make the package too large in both formats, and what the others
            // are for has modules only.
            .args(["nowasm", "svelte", "angular", "assistant-ui", "ai"])
            .args(["--profile", "node16"])
            .current_dir(&tests),
    )?;
    licences::check(project)?;
    check(npm::npm(&project.path("pkg")).args(["publish", "--dry-run", "--silent"]).arg(&path))?;
    // What cargo would verify is that it compiles: as the other steps compile it, but anew.
    let unverified =
        (session.scope.of("listed", "compiled", "checks of the crate") == "listed").then_some("--no-verify");
    // A working tree may have changes: what is published is what the registry gets from a release.
    check(
        cargo()
            .args(["publish", "--dry-run", "--quiet", "--allow-dirty", "--package", "turnwire"])
            .args(unverified)
            .current_dir(project.root()),
    )
}

fn node(session: &Session<'_>) -> Result<Verdict> {
    session.package()?;
    let mut tests = NodeTests::in_directory(session, "pkg/test")?;
    tests.runner.env("TURNWIRE_GATEWAY", session.gateway()?).env("TURNWIRE_RELAY", session.relay()?);
    tests.runner.current_dir(session.project.path("pkg"));
    let entries = fs::read_dir(session.project.path("pkg/test"))?;
    let mut folders: Vec<PathBuf> =
        entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    folders.sort();
    // The others are for the tests: what they share, and sources whose types are checked.
    for folder in
        folders.iter().filter(|path| path.is_dir() && !path.ends_with("support") && !path.ends_with("types"))
    {
        tests.add(test_files(folder)?);
    }
    tests.run(session)
}

fn build_site(session: &Session<'_>) -> Result<Verdict> {
    session.package()?;
    site::run(session.project, &site::Options::default()).map(|()| Verdict::Held)
}

/// The end-to-end tests that need nothing but a page with the package in it: all that `WebKit` runs.
const PACKAGE_TESTS: [&str; 7] =
    ["aap", "chat-life", "conversation", "load", "page-life", "rendering", "scripts"];
/// What a quick run has of the end-to-end tests in Firefox and in `WebKit`, and all that other entries run.
const QUICK_TESTS: [&str; 2] = ["rendering", "scripts"];

fn e2e(session: &Session<'_>) -> Result<Verdict> {
    session.package()?;
    demo::build_page(session.project)?;
    session.test_packages()?;
    let quick = session.scope.of("some", "all", "files of tests in Firefox and WebKit") == "some";
    let mut groups = Vec::new();
    for (engine, entry, variant) in [
        ("chromium", "index", "in Chromium"),
        ("firefox", "index", "in Firefox"),
        ("webkit", "index", "in WebKit"),
        ("chromium", "nowasm", "in Chromium, with nowasm.js"),
    ] {
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
        let mut tests = NodeTests::of(session, &directory, files);
        tests.variant = variant;
        tests.runner.env("TURNWIRE_ENGINE", engine).env("TURNWIRE_ENTRY", entry);
        tests.runner.env("TURNWIRE_RELAY", session.relay()?);
        session.engines()?.tell(&mut tests.runner);
        in_browser(session, &mut tests.runner)?;
        groups.push(tests);
    }
    NodeTests::run_all(session, &groups)
}

/// What a quick run has of the frameworks, by `tests/bindings/frameworks.mjs`, and all of them.
const APPS: [usize; 2] = [2, 7];

/// What of the bindings' tests runs in Firefox and in `WebKit` too; a quick run has the first.
const BINDINGS_ELSEWHERE: [&str; 4] = ["life", "conversation", "readers", "renders"];
/// What runs in Firefox besides: pages that a person uses, for which `WebKit`'s driver knows too little. A quick run has the first.
const BINDINGS_IN_FIREFOX: [&str; 2] = ["starters", "assistant-ui"];

/// Each app is built by its framework's usual tool, with the package copied as npm installs it.
fn bindings(session: &Session<'_>) -> Result<Verdict> {
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
    let files = session.scope.of(1, BINDINGS_ELSEWHERE.len(), "files of tests in Firefox and WebKit");
    let pages = session.scope.of(1, BINDINGS_IN_FIREFOX.len(), "files of tests of whole pages in Firefox");
    let mut groups = Vec::new();
    for (engine, variant) in [("chromium", "in Chromium"), ("firefox", "in Firefox"), ("webkit", "in WebKit")]
    {
        let mut tests = if engine == "chromium" {
            NodeTests::in_directory(session, "tests/bindings")?
        } else {
            let pages = if engine == "firefox" { pages } else { 0 };
            let elsewhere = BINDINGS_ELSEWHERE.iter().take(files);
            let files = elsewhere
                .chain(BINDINGS_IN_FIREFOX.iter().take(pages))
                .map(|name| directory.join(format!("{name}.test.mjs")));
            NodeTests::of(session, &directory, files)
        };
        tests.variant = variant;
        tests.runner.env("TURNWIRE_ENGINE", engine);
        session.engines()?.tell(&mut tests.runner);
        in_browser(session, &mut tests.runner)?;
        groups.push(tests);
    }
    NodeTests::run_all(session, &groups)
}

fn engines(session: &Session<'_>) -> Result<Verdict> {
    session.package()?;
    session.test_packages()?;
    let classes = front_end::build_classes(session.project)?;
    let mut tests = NodeTests::in_directory(session, "tests/engines")?;
    tests.runner.env("TURNWIRE_CLASSES", classes).env("TURNWIRE_RELAY", session.relay()?);
    redis::tell(&mut tests.runner)?;
    session.engines()?.tell(&mut tests.runner);
    in_browser(session, &mut tests.runner)?;
    tests.run(session)
}

fn pages(session: &Session<'_>) -> Result<Verdict> {
    session.package()?;
    session.test_packages()?;
    let mut tests = NodeTests::in_directory(session, "tests/pages")?;
    in_browser(session, &mut tests.runner)?;
    tests.run(session)
}

fn oldest(session: &Session<'_>) -> Result<Verdict> {
    session.package()?;
    session.test_packages()?;
    NodeTests::in_directory(session, "tests/oldest")?.run(session)
}

fn matrix(session: &Session<'_>) -> Result<Verdict> {
    session.package()?;
    session.test_packages()?;
    let judged = NodeTests::in_directory(session, "tests/matrix")?.run(session)?;
    let options = matrix::Options { quick: session.scope == Scope::Quick, ..Default::default() };
    let rows = || matrix::run(session.project, &options);
    let mut played = session.again(&"matrix", rows(), rows)?;
    if let Verdict::Counted(tally) = judged {
        played.add(tally);
    }
    Ok(Verdict::Counted(played))
}

/// What a quick run has of the Vite app's tests: none, since the matrix and the bindings build such apps too; and all of them.
const APP_TESTS: [usize; 2] = [0, 18];

/// Installs the packed package into the app as a user would, builds the app for production, and
/// runs the app's test in the browser.
fn app(session: &Session<'_>) -> Result<Verdict> {
    let [quick, all] = APP_TESTS;
    if session.scope.of(quick, all, "tests of a Vite app") == quick {
        return Ok(Verdict::Counted(Tally::default()));
    }
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
    let mut tests = NodeTests::in_directory(session, "tests/apps/vite")?;
    in_browser(session, &mut tests.runner)?;
    tests.run(session)
}

fn page(session: &Session<'_>) -> Result<Verdict> {
    session.package()?;
    demo::build_page(session.project)?;
    let www = session.project.path("www");
    count("vitest", npm::npm(&www).args(["test"]).env("NO_COLOR", "1"), tally::vitest)
}

fn soak(session: &Session<'_>) -> Result<Verdict> {
    session.package()?;
    soak::run(session.project, &soak::Options::SHORT).map(|()| Verdict::Held)
}

fn bench(session: &Session<'_>) -> Result<Verdict> {
    session.package()?;
    bench::install(session.project)?;
    let counted = NodeTests::in_directory(session, "tests/bench")?.run(session)?;
    bench::run(session.project, &bench::Options::QUICK)?;
    Ok(counted)
}

fn size(session: &Session<'_>) -> Result<Verdict> {
    session.package()?;
    size::run(session.project, &size::Options::default()).map(|()| Verdict::Held)
}

/// The package as npm would publish it.
fn pack(session: &Session<'_>) -> Result<PathBuf> {
    session.package()?;
    Ok(tarball::pack(session.project)?.path)
}
