//! The options of `connect`, checked.

use crate::error::{Error, ErrorCode, Result, sentence};
use crate::json::{Fields, Object, Problem, Value};
use crate::protocol::Protocol;
use crate::protocol::truefoundry::{Dialect, TrueFoundry};
use crate::sse::DEFAULT_LIMIT;

/// What `connect` takes, its functions apart.
pub(super) struct Options {
    pub(super) base_url: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) max_frame_bytes: usize,
    pub(super) protocol: Box<dyn Protocol>,
}

/// The options as they came: types checked, values not.
struct Given {
    base_url: String,
    protocol: Option<String>,
    headers: Vec<(String, String)>,
    max_frame_bytes: Option<u64>,
}

const NAMES: [&str; 6] = ["baseUrl", "protocol", "token", "headers", "fetch", "maxFrameBytes"];

impl Options {
    /// Reads the options from their JSON; functions are not in it.
    pub(super) fn read(json: &str) -> Result<Self> {
        let json = Value::parse(json).unwrap_or_default();
        let Some(object) = json.as_object() else {
            return Err(invalid("`connect` takes an object of options"));
        };
        check_names(object)?;
        let given = Given::read(&json).map_err(|problem| invalid(&problem))?;
        if given.max_frame_bytes == Some(0) {
            return Err(invalid("`maxFrameBytes` must be greater than 0"));
        }
        let limit = given.max_frame_bytes.map(usize::try_from);
        Ok(Self {
            base_url: base_url(&given.base_url)?,
            headers: given.headers,
            max_frame_bytes: limit.map_or(DEFAULT_LIMIT, |limit| limit.unwrap_or(usize::MAX)),
            protocol: protocol(given.protocol.as_deref())?,
        })
    }
}

impl Given {
    fn read(json: &Value<'_>) -> Result<Self, Problem> {
        let fields = Fields::of(json, "options")?;
        let mut headers = Vec::new();
        if let Some(given) = fields.value("headers") {
            let given = Fields::of(given, "headers")?;
            for name in given.names() {
                headers.push((name.to_owned(), given.text(name)?));
            }
        }
        Ok(Self {
            base_url: fields.text("baseUrl")?,
            protocol: fields.maybe_text("protocol")?,
            headers,
            max_frame_bytes: fields.maybe_count("maxFrameBytes")?,
        })
    }
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

fn protocol(name: Option<&str>) -> Result<Box<dyn Protocol>> {
    let dialect = match name {
        None | Some("truefoundry") => Dialect::Gateway,
        Some("trueforge") => Dialect::TrueForge,
        Some(_) => return Err(invalid("`protocol` must be `truefoundry` or `trueforge`")),
    };
    Ok(Box::new(TrueFoundry::new(dialect)))
}

/// The base URL without a slash at its end. A relative one counts from the page.
fn base_url(given: &str) -> Result<String> {
    let wrong = |what| Error::new(ErrorCode::InvalidUrl, sentence(&["`baseUrl` ", what, ": ", given]));
    let page = js_sys::Reflect::get(&js_sys::global(), &"location".into())
        .and_then(|location| js_sys::Reflect::get(&location, &"href".into()));
    let url = match page.ok().and_then(|href| href.as_string()).filter(|href| href.starts_with("http")) {
        Some(page) => web_sys::Url::new_with_base(given, &page),
        None => web_sys::Url::new(given),
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
