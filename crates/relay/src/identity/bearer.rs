//! Signed tokens (JWT). The config alone decides which tokens are valid, whatever they say about themselves: the
//! algorithms are pinned, and keys come from one address.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::http::{HeaderMap, header};
use jsonwebtoken::jwk::{AlgorithmParameters, Jwk, JwkSet};
use jsonwebtoken::{DecodingKey, Header, Validation, decode, decode_header};
use serde_json::{Map, Value};
use tokio::sync::Mutex as Turnstile;

use super::{Answer, Caller, Identity, Unknown};
use crate::client::{self, UpstreamClient};
use crate::config::BearerConfig;

/// How far clocks may differ, in seconds.
const LEEWAY: u32 = 60;
/// Keys are fetched at most this often, so that tokens with unknown keys cannot cause constant requests.
const PAUSE: Duration = Duration::from_secs(30);
/// How long fetched keys are used, so that a withdrawn key is accepted no longer than this.
const KEPT: Duration = Duration::from_mins(10);
/// The time limit for fetching keys.
const PATIENCE: Duration = Duration::from_secs(5);
/// The largest key set, in bytes.
const LARGEST: usize = 1 << 20;
/// The longest user id.
const LONGEST: usize = 256;

/// Checks tokens.
pub(super) struct Bearer {
    config: BearerConfig,
    client: UpstreamClient,
    keys: Mutex<Option<Keys>>,
    /// Allows one fetch at a time, and records when the last one was.
    fetching: Turnstile<Option<Instant>>,
}

#[derive(Clone)]
struct Keys {
    set: Arc<JwkSet>,
    at: Instant,
}

impl Bearer {
    pub(super) fn new(config: BearerConfig) -> Self {
        let client = client::client(&config.jwks);
        Self { config, client, keys: Mutex::default(), fetching: Turnstile::default() }
    }

    async fn check(&self, token: &str) -> Result<Caller, Unknown> {
        let head = allowed(token, &self.config)?;
        let keys = self.keys(head.kid.as_deref()).await?;
        judge(token, &head, &keys, &self.config)
    }

    fn kept(&self) -> Option<Keys> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The keys, including the one with this id if it can be fetched.
    async fn keys(&self, kid: Option<&str>) -> Result<Arc<JwkSet>, Unknown> {
        let good =
            |keys: &Keys| keys.at.elapsed() < KEPT && kid.is_none_or(|kid| keys.set.find(kid).is_some());
        if let Some(keys) = self.kept().filter(good) {
            return Ok(keys.set);
        }
        let mut last = self.fetching.lock().await;
        if let Some(keys) = self.kept().filter(good) {
            return Ok(keys.set);
        }
        if last.is_none_or(|last| last.elapsed() >= PAUSE) {
            *last = Some(Instant::now());
            let body =
                client::get(&self.client, self.config.jwks.uri(), HeaderMap::new(), PATIENCE, LARGEST).await;
            if let Some(set) = body.ok().and_then(|(_, body)| serde_json::from_slice(&body).ok()) {
                let keys = Keys { set: Arc::new(set), at: Instant::now() };
                *self.keys.lock().unwrap_or_else(PoisonError::into_inner) = Some(keys);
            }
        }
        // Old keys are better than none: the key server may be temporarily unavailable.
        self.kept().map(|keys| keys.set).ok_or(Unknown::Unavailable)
    }
}

/// The header of a token that may be valid.
pub(super) fn allowed(token: &str, config: &BearerConfig) -> Result<Header, Unknown> {
    let head = decode_header(token).map_err(|_| Unknown::Invalid)?;
    // A token must not bring its own keys or name a place for them. Its critical extensions are not supported.
    if head.jku.is_some()
        || head.jwk.is_some()
        || head.x5u.is_some()
        || head.x5c.is_some()
        || head.crit.is_some()
        || !config.algorithms.contains(&head.alg)
    {
        return Err(Unknown::Invalid);
    }
    Ok(head)
}

