//! The families of protocols, as `pkg/families.json` lists them. Each has a core of its own. Its name is that of the crate's
//! feature, of the core's folder in `pkg/core/`, and of the package's entry.

use std::sync::LazyLock;

use serde_json::{Map, Value};

/// Their names.
pub(crate) static FAMILIES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let listed = include_str!("../../../pkg/families.json");
    let listed: Map<String, Value> = serde_json::from_str(listed).expect("pkg/families.json is an object");
    listed.into_iter().map(|(name, _)| name).collect()
});
