//! The keys that service account tokens are signed and verified with.

use std::path::Path;

use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256};

use super::files::{PUBLIC, SECRET, read, write};
use crate::Error;
use crate::options::AuthenticationOptions;

/// Keys of service account tokens, in PEM.
#[derive(Clone)]
pub struct ServiceAccountKeys {
    /// The private key that signs, RSA or ECDSA.
    pub signing: Vec<u8>,
    /// Public keys that verify, or private ones whose public half does.
    pub verifying: Vec<Vec<u8>>,
}

impl ServiceAccountKeys {
    /// The keys of the flags; without them `sa.key` and `sa.pub` of the directory, made on the first start. They are ECDSA keys: an
    /// RSA key takes longer to make than the whole first start may.
    pub(super) fn prepare(directory: &Path, options: &AuthenticationOptions) -> Result<Self, Error> {
        let signing = match &options.service_account_signing_key_file {
            Some(path) => read(path)?,
            None => own_key(directory)?,
        };
        let mut verifying =
            options.service_account_key_files.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
        if verifying.is_empty() {
            verifying.push(signing.clone());
        }
        Ok(ServiceAccountKeys { signing, verifying })
    }
}

fn own_key(directory: &Path) -> Result<Vec<u8>, Error> {
    let path = directory.join("sa.key");
    if path.exists() {
        return read(&path);
    }
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
    let (public, private) = (key.public_key_pem(), key.serialize_pem());
    write(&directory.join("sa.pub"), public.as_bytes(), PUBLIC)?;
    write(&path, private.as_bytes(), SECRET)?;
    Ok(private.into_bytes())
}

impl std::fmt::Debug for ServiceAccountKeys {
    /// Shows no key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServiceAccountKeys").field("verifying", &self.verifying.len()).finish_non_exhaustive()
    }
}
