//! Transformers of the providers of a configuration, with upstream's prefixes.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::cbc::Cbc;
use crate::config::{EncryptionKey, EncryptionKeys, KmsConfiguration, ProviderConfiguration};
use crate::error::Error;
use crate::failure::TransformFailure;
use crate::gcm::Gcm;
use crate::identity::Identity;
use crate::kms::{EnvelopeTransformer, KmsPlugin, Settings};
use crate::metrics::Metrics;
use crate::prefixed::{PrefixTransformer, Prefixed};
use crate::secretbox::Secretbox;
use crate::transformer::Transformer;

const AES: &str = "no matching key was found for the provided AES transformer";
const SECRETBOX: &str = "no matching key was found for the provided Secretbox transformer";

/// Creates transformers, and collects their plugins.
pub(crate) struct Providers<'m> {
    metrics: &'m Metrics,
    pub plugins: Vec<Arc<KmsPlugin>>,
}

type Transforms = Arc<dyn Transformer>;

impl<'m> Providers<'m> {
    pub fn new(metrics: &'m Metrics) -> Self {
        Providers { metrics, plugins: Vec::new() }
    }

    /// Returns the transformers of a list of providers.
    pub fn choices(&mut self, providers: &[ProviderConfiguration]) -> Result<Vec<PrefixTransformer>, Error> {
        providers.iter().map(|provider| self.choice(provider)).collect()
    }

    fn choice(&mut self, provider: &ProviderConfiguration) -> Result<PrefixTransformer, Error> {
        if let Some(keys) = &provider.aesgcm {
            let gcm = |key: Vec<u8>| Ok(Arc::new(Gcm::new(&key)?) as Transforms);
            return self.keyring("k8s:enc:aesgcm:v1:", keys, AES, gcm);
        }
        if let Some(keys) = &provider.aescbc {
            let cbc = |key: Vec<u8>| Ok(Arc::new(Cbc::new(key)) as Transforms);
            return self.keyring("k8s:enc:aescbc:v1:", keys, AES, cbc);
        }
        if let Some(keys) = &provider.secretbox {
            return self.keyring("k8s:enc:secretbox:v1:", keys, SECRETBOX, secretbox);
        }
        match &provider.kms {
            Some(kms) => self.kms(kms),
            None => Ok(PrefixTransformer { prefix: String::new(), transformer: Arc::new(Identity) }),
        }
    }

    /// Returns the transformer of a provider with keys; the prefix of each key is its name.
    fn keyring(
        &self,
        prefix: &str,
        keys: &EncryptionKeys,
        unmatched: &'static str,
        make: impl Fn(Vec<u8>) -> Result<Transforms, TransformFailure>,
    ) -> Result<PrefixTransformer, Error> {
        let choice = |key: &EncryptionKey| {
            let EncryptionKey { name, secret } = key;
            let secret = STANDARD.decode(secret);
            let secret = secret.map_err(|source| Error::Secret { name: name.clone(), source })?;
            let transformer = make(secret).map_err(|source| Error::Key { name: name.clone(), source })?;
            Ok(PrefixTransformer { prefix: format!("{name}:"), transformer })
        };
        let choices = keys.keys.iter().map(choice).collect::<Result<_, Error>>()?;
        let transformer = Arc::new(Prefixed::new(choices, unmatched, self.metrics.clone()));
        Ok(PrefixTransformer { prefix: prefix.into(), transformer })
    }

    fn kms(&mut self, kms: &KmsConfiguration) -> Result<PrefixTransformer, Error> {
        let KmsConfiguration { api_version, name, endpoint, timeout, .. } = kms;
        if api_version == "v1" {
            return Err(Error::FirstKmsVersion);
        }
        let timeout = Duration::from_nanos(u64::try_from(timeout.nanos()).unwrap_or_default());
        let plugin = Arc::new(KmsPlugin::new(&Settings { name, endpoint, timeout }, self.metrics.clone())?);
        self.plugins.push(plugin.clone());
        Ok(PrefixTransformer {
            prefix: format!("k8s:enc:kms:v2:{name}:"),
            transformer: Arc::new(EnvelopeTransformer(plugin)),
        })
    }
}

fn secretbox(key: Vec<u8>) -> Result<Transforms, TransformFailure> {
    let key = <[u8; 32]>::try_from(key).map_err(|key| {
        TransformFailure::new(format!("expected key size 32 for secretbox provider, got {}", key.len()))
    })?;
    Ok(Arc::new(Secretbox::new(&key)))
}
