//! The keys that service account tokens are signed and verified with.

use std::path::Path;
use std::sync::Arc;

use rsa::RsaPrivateKey;
use rsa::pkcs8::{EncodePrivateKey, EncodePublicKey, LineEnding};
use tokio::sync::watch;

use super::files::{PUBLIC, SECRET, read, write};
use crate::Error;
use crate::options::AuthenticationOptions;
use crate::tokens::{ServiceAccountKeys, SigningKey, TokenKeys, VerifyingKey};

/// Bits of a key of our own: what kubeadm makes.
const KEY_BITS: usize = 2048;

/// The keys of the flags; without them `sa.key` and `sa.pub` of the directory, which the first start begins to make: an RSA key takes longer than
/// the whole rest of it. No keys for a server that issues no tokens, and none as long as nobody has asked the signer of the flags for them.
pub(super) fn prepare(directory: &Path, options: &AuthenticationOptions) -> Result<ServiceAccountKeys, Error> {
    let mut verifying = Vec::new();
    for path in &options.service_account_key_files {
        let keys = VerifyingKey::from_pem(&read(path)?).map_err(|why| Error::content(path, why))?;
        verifying.extend(keys.into_iter().filter(|key| !verifying.contains(key)).collect::<Vec<_>>());
    }
    let own = directory.join("sa.key");
    let (sender, receiver) = watch::channel(None);
    let keys = ServiceAccountKeys::own(receiver);
    if options.service_account_issuers.is_empty() || options.service_account_signing_endpoint.is_some() {
        return Ok(keys);
    }
    match &options.service_account_signing_key_file {
        Some(path) => sender.send_replace(Some(Arc::new(TokenKeys::new(load(path)?, verifying, false)))),
        None if own.exists() => sender.send_replace(Some(Arc::new(TokenKeys::new(load(&own)?, verifying, true)))),
        None => {
            std::thread::spawn(move || make(&own, verifying, &sender));
            None
        }
    };
    Ok(keys)
}

fn load(path: &Path) -> Result<SigningKey, Error> {
    SigningKey::from_pem(&read(path)?).map_err(|why| Error::content(path, why))
}

fn make(path: &Path, verifying: Vec<VerifyingKey>, sender: &watch::Sender<Option<Arc<TokenKeys>>>) {
    let made = rsa_key().and_then(|(private, public)| {
        let key = SigningKey::from_pem(private.as_bytes())?;
        let written = write(&path.with_extension("pub"), public.as_bytes(), PUBLIC);
        written.and_then(|()| write(path, private.as_bytes(), SECRET)).map_err(|why| why.to_string())?;
        Ok(key)
    });
    match made {
        Ok(key) => drop(sender.send_replace(Some(Arc::new(TokenKeys::new(key, verifying, true))))),
        Err(why) => tracing::error!(why, "no key for service account tokens could be made"),
    }
}

/// Makes a signing key in a file at once: an elliptic one, which takes no time, for tests.
pub fn make_quick_key(path: &Path) -> Result<(), Error> {
    write(path, rcgen::KeyPair::generate()?.serialize_pem().as_bytes(), SECRET)
}

/// A new RSA key in PEM: its private half, and its public half.
pub(crate) fn rsa_key() -> Result<(String, String), String> {
    let key = RsaPrivateKey::new(&mut rsa::rand_core::OsRng, KEY_BITS).map_err(|why| why.to_string())?;
    let private = key.to_pkcs8_pem(LineEnding::LF).map_err(|why| why.to_string())?;
    let public = key.to_public_key().to_public_key_pem(LineEnding::LF).map_err(|why| why.to_string())?;
    Ok((private.to_string(), public))
}
