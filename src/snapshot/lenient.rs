//! Reads what a server wrote into its type. What does not fit is left out: the events still have it.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// `None` for anything that is not of the type.
pub(super) fn option<'de, T: DeserializeOwned, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(from)?).ok())
}

/// Without the items that are not of the type.
pub(super) fn list<'de, T: DeserializeOwned, D: Deserializer<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    let items = Vec::<Value>::deserialize(from)?;
    Ok(items.into_iter().filter_map(|item| serde_json::from_value(item).ok()).collect())
}

/// The default for `null`.
pub(super) fn holes<'de, T: DeserializeOwned + Default, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    Ok(Vec::<Option<T>>::deserialize(from)?.into_iter().map(Option::unwrap_or_default).collect())
}
