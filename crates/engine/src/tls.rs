//! Configurations for rustls: trusted certificates, and our own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

/// Whose certificates are accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Trust {
    /// Those that the system's roots vouch for.
    #[default]
    System,
    /// Those that the roots in this PEM file, or in the PEM files of this directory, vouch for.
    Bundle(PathBuf),
    /// All: no check at all.
    Anything,
}

/// Files of a client certificate: certificate chain, private key (may be the same PEM file).
pub type Identity = (PathBuf, PathBuf);

/// Builds a configuration; sessions are resumed among all connections that share it. The error names the file.
pub(crate) fn config(trust: &Trust, identity: Option<&Identity>) -> Result<Arc<ClientConfig>, String> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let builder = match trust {
        Trust::Anything => builder.dangerous().with_custom_certificate_verifier(Arc::new(TrustAnything { provider })),
        Trust::System => builder.with_root_certificates(system_roots()?),
        Trust::Bundle(path) => builder.with_root_certificates(bundle_roots(path)?),
    };
    let config = match identity {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => builder
            .with_client_auth_cert(certificates(certificate)?, private_key(key)?)
            .map_err(|error| format!("client certificate {}: {error}", certificate.display()))?,
    };
    Ok(Arc::new(config))
}

fn system_roots() -> Result<RootCertStore, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        return Err(
            "no root certificates found on this system; install ca-certificates, or give verify a PEM file".into()
        );
    }
    Ok(roots)
}

fn bundle_roots(path: &Path) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    let found = if path.is_dir() { certificates_below(path)? } else { certificates(path)? };
    let (added, _) = roots.add_parsable_certificates(found);
    if added == 0 {
        return Err(format!("no certificate that can be used as a root in {}", path.display()));
    }
    Ok(roots)
}

/// Of all files of a directory, as OpenSSL's tools make them; other files may lie beside them.
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

/// Accepts every certificate, and still checks that the peer holds its key.
#[derive(Debug)]
struct TrustAnything {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for TrustAnything {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
