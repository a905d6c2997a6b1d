//! The options of `connect`, checked.

use web_sys::Url;

use crate::error::{Error, ErrorCode, Result, sentence};
use crate::json::{Object, Value};
use crate::protocol::Protocol;
use crate::protocol::truefoundry::{Dialect, TrueFoundry};
use crate::sse::DEFAULT_LIMIT;

/// What `connect` takes, its functions apart.
pub(super) struct Options {
    pub(super) base_url: String,
    pub(super) max_frame_bytes: usize,
    pub(super) protocol: Box<dyn Protocol>,
}

const NAMES: [&str; 6] = ["baseUrl", "protocol", "token", "headers", "fetch", "maxFrameBytes"];

impl Options {
    /// Reads the options from their JSON; functions are not in it.
    pub(super) fn read(json: &str, page: Option<&str>) -> Result<Self> {
        let json = Value::parse(json).unwrap_or_default();
        let Some(options) = json.as_object() else {
            return Err(invalid("`connect` takes an object of options"));
        };
        check_names(options)?;
        Ok(Self {
            base_url: base_url(options, page)?,
            max_frame_bytes: max_frame_bytes(options)?,
            protocol: protocol(options)?,
        })
    }
}

fn given<'o>(options: &'o Object<'_>, name: &str) -> Option<&'o Value<'o>> {
    options.get(name).filter(|value| !value.is_null())
}

fn max_frame_bytes(options: &Object<'_>) -> Result<usize> {
    let Some(value) = given(options, "maxFrameBytes") else { return Ok(DEFAULT_LIMIT) };
    let limit = value.as_u64().and_then(|limit| usize::try_from(limit).ok()).filter(|limit| *limit > 0);
    limit.ok_or_else(|| invalid("`maxFrameBytes` must be a whole number greater than 0"))
}

fn check_names(options: &Object<'_>) -> Result<()> {
    match options.iter().find(|(name, _)| !NAMES.contains(name)) {
        None => Ok(()),
        Some((name, _)) => {
            let known = NAMES.join("`, `");
            Err(invalid(&sentence(&["`", name, "` is not an option of `connect`; there are `", &known, "`"])))
        }
    }
}

fn protocol(options: &Object<'_>) -> Result<Box<dyn Protocol>> {
    let dialect = match given(options, "protocol").map(Value::as_str) {
        None | Some(Some("truefoundry")) => Dialect::Gateway,
        Some(Some("trueforge")) => Dialect::TrueForge,
        Some(_) => return Err(invalid("`protocol` must be `truefoundry` or `trueforge`")),
    };
    Ok(Box::new(TrueFoundry::new(dialect)))
}

/// The base URL without a slash at its end. A relative one counts from the page.
fn base_url(options: &Object<'_>, page: Option<&str>) -> Result<String> {
    let given = given(options, "baseUrl").and_then(Value::as_str);
    let given = given.ok_or_else(|| invalid("`baseUrl` must be a string"))?;
    let wrong = |what| Error::new(ErrorCode::InvalidUrl, sentence(&["`baseUrl` ", what, ": ", given]));
    let url = match page {
        Some(page) => Url::new_with_base(given, page),
        None => Url::new(given),
    };
    let url = url.map_err(|_| wrong("is not a URL"))?;
    if !matches!(&*url.protocol(), "http:" | "https:") {
        return Err(wrong("is not an http or https URL"));
    }
    if !(url.search().is_empty() && url.hash().is_empty()) {
        return Err(wrong("must not have a query or a fragment"));
    }
    Ok(url.href().trim_end_matches('/').to_owned())
}

fn invalid(message: &str) -> Error {
    Error::new(ErrorCode::InvalidOption, message)
}