/// The user that a token names, with these keys.
pub(super) fn judge(
    token: &str,
    head: &Header,
    keys: &JwkSet,
    config: &BearerConfig,
) -> Result<Caller, Unknown> {
    let key = match (&head.kid, keys.keys.as_slice()) {
        (Some(kid), _) => keys.find(kid),
        (None, [only]) => Some(only),
        (None, _) => None,
    };
    let key = key.filter(|key| is_whole(key)).ok_or(Unknown::Invalid)?;
    // A key that is meant for one algorithm is not used for another.
    let meant = key.common.key_algorithm.map(|algorithm| algorithm.to_string());
    if meant.is_some_and(|meant| meant != format!("{:?}", head.alg)) {
        return Err(Unknown::Invalid);
    }
    let mut rules = Validation::new(head.alg);
    rules.leeway = LEEWAY.into();
    rules.validate_nbf = true;
    rules.set_issuer(&[&config.issuer]);
    rules.set_audience(&[&config.audience]);
    rules.set_required_spec_claims(&["exp", "iss", "aud"]);
    let key = DecodingKey::from_jwk(key).map_err(|_| Unknown::Invalid)?;
    let claims = decode::<Map<String, Value>>(token, &key, &rules).map_err(|_| Unknown::Invalid)?.claims;
    let subject = claims.get(&config.subject).and_then(Value::as_str);
    let subject = subject.filter(|subject| !subject.is_empty() && subject.len() <= LONGEST);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // It may have a fraction (RFC 7519, section 2). A time that is too far away for the clock is none.
    let seconds = claims.get("exp").and_then(Value::as_f64);
    let ends = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds + f64::from(LEEWAY)).ok());
    Ok(Caller {
        subject: subject.ok_or(Unknown::Invalid)?.into(),
        valid_for: ends.map(|ends| ends.saturating_sub(now)),
    })
}

/// Whether a key has the full length of its type. The verifier panics on a shorter key of this type.
fn is_whole(key: &Jwk) -> bool {
    match &key.algorithm {
        // 32 bytes in base64url.
        AlgorithmParameters::OctetKeyPair(key) => key.x.len() == 43,
        _ => true,
    }
}

impl Identity for Bearer {
    fn identify<'a>(&'a self, head: &'a HeaderMap, token: Option<&'a str>) -> Answer<'a> {
        Box::pin(async move {
            let mut values = head.get_all(header::AUTHORIZATION).iter();
            let token = match (values.next(), values.next()) {
                (Some(value), None) => {
                    let value = value.to_str().map_err(|_| Unknown::Invalid)?;
                    let (scheme, token) = value.split_once(' ').ok_or(Unknown::Invalid)?;
                    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim()).ok_or(Unknown::Invalid)?
                }
                (Some(_), Some(_)) => return Err(Unknown::Invalid),
                (None, _) => token.ok_or(Unknown::Missing)?,
            };
            self.check(token).await
        })
    }

    fn is_ready(&self) -> std::pin::Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(async { self.keys(None).await.is_ok() })
    }
}

#[cfg(test)]
mod tests {
    use jsonwebtoken::{Algorithm, EncodingKey, encode};
    use serde_json::json;

    use super::*;
    use crate::config::{Config, IdentityConfig};

    fn config() -> BearerConfig {
        let text = "listen = \"127.0.0.1:0\"\n[identity.bearer]\njwks = \"https://id.example.com/\"\nissuer = \"i\"\n\
                    audience = \"a\"\nalgorithms = [\"EdDSA\", \"ES256\"]\n[upstream.a]\nprotocol = \"aap\"\nurl = \"http://a\"\n";
        let IdentityConfig::Bearer(config) = Config::parse(text).expect("a config").identity else {
            panic!("another identity")
        };
        config
    }

    #[test]
    fn a_token_ends_at_its_time_whether_that_has_a_fraction_or_not() {
        let pair = rcgen::KeyPair::generate().expect("a key");
        let key = EncodingKey::from_ec_der(&pair.serialize_der());
        let keys = JwkSet { keys: vec![Jwk::from_encoding_key(&key, Algorithm::ES256).expect("a key")] };
        let config = config();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time");
        let left = |end: Value| {
            let claims = json!({ "sub": "ann", "iss": "i", "aud": "a", "exp": end });
            let token = encode(&Header::new(Algorithm::ES256), &claims, &key).expect("a token");
            let caller = judge(&token, &allowed(&token, &config)?, &keys, &config)?;
            Ok(caller.stays().as_secs_f64())
        };
        for end in [json!(now.as_secs() + 5), json!(now.as_secs_f64().floor() + 5.5)] {
            let left = left(end.clone()).expect("a caller");
            assert!(left > 50.0 && left < 66.0, "{end}: {left}");
        }
        assert_eq!(left(json!(u64::MAX)), Ok(crate::identity::LONGEST.as_secs_f64()));
        assert_eq!(left(json!(now.as_secs_f64().floor() - 99.5)), Err(Unknown::Invalid));
    }

    #[test]
    fn a_key_that_is_too_short_is_none() {
        let config = config();
        // The head is {"alg":"EdDSA"}.
        let token = "eyJhbGciOiJFZERTQSJ9.e30.AAAA";
        let head = allowed(token, &config).expect("a head");
        for x in
            ["11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcH", "", "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"]
        {
            let keys = format!("{{\"keys\":[{{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"{x}\"}}]}}");
            let keys: JwkSet = serde_json::from_str(&keys).expect("keys");
            assert_eq!(judge(token, &head, &keys, &config), Err(Unknown::Invalid), "{x}");
        }
    }
}
