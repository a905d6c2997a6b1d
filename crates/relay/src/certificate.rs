//! The certificate of a relay that serves HTTPS without a proxy. Its files are read again at intervals, as they change.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{Error, ServerConfig};

use crate::config::TlsConfig;
use crate::say::say;

/// How often the files are read again.
const RENEWAL: Duration = Duration::from_mins(1);

/// Why the files cannot be used.
#[derive(Debug)]
pub(crate) struct Unusable {
    /// The config key that names the file.
    pub(crate) key: &'static str,
    /// What is wrong with that file.
    pub(crate) text: String,
}

impl TlsConfig {
    /// Reads the files.
    pub(crate) fn certified(&self) -> Result<CertifiedKey, Unusable> {
        let chain = CertificateDer::pem_file_iter(&self.cert).and_then(Iterator::collect);
        let chain: Vec<CertificateDer<'_>> = chain.map_err(|error| unread("cert", &self.cert, error))?;
        if chain.is_empty() {
            return Err(unread("cert", &self.cert, pem::Error::NoItemsFound));
        }
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(|error| unread("key", &self.key, error))?;
        CertifiedKey::from_der(chain, key, &default_provider()).map_err(|error| match error {
            Error::InconsistentKeys(_) => {
                Unusable { key: "key", text: "it is not the key of the certificate in `cert`".to_owned() }
            }
            Error::InvalidCertificate(problem) => Unusable { key: "cert", text: problem.to_string() },
            other => Unusable { key: "key", text: other.to_string() },
        })
    }
}

/// A file that cannot be read. Its content is not repeated, as it may be the key.
fn unread(key: &'static str, path: &Path, error: pem::Error) -> Unusable {
    let problem = match error {
        pem::Error::Io(error) => error.to_string(),
        _ => "no such part in PEM, which begins with -----BEGIN".to_owned(),
    };
    Unusable { key, text: format!("{}: {problem}", path.display()) }
}

/// A certificate in use.
#[derive(Debug)]
pub(crate) struct Certificate {
    files: TlsConfig,
    current: RwLock<Arc<CertifiedKey>>,
}

impl Certificate {
    /// Reads the files for the first time.
    pub(crate) fn open(files: &TlsConfig) -> Result<Arc<Self>, Unusable> {
        let current = RwLock::new(Arc::new(files.certified()?));
        Ok(Arc::new(Self { files: files.clone(), current }))
    }

    /// Accepts connections with this certificate, for HTTP/2 and HTTP/1.1.
    pub(crate) fn acceptor(self: &Arc<Self>) -> TlsAcceptor {
        let provider = Arc::new(default_provider());
        let versions = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let mut config = versions
            .expect("the provider has both versions")
            .with_no_client_auth()
            .with_cert_resolver(self.clone());
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Arc::new(config).into()
    }

    /// Reads the files again at intervals.
    pub(crate) async fn renew(self: Arc<Self>) {
        loop {
            sleep(RENEWAL).await;
            self.read_again();
        }
    }

    /// Takes the current files, or keeps the last certificate if they cannot be used.
    fn read_again(&self) {
        match self.files.certified() {
            Ok(key) => *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(key),
            Err(Unusable { key, text }) => {
                say(format_args!("tls.{key}: {text}; the last certificate stays"));
            }
        }
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.current.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

#[cfg(all(test, feature = "product"))]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    /// The files of a new certificate.
    fn write(folder: &Path) -> TlsConfig {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        let files = TlsConfig { cert: folder.join("cert.pem"), key: folder.join("key.pem") };
        fs::write(&files.cert, made.cert.pem()).expect("written");
        fs::write(&files.key, made.signing_key.serialize_pem()).expect("written");
        files
    }

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("turnwire-relay-tls-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    #[test]
    fn each_mistake_names_its_key_and_shows_nothing_of_the_file() {
        let (folder, other) = (scratch("mistakes"), scratch("other"));
        let (files, others) = (write(&folder), write(&other));
        let garbage = folder.join("garbage.pem");
        fs::write(&garbage, "a secret").expect("written");
        let absent = folder.join("absent.pem");
        for (cert, key, expected) in [
            (&absent, &files.key, ("cert", "No such file")),
            (&garbage, &files.key, ("cert", "-----BEGIN")),
            (&files.cert, &garbage, ("key", "-----BEGIN")),
            (&files.cert, &files.cert, ("key", "-----BEGIN")),
            (&files.cert, &others.key, ("key", "not the key of the certificate")),
        ] {
            let problem =
                TlsConfig { cert: cert.clone(), key: key.clone() }.certified().expect_err("a mistake");
            assert_eq!(problem.key, expected.0);
            assert!(problem.text.contains(expected.1), "{}", problem.text);
            assert!(!problem.text.contains("secret"), "{}", problem.text);
        }
        for folder in [folder, other] {
            fs::remove_dir_all(folder).expect("removed");
        }
    }

    #[test]
    fn a_renewed_certificate_is_taken_and_a_broken_one_is_not() {
        let folder = scratch("renewed");
        let files = write(&folder);
        let certificate = Certificate::open(&files).expect("usable");
        let shown = || certificate.current.read().expect("unbroken").cert[0].to_vec();
        let first = shown();
        write(&folder);
        certificate.read_again();
        let second = shown();
        assert_ne!(first, second);
        fs::write(&files.cert, "half a file").expect("written");
        certificate.read_again();
        assert_eq!(shown(), second);
        fs::remove_dir_all(folder).expect("removed");
    }
}
