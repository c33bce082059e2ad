//! TLS configurations: trusted certificates and client certificates.

mod identity;
mod messages;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore, SignatureScheme};

pub(crate) use messages::{NO_HTTP2, words};

/// The trusted certificates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Trust {
    /// Those issued by the system's roots.
    #[default]
    System,
    /// Those issued by the roots in this PEM file, or in the PEM files of this directory.
    Bundle(PathBuf),
    /// All certificates, without a check.
    Anything,
}

/// Files of a client certificate: certificate chain and private key (may be the same PEM file).
pub type Identity = (PathBuf, PathBuf);

/// Sessions that are kept for each certificate of a user: those of one server.
const SESSIONS: usize = 8;

/// The name of HTTP/2 in the handshake (ALPN).
pub(crate) const HTTP2: &[u8] = b"h2";

/// All kinds of signatures that a server may make. Those that ring cannot check are the reason for the list.
const EVERY_SCHEME: [SignatureScheme; 13] = [
    SignatureScheme::ECDSA_NISTP384_SHA384,
    SignatureScheme::ECDSA_NISTP256_SHA256,
    SignatureScheme::ED25519,
    SignatureScheme::RSA_PSS_SHA512,
    SignatureScheme::RSA_PSS_SHA384,
    SignatureScheme::RSA_PSS_SHA256,
    SignatureScheme::RSA_PKCS1_SHA512,
    SignatureScheme::RSA_PKCS1_SHA384,
    SignatureScheme::RSA_PKCS1_SHA256,
    SignatureScheme::ECDSA_NISTP521_SHA512,
    SignatureScheme::ED448,
    SignatureScheme::ECDSA_SHA1_Legacy,
    SignatureScheme::RSA_PKCS1_SHA1,
];

/// Builds a configuration. Connections that share it resume each other's sessions. The error names the file. `http2`:
/// it is the only protocol that is offered.
pub(crate) fn config(trust: &Trust, identity: Option<&Identity>, http2: bool) -> Result<Arc<ClientConfig>, String> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let roots = match trust {
        Trust::Anything => None,
        Trust::System => Some(Roots::new(system_certificates()?, &provider)?),
        Trust::Bundle(path) => {
            let given = Roots::new(bundle_certificates(path)?, &provider);
            Some(given.map_err(|error| format!("{}: {error}", path.display()))?)
        }
    };
    let verifier = Verifier { roots, provider: Arc::clone(&provider) };
    let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => builder.with_client_cert_resolver(identity::load(identity, &provider)?),
    };
    if http2 {
        config.alpn_protocols.push(HTTP2.into());
    }
    Ok(Arc::new(config))
}

/// The same configuration with another client certificate. Connections of the two share no session.
pub(crate) fn with_identity(config: &ClientConfig, identity: &Identity) -> Result<Arc<ClientConfig>, String> {
    let mut config = config.clone();
    config.client_auth_cert_resolver = identity::load(identity, config.crypto_provider())?;
    config.resumption = Resumption::in_memory_sessions(SESSIONS);
    Ok(Arc::new(config))
}

fn system_certificates() -> Result<Vec<CertificateDer<'static>>, String> {
    let found = rustls_native_certs::load_native_certs().certs;
    if found.is_empty() {
        return Err(
            "no root certificates found on this system; install ca-certificates, or give verify a PEM file".into()
        );
    }
    Ok(found)
}

fn bundle_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let found = if path.is_dir() { certificates_below(path)? } else { certificates(path)? };
    if found.is_empty() {
        return Err(format!("no certificate in {}", path.display()));
    }
    Ok(found)
}

/// The certificates in all files of a directory, in the layout of OpenSSL's tools. Other files are ignored.
fn certificates_below(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let entries = path.read_dir().map_err(|error| format!("certificates in {}: {error}", path.display()))?;
    let files = entries.flatten().map(|entry| entry.path()).filter(|file| file.is_file());
    Ok(files.filter_map(|file| certificates(&file).ok()).flatten().collect())
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let named = |error| format!("certificates in {}: {error}", path.display());
    CertificateDer::pem_file_iter(path).map_err(named)?.collect::<Result<_, _>>().map_err(named)
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, String> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| format!("private key in {}: {error}", path.display()))
}

/// Verifies a certificate, and that the peer has its private key.
///
/// Without roots, neither is looked at. A man in the middle could then show a certificate of his own, and sign with its
/// key: a check of the signature would keep nobody out. It would only refuse servers whose certificate webpki does not
/// parse (X.509 version 1), or whose key ring cannot check (RSA of 1024 bits, P-521).
#[derive(Debug)]
struct Verifier {
    /// None: accept every certificate.
    roots: Option<Roots>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(Roots { webpki, given }) = &self.roots else { return Ok(ServerCertVerified::assertion()) };
        match webpki.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(error) if is_an_issuers_own(&error) && given.iter().any(|each| each == end_entity) => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            Err(error) if is_untrusted(&error) => {
                let untrusted = Untrusted { is_self_signed: is_self_signed(end_entity) };
                Err(CertificateError::Other(OtherError(Arc::new(untrusted))).into())
            }
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        if self.roots.is_none() {
            return Ok(HandshakeSignatureValid::assertion());
        }
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        if self.roots.is_none() {
            return Ok(HandshakeSignatureValid::assertion());
        }
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        match self.roots {
            Some(_) => self.provider.signature_verification_algorithms.supported_schemes(),
            None => EVERY_SCHEME.into(),
        }
    }
}

/// Accepts certificates issued by the given ones, and the given ones themselves.
///
/// A self-signed certificate may be a CA (CA:TRUE, the default of `openssl req -x509`). webpki never accepts a CA
/// certificate from a server, even if it is trusted; OpenSSL does. Here it is accepted if it equals one of `given` byte
/// for byte, and only that check of webpki failed. webpki has checked its dates; this code checks its name.
#[derive(Debug)]
struct Roots {
    webpki: Arc<WebPkiServerVerifier>,
    given: Vec<CertificateDer<'static>>,
}

impl Roots {
    fn new(given: Vec<CertificateDer<'static>>, provider: &Arc<CryptoProvider>) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(given.iter().cloned());
        let webpki = WebPkiServerVerifier::builder_with_provider(roots.into(), Arc::clone(provider))
            .build()
            .map_err(|error| format!("no certificate that can be used as a root: {error}"))?;
        Ok(Roots { webpki, given })
    }
}

/// No trusted issuer for a certificate.
#[derive(Debug)]
struct Untrusted {
    is_self_signed: bool,
}

impl fmt::Display for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_self_signed { "self-signed certificate" } else { "certificate of an unknown issuer" };
        write!(f, "{what}: --insecure accepts it; SSL_CERT_FILE=ca.pem, or verify, names the issuer to trust")
    }
}

impl std::error::Error for Untrusted {}

fn is_untrusted(error: &rustls::Error) -> bool {
    matches!(error, rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer)) || is_an_issuers_own(error)
}

fn is_self_signed(certificate: &CertificateDer<'_>) -> bool {
    webpki::EndEntityCert::try_from(certificate).is_ok_and(|parsed| parsed.issuer() == parsed.subject())
}

/// Whether webpki refused a server's certificate because it is a CA certificate.
fn is_an_issuers_own(error: &rustls::Error) -> bool {
    let rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(reason))) = error else { return false };
    matches!(reason.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}
