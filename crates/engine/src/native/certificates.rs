//! Origins of users with client certificates of their own.

use std::sync::Arc;

use plimsoll_scenario::{Certificates, Target};

use crate::origin::{Origin, OriginError};

/// A target's origins: one for each certificate. Users with the same one have the same origin.
#[derive(Debug)]
pub(super) struct OwnOrigins {
    certificates: Certificates,
    /// By the files of the certificates.
    origins: Box<[Arc<Origin>]>,
}

impl OwnOrigins {
    /// Loads the certificates. None if the target has none for each user, or no TLS. `shared`: its origin without one.
    pub(super) fn new(target: &Target, shared: &Origin) -> Result<Option<OwnOrigins>, OriginError> {
        let Some(certificates) = target.certificates.clone() else { return Ok(None) };
        let mut origins = Vec::with_capacity(certificates.files().len());
        for files in certificates.files() {
            let Some(origin) = shared.with_identity(files)? else { return Ok(None) };
            origins.push(Arc::new(origin));
        }
        Ok(Some(OwnOrigins { certificates, origins: origins.into() }))
    }

    /// That of the user with this number.
    #[inline]
    pub(super) fn of(&self, user: u64) -> &Arc<Origin> {
        &self.origins[self.certificates.of(user)]
    }
}
