//! The modules of a crate form no circles, apart from a parent and its children; and those of turnwire have an order.

#![cfg(not(target_arch = "wasm32"))]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

type Module = Vec<String>;
/// What each module imports from its siblings, and where.
type Imports = BTreeMap<String, BTreeMap<String, String>>;

/// The crates that are checked, by their sources.
const CRATES: [&str; 3] = ["src", "crates/gateway/src", "crates/relay/src"];

/// The modules of turnwire, from the ground up. Each knows only those before it.
const ORDER: [&str; 18] = [
    "features", "bytes", "text", "names", "error", "json", "iso", "sse", "event", "message", "rpc",
    "protocol", "index", "delivery", "turn", "session", "snapshot", "web",
];

#[test]
fn modules_import_each_other_in_one_direction() {
    for folder in CRATES {
        let sources = sources(folder);
        let circles: Vec<String> = levels(&sources).values().filter_map(circle).collect();
        assert!(circles.is_empty(), "{folder}:\n{}", circles.join("\n"));
    }
}

#[test]
fn modules_know_only_those_before_them() {
    let levels = levels(&sources("src"));
    let place = |name: &str| {
        ORDER.iter().position(|known| *known == name).unwrap_or_else(|| panic!("`{name}` has no place"))
    };
    let upwards: Vec<&str> = levels[&Module::new()]
        .iter()
        .flat_map(|(from, imports)| imports.iter().map(move |(to, import)| (from, to, import)))
        .filter(|(from, to, _)| place(to) > place(from))
        .map(|(.., import)| &**import)
        .collect();
    assert!(upwards.is_empty(), "{}", upwards.join("\n"));
}

/// The modules of a crate, without their tests.
fn sources(folder: &str) -> BTreeMap<Module, String> {
    let mut sources = BTreeMap::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &Module::new(), &mut sources);
    assert!(sources.len() > 5, "{folder} has sources");
    sources
}

/// Reads the modules of a folder, without their tests.
fn read(folder: &Path, parent: &Module, sources: &mut BTreeMap<Module, String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
        let mut module = parent.clone();
        if !["lib", "main", "mod"].contains(&name) {
            module.push(name.to_owned());
        }
        if ["main", "tests"].contains(&name) {
            continue;
        }
        if path.is_dir() {
            read(&path, &module, sources);
        } else {
            let source = fs::read_to_string(&path).expect("a source");
            let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
            sources.insert(module, lines.collect::<Vec<_>>().join(" "));
        }
    }
}

/// The imports among the children of each module. An import of a grandchild is one of its parent.
fn levels(sources: &BTreeMap<Module, String>) -> BTreeMap<Module, Imports> {
    let mut levels: BTreeMap<Module, Imports> = BTreeMap::new();
    for (module, source) in sources {
        for path in paths(source) {
            let target = resolve(module, &path, sources);
            let shared = module.iter().zip(&target).take_while(|(a, b)| a == b).count();
            if let (Some(from), Some(to)) = (module.get(shared), target.get(shared)) {
                let imports = levels.entry(module[..shared].to_vec()).or_default();
                let place = format!("{} imports {}", module.join("::"), path.join("::"));
                imports.entry(from.clone()).or_default().insert(to.clone(), place);
            }
        }
    }
    levels
}

/// All paths in a source that begin with `crate`, `self` or `super`.
fn paths(source: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for start in ["crate::", "self::", "super::"] {
        for (at, _) in source.match_indices(start) {
            let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == ':' || c == '$';
            if !source[..at].ends_with(is_word) {
                path(&source[at..], &mut Vec::new(), &mut found);
            }
        }
    }
    found
}

/// Reads one path, or a tree of them, and returns what follows.
fn path<'a>(mut source: &'a str, before: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> &'a str {
    let length = before.len();
    loop {
        source = source.trim_start();
        if let Some(tree) = source.strip_prefix('{') {
            source = tree;
            loop {
                source = source.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
                if let Some(rest) = source.strip_prefix('}') {
                    before.truncate(length);
                    return rest;
                }
                let rest = path(source, before, found);
                // Anything but a path ends the tree.
                if rest.len() == source.len() {
                    before.truncate(length);
                    return rest;
                }
                source = rest;
            }
        }
        let end = source.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '*').unwrap_or(source.len());
        before.push(source[..end].to_owned());
        source = &source[end..];
        match source.strip_prefix("::") {
            Some(rest) => source = rest,
            None => break,
        }
    }
    found.push(before.clone());
    before.truncate(length);
    source
}

/// The module that a path leads to.
fn resolve(module: &Module, path: &[String], sources: &BTreeMap<Module, String>) -> Module {
    let mut target = if path[0] == "crate" { Module::new() } else { module.clone() };
    for segment in path {
        if segment == "super" {
            target.pop();
        } else if segment != "crate" && segment != "self" {
            target.push(segment.clone());
            if !sources.contains_key(&target) {
                target.pop();
                break;
            }
        }
    }
    target
}

/// The imports that form circles among these modules, one for each module in a circle.
fn circle(imports: &Imports) -> Option<String> {
    let mut left: BTreeSet<&String> = imports.keys().collect();
    loop {
        let is_imported = |name: &String| left.iter().any(|from| imports[*from].contains_key(name));
        let imports_any = |name: &String| imports[name].keys().any(|to| left.contains(to));
        // A module that imports none of the rest, or is imported by none, is in no circle.
        let Some(free) = left.iter().find(|name| !imports_any(name) || !is_imported(name)).copied() else {
            break;
        };
        left.remove(free);
    }
    let of_circle = |name: &&String| {
        imports[*name].iter().find(|(to, _)| left.contains(to)).map(|(_, place)| place.clone())
    };
    let places: Vec<String> = left.iter().filter_map(of_circle).collect();
    (!places.is_empty()).then(|| places.join("\n"))
}

#[test]
fn a_circle_is_found() {
    let source =
        |name: &str, code: &str| (name.split("::").map(str::to_owned).collect::<Module>(), code.to_owned());
    let sources = BTreeMap::from([
        (Module::new(), "mod a; mod b; mod c; mod d;".to_owned()),
        source("a", "use crate::{c::{self, C}, b::x::Y as Z};"),
        source("b", "mod x; use self::x::X;"),
        source("b::x", "use super::Parent; fn f() { crate::c::g(); }"),
        source("c", "use crate::a::A;"),
        source("d", "use crate::a::A;"),
    ]);
    let found: Vec<String> = levels(&sources).values().filter_map(circle).collect();
    assert_eq!(found, ["a imports crate::b::x::Y\nb::x imports crate::c::g\nc imports crate::a::A"]);
}
