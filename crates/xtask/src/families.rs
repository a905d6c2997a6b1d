//! The families of protocols, as `pkg/families.json` lists them. Each has its own core. Its name is that of the crate's
//! feature, of the core's folder in `pkg/core/`, and of the package's entry.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Map, Value};

/// Their names.
pub(crate) static FAMILIES: LazyLock<Vec<String>> =
    LazyLock::new(|| listed().into_iter().map(|(name, _)| name).collect());

/// The name of the core with all families. It determines the names of the exports of the others.
pub(crate) const WHOLE: &str = "all";

/// The names of the files that only some cores have.
pub(crate) static EXTRAS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let name = |source: &String| source.trim_start_matches("protocols/").replace('/', "-");
    sources().iter().map(name).collect()
});

/// The sources of these files, below `pkg/src` and without `.ts`.
fn sources() -> BTreeSet<String> {
    let families = listed();
    let extras = families.values().filter_map(|family| family["extras"].as_object());
    let places = extras.flat_map(Map::values).filter_map(Value::as_str);
    places.filter_map(|place| place.split(' ').next()).map(str::to_owned).collect()
}

fn listed() -> Map<String, Value> {
    let text = include_str!("../../../pkg/families.json");
    serde_json::from_str(text).expect("pkg/families.json is an object")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn each_extra_is_a_file_of_the_package() {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../pkg/src");
        assert!(!FAMILIES.is_empty() && !EXTRAS.is_empty());
        for name in super::sources() {
            assert!(sources.join(format!("{name}.ts")).is_file(), "{name}");
        }
    }
}
