//! How a request wants its events delivered: the pace, the size of writes, and the place of the numbers.

use std::collections::HashMap;
use std::num::ParseFloatError;
use std::time::Duration;

use super::Numbers;
use axum::extract::Query;
use axum::http::HeaderMap;
use axum::http::Uri;
use clap::Args;

/// The settings of one request. `None` leaves it to the script or the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Args)]
pub struct Delivery {
    /// Pause between two events of a turn in milliseconds, decimals allowed; 0 is full speed.
    /// Without it, each script has its own pace. Requests can set their own.
    #[arg(long = "delay-ms", value_name = "MS", value_parser = delay)]
    pub delay: Option<Duration>,
    /// Hold a turn after so many events, until `POST /_gateway/release`. Requests can set their own.
    #[arg(long, value_name = "EVENTS")]
    pub hold: Option<u32>,
    /// Write streams in pieces of exactly this many bytes, which cut frames and characters anywhere. Only the last
    /// piece is shorter. Requests can set their own.
    #[arg(long, value_name = "BYTES")]
    pub chunk_bytes: Option<usize>,
    /// Write this many events at once. Only the last write has fewer. Requests can set their own.
    #[arg(long, value_name = "EVENTS")]
    pub batch: Option<usize>,
    /// Where events say their sequence numbers: `id`, `json`, `both`, or `different` ones in both. Requests can
    /// set their own.
    #[arg(long, value_name = "WHERE")]
    pub numbers: Option<Numbers>,
}

/// A pause on the command line, which is no longer than a day.
fn delay(text: &str) -> Result<Duration, ParseFloatError> {
    let seconds = text.parse::<f64>()?.clamp(0.0, 86_400_000.0) / 1000.0;
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

impl Delivery {
    /// Reads `?delay_ms=`, `?hold=`, `?chunk_bytes=`, `?batch=`, `?numbers=`, and the headers `x-turnwire-delay-ms`,
    /// `x-turnwire-hold`, `x-turnwire-chunk-bytes`, `x-turnwire-batch`, `x-turnwire-numbers`, which win.
    ///
    /// The error says which setting cannot be read.
    pub(crate) fn of(uri: &Uri, headers: &HeaderMap) -> Result<Self, String> {
        // The endpoint itself rejects a query that cannot be read.
        let query = Query::<HashMap<String, String>>::try_from_uri(uri).unwrap_or_default().0;
        let setting = |name: &str| {
            let header = headers.get(format!("x-turnwire-{}", name.replace('_', "-")));
            header.and_then(|value| value.to_str().ok()).or(query.get(name).map(String::as_str))
        };
        let count = |name: &str| -> Result<Option<usize>, String> {
            setting(name).map(|text| text.trim().parse().map_err(|_| invalid(name, text))).transpose()
        };
        let hold = setting("hold").map(|text| text.trim().parse().map_err(|_| invalid("hold", text)));
        let delay = setting("delay_ms");
        let settings = Self {
            delay: delay
                .map(|text| milliseconds(text).ok_or_else(|| invalid("delay_ms", text)))
                .transpose()?,
            hold: hold.transpose()?,
            chunk_bytes: count("chunk_bytes")?,
            batch: count("batch")?,
            numbers: setting("numbers").map(str::parse).transpose()?,
        };
        Ok(settings.without_zeros())
    }

    /// The same settings; a size of zero counts as not set.
    #[must_use]
    pub fn without_zeros(self) -> Self {
        let positive = |number: Option<usize>| number.filter(|&number| number > 0);
        Self { chunk_bytes: positive(self.chunk_bytes), batch: positive(self.batch), ..self }
    }

    /// These settings; the others fill in what is not set.
    pub(crate) fn or(self, other: Self) -> Self {
        // A request that cuts its own way must not be cut again by a default.
        let cuts = self.chunk_bytes.is_some() || self.batch.is_some();
        Self {
            delay: self.delay.or(other.delay),
            hold: self.hold.or(other.hold),
            chunk_bytes: if cuts { self.chunk_bytes } else { other.chunk_bytes },
            batch: if cuts { self.batch } else { other.batch },
            numbers: self.numbers.or(other.numbers),
        }
    }
}

fn invalid(name: &str, text: &str) -> String {
    format!("{name} must be a number that is not negative, got `{text}`")
}

/// Milliseconds with decimals, up to a day.
fn milliseconds(text: &str) -> Option<Duration> {
    let number: f64 = text.trim().parse().ok()?;
    let seconds = number / 1000.0;
    (0.0..=86_400.0).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivery(query: &str, headers: &[(&'static str, &'static str)]) -> Result<Delivery, String> {
        let uri = format!("/x?{query}").parse().expect("a URI");
        let headers = headers
            .iter()
            .map(|&(name, value)| (name.parse().expect("a name"), value.parse().expect("a value")))
            .collect();
        Delivery::of(&uri, &headers)
    }

    #[test]
    fn headers_win_over_the_query() {
        let headers = [("x-turnwire-delay-ms", "0.5"), ("x-turnwire-numbers", "json")];
        let settings = delivery("delay_ms=3&batch=9&numbers=both", &headers);
        let settings = settings.expect("valid settings");
        assert_eq!(settings.delay, Some(Duration::from_micros(500)));
        assert_eq!(settings.batch, Some(9));
        assert_eq!(settings.chunk_bytes, None);
        assert_eq!(settings.numbers, Some(Numbers::Json));
    }

    #[test]
    fn nonsense_is_named() {
        for query in
            ["delay_ms=-1", "delay_ms=NaN", "hold=-1", "chunk_bytes=many", "batch=1.5", "numbers=sse"]
        {
            let error = delivery(query, &[]).expect_err(query);
            assert!(error.contains(query.split('=').next().expect("a name")), "{error}");
        }
    }

    #[test]
    fn a_request_that_cuts_is_not_cut_again() {
        let server = Delivery { chunk_bytes: Some(7), ..Delivery::default() };
        let request = Delivery { batch: Some(2), ..Delivery::default() };
        assert_eq!(request.or(server).chunk_bytes, None);
        assert_eq!(Delivery::default().or(server).chunk_bytes, Some(7));
    }
}
