//! Secrets. The config only refers to them: they are in environment variables, in files, or in systemd credentials.

use std::fmt;
use std::path::Path;

use axum::http::HeaderValue;

/// The value of a header, or a password. It is never displayed.
#[derive(Clone)]
pub struct Secret(HeaderValue);

impl Secret {
    /// Reads `env:NAME`, `file:PATH` or `credential:NAME`. The error names the reference, never the value.
    pub(super) fn read(reference: &str) -> Result<Self, String> {
        let text = if let Some(name) = reference.strip_prefix("env:") {
            std::env::var(name).map_err(|_| format!("the variable {name} is not set, or is no text"))?
        } else if let Some(path) = reference.strip_prefix("file:") {
            std::fs::read_to_string(path).map_err(|error| format!("the file {path}: {error}"))?
        } else if let Some(name) = reference.strip_prefix("credential:") {
            let directory = std::env::var_os("CREDENTIALS_DIRECTORY");
            let directory =
                directory.ok_or_else(|| format!("systemd has given no credentials: {reference}"))?;
            let path = Path::new(&directory).join(name);
            std::fs::read_to_string(path).map_err(|error| format!("the credential {name}: {error}"))?
        } else {
            // Not even the beginning is repeated: it may be a secret.
            return Err(
                "write where the value stands, as `env:NAME`, `file:/path` or `credential:NAME`, not the value itself"
                    .to_owned(),
            );
        };
        let text = text.trim();
        if text.is_empty() {
            return Err(format!("{reference} is empty"));
        }
        let mut value = HeaderValue::from_str(text)
            .map_err(|_| format!("the value of {reference} cannot be that of a header"))?;
        value.set_sensitive(true);
        Ok(Self(value))
    }

    /// The value as text; `None` if it is not UTF-8.
    pub(crate) fn text(&self) -> Option<&str> {
        std::str::from_utf8(self.0.as_bytes()).ok()
    }

    /// The value as a header value that is marked sensitive.
    pub(crate) fn value(&self) -> HeaderValue {
        self.0.clone()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}
