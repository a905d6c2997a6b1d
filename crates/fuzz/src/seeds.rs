//! The seeds of the targets: the recorded streams, shortened, and inputs that were once a finding.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value as Json;

use crate::Target;
use crate::input::{Input, Plan};

/// Longer inputs make slow runs and find nothing more.
const LONGEST: usize = 4096;

/// How many deltas of one kind stay in a row.
const IN_A_ROW: usize = 3;

/// A recorded stream.
#[derive(Debug)]
pub struct Capture {
    frames: Vec<String>,
}

/// The seeds of a target: those made of the recorded streams, and those kept for it.
pub fn of(target: Target) -> Result<Vec<Vec<u8>>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut captures = Vec::new();
    for path in files(&root.join("../../tests/fixtures"))? {
        if path.extension().is_some_and(|extension| extension == "sse") {
            captures.push(Capture::of(&read(&path)?));
        }
    }
    anyhow::ensure!(!captures.is_empty(), "tests/fixtures holds no recorded stream");
    let mut seeds = (target.seeds)(&captures);
    for path in files(&root.join("regressions").join(target.name))? {
        seeds.push(read(&path)?);
    }
    seeds.sort();
    seeds.dedup();
    Ok(seeds)
}

/// All files below a directory, in order; none if there is no such directory.
pub fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(directory) else {
        return Ok(found);
    };
    for entry in entries {
        let path = entry.with_context(|| format!("cannot list {}", directory.display()))?.path();
        if path.is_dir() { found.extend(files(&path)?) } else { found.push(path) }
    }
    found.sort();
    Ok(found)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

impl Capture {
    fn of(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        Self { frames: text.split_inclusive("\n\n").map(str::to_owned).collect() }
    }

    fn documents(&self) -> impl Iterator<Item = &str> {
        self.frames.iter().filter_map(|frame| frame.split_once("data: ")?.1.split('\n').next())
    }

    /// The stream with runs of like deltas cut short, in as many pieces as it takes.
    fn pieces(&self) -> Vec<String> {
        let (mut pieces, mut last, mut run) = (vec![String::new()], String::new(), 0);
        for frame in &self.frames {
            let kind = kind_of(frame);
            run = if kind == last { run + 1 } else { 0 };
            last = kind;
            if run >= IN_A_ROW && last.contains("delta") {
                continue;
            }
            match pieces.last_mut() {
                Some(piece) if piece.len() + frame.len() < LONGEST => piece.push_str(frame),
                _ => pieces.push(frame.clone()),
            }
        }
        pieces
    }
}

/// What an event is like: its type, and the names of its fields.
fn kind_of(frame: &str) -> String {
    let data = frame.split_once("data: ").and_then(|(_, data)| data.split('\n').next());
    let event: Option<Json> = data.and_then(|data| serde_json::from_str(data).ok());
    let Some(Json::Object(event)) = event else {
        return String::new();
    };
    let names: Vec<&str> = event.keys().map(String::as_str).collect();
    format!("{} {}", event.get("type").and_then(Json::as_str).unwrap_or_default(), names.join(" "))
}

/// Writes the seeds of a target into the directory in the environment variable `SEEDS`, if it is set: libFuzzer starts
/// the targets like this, and reads the directory afterwards.
pub fn hand_out(name: &str) {
    if let (Some(directory), Some(target)) = (env::var_os("SEEDS"), crate::target(name)) {
        write(target, Path::new(&directory)).expect("seeds can be written");
    }
}

/// Writes the seeds of a target into a directory, replacing the existing ones.
fn write(target: Target, directory: &Path) -> Result<()> {
    let _ = fs::remove_dir_all(directory);
    fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
    for (number, seed) in of(target)?.iter().enumerate() {
        let file = directory.join(format!("{number:03}"));
        fs::write(&file, seed).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

/// Streams as bytes.
pub fn streams(captures: &[Capture]) -> Vec<Vec<u8>> {
    let pieces = captures.iter().flat_map(Capture::pieces);
    let odd =
        ["\u{feff}data: a\r\rid\n\n", ": c\ndata\ndata:  b\nretry: 10\nid: \0\n\r\n", "event: e\r\ndata: é"];
    let all = pieces.chain(odd.map(str::to_owned));
    (0..).zip(all).map(|(plan, stream)| Input::from_parts(plan, stream.as_bytes())).collect()
}

/// Whole responses to turns, histories, and server descriptions, by how they begin.
const WHOLE: [&str; 6] = [
    include_str!("../../../tests/fixtures/aap/00-meta.http"),
    include_str!("../../../tests/fixtures/aap/50-mixed-none-a-call.json"),
    include_str!("../../../tests/fixtures/aap/82-sessions-list.http"),
    include_str!("../../../tests/fixtures/aap/30-trusted-server-tool-none-history.http"),
    include_str!("../../../tests/fixtures/aap/41-untrusted-deny-delta-c-history.http"),
    include_str!("../../../tests/fixtures/aap/e-parallel-none-history.json"),
];

/// Streams as bytes, and answers that come whole.
pub fn dialogs(captures: &[Capture]) -> Vec<Vec<u8>> {
    let bodies = WHOLE.iter().map(|answer| answer.split_once("\r\n\r\n").map_or(*answer, |(_, body)| body));
    // Each with several plans, which select the turn to look for.
    let bodies = bodies.flat_map(|body| (0..8).map(|plan| Input::from_parts(plan, body.as_bytes())));
    streams(captures).into_iter().chain(bodies).collect()
}

/// One document of every kind that a stream has.
pub fn documents(captures: &[Capture]) -> Vec<Vec<u8>> {
    let mut kinds = BTreeMap::new();
    for document in captures.iter().flat_map(Capture::documents) {
        kinds.entry(kind_of(&format!("data: {document}"))).or_insert(document);
    }
    let odd = ["[[[0]]]", " {\"a\" : [1e5, -0.5E-2, true, false, null]}\t", r#""\ud83d\ude00\u00e9\n\/""#];
    let all = kinds.into_values().chain(odd);
    (0..).zip(all).map(|(plan, document)| Input::from_parts(plan, document.as_bytes())).collect()
}

/// Streams as bytes, and bytes that events are generated from: an odd plan selects the latter.
pub fn turns(captures: &[Capture]) -> Vec<Vec<u8>> {
    let pieces = captures.iter().flat_map(Capture::pieces);
    let pieces =
        (0..).step_by(2).zip(pieces).map(|(plan, stream)| Input::from_parts(plan, stream.as_bytes()));
    let generated = (0..48_u64).map(|number| {
        let mut plan = Plan(number);
        let bytes: Vec<u8> = (0..16 << (number % 5)).flat_map(|_| plan.number().to_le_bytes()).collect();
        Input::from_parts(2 * number + 1, &bytes)
    });
    pieces.chain(generated).collect()
}
