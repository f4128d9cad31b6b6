//! Loading and generation of the keys for service account tokens.

use std::path::Path;
use std::sync::Arc;

use authn::tokens::{ServiceAccountKeys, SigningKey, TokenKeys, VerifyingKey};
use options::AuthenticationOptions;
use rsa::RsaPrivateKey;
use rsa::pkcs8::{EncodePrivateKey, EncodePublicKey, LineEnding};
use tokio::sync::watch;

use super::files::{PUBLIC, SECRET, read, write};
use crate::Error;

/// The size of a generated key, in bits (as in kubeadm).
const KEY_BITS: usize = 2048;

/// Loads the keys of the flags or, without flags, `sa.key` and `sa.pub` of the directory.
///
/// If `sa.key` is missing, the keys are generated in a background thread, because generating an RSA key takes longer
/// than the rest of the startup. There are no keys if the server issues no tokens. With an external signer, there are
/// no keys until they are fetched from it.
pub(super) fn prepare(directory: &Path, options: &AuthenticationOptions) -> Result<ServiceAccountKeys, Error> {
    let mut verifying = Vec::new();
    for path in &options.service_account_key_files {
        let keys = VerifyingKey::from_pem(&read(path)?).map_err(|why| Error::content(path, why))?;
        verifying.extend(keys.into_iter().filter(|key| !verifying.contains(key)).collect::<Vec<_>>());
    }
    let generated = directory.join("sa.key");
    let (sender, receiver) = watch::channel(None);
    let keys = ServiceAccountKeys::local(receiver);
    if options.service_account_issuers.is_empty() || options.service_account_signing_endpoint.is_some() {
        return Ok(keys);
    }
    match &options.service_account_signing_key_file {
        Some(path) => sender.send_replace(Some(Arc::new(TokenKeys::new(load(path)?, verifying, false)))),
        None if generated.exists() => {
            sender.send_replace(Some(Arc::new(TokenKeys::new(load(&generated)?, verifying, true))))
        }
        None => {
            std::thread::spawn(move || generate(&generated, verifying, &sender));
            None
        }
    };
    Ok(keys)
}

fn load(path: &Path) -> Result<SigningKey, Error> {
    SigningKey::from_pem(&read(path)?).map_err(|why| Error::content(path, why))
}

/// Generates and stores the keys, and sends them.
fn generate(path: &Path, verifying: Vec<VerifyingKey>, sender: &watch::Sender<Option<Arc<TokenKeys>>>) {
    let key = generate_rsa_key().and_then(|(private, public)| {
        let key = SigningKey::from_pem(private.as_bytes())?;
        write(&path.with_extension("pub"), public.as_bytes(), PUBLIC)?;
        write(path, private.as_bytes(), SECRET)?;
        Ok(key)
    });
    match key {
        Ok(key) => drop(sender.send_replace(Some(Arc::new(TokenKeys::new(key, verifying, true))))),
        Err(why) => {
            tracing::error!(%why, "cannot generate the signing key for service account tokens; token requests fail")
        }
    }
}

/// Writes a new ECDSA signing key to a file. For tests: an RSA key takes seconds.
///
/// # Errors
/// The file cannot be written.
pub fn generate_ecdsa_key(path: &Path) -> Result<(), Error> {
    write(path, rcgen::KeyPair::generate()?.serialize_pem().as_bytes(), SECRET)
}

/// Generates an RSA key. Returns the private and the public key in PEM.
fn generate_rsa_key() -> Result<(String, String), Error> {
    let key = RsaPrivateKey::new(&mut rsa::rand_core::OsRng, KEY_BITS)?;
    let private = key.to_pkcs8_pem(LineEnding::LF)?;
    let public = key.to_public_key().to_public_key_pem(LineEnding::LF)?;
    Ok((private.to_string(), public))
}
