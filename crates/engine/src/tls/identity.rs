//! The client's own certificate.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{Error, InconsistentKeys};

use super::{Identity, certificates, private_key};

/// The curve P-521 (1.3.132.0.35) in DER, as keys name it.
const P_521: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x23];

/// Reads the chain and the key. The error names the file.
///
/// `with_client_auth_cert` would refuse what webpki does not parse, such as certificates of X.509 version 1. Only the
/// server has to understand the certificate, so here it is sent as it is; a key that does not belong to it is refused.
pub(super) fn load((chain, key): &Identity, provider: &CryptoProvider) -> Result<Arc<SingleCertAndKey>, String> {
    let certificates = certificates(chain)?;
    if certificates.is_empty() {
        return Err(format!("no certificate in {}", chain.display()));
    }
    let der = private_key(key)?;
    let signing = provider.key_provider.load_private_key(der.clone_key()).map_err(|_| unusable(key, &der))?;
    let certified = CertifiedKey::new(certificates, signing);
    if let Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) = certified.keys_match() {
        return Err(format!("the key in {} is not that of the certificate in {}", key.display(), chain.display()));
    }
    Ok(Arc::new(SingleCertAndKey::from(certified)))
}

fn unusable(path: &Path, key: &PrivateKeyDer<'_>) -> String {
    let is_p521 = key.secret_der().windows(P_521.len()).any(|part| part == P_521);
    let what = if is_p521 { " is of the curve P-521, which" } else { "" };
    let path = path.display();
    format!("the key in {path}{what} cannot sign here; use RSA of 2048 to 4096 bits, P-256, P-384 or Ed25519")
}
