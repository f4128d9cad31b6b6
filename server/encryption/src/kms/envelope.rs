//! Encryption of values with a plugin's seeds.

use std::sync::Arc;

use async_trait::async_trait;

use super::plugin::KmsPlugin;
use super::source::Encrypted;
use crate::failure::TransformFailure;
use crate::metrics::TransformDirection;
use crate::transformer::{DecryptedValue, Transformer, ValueContext};

pub(crate) struct EnvelopeTransformer(pub Arc<KmsPlugin>);

#[async_trait]
impl Transformer for EnvelopeTransformer {
    async fn read(&self, data: &[u8], context: ValueContext<'_>) -> Result<DecryptedValue, TransformFailure> {
        let EnvelopeTransformer(plugin) = self;
        let (data, source) = Encrypted::split(data)?;
        let current = plugin.current()?;
        let reader = plugin.reader(&source).await?;
        plugin.metrics.key_used(TransformDirection::FromStorage, &plugin.name, &source.key_id);
        let DecryptedValue { value, stale } = reader.read(&data, context).await?;
        let Encrypted { key_id, source_type, .. } = &current.source;
        Ok(DecryptedValue { value, stale: stale || source.key_id != *key_id || source.source_type != *source_type })
    }

    fn write(&self, value: &[u8], context: ValueContext<'_>) -> Result<Vec<u8>, TransformFailure> {
        let EnvelopeTransformer(plugin) = self;
        let current = plugin.current()?;
        current.check_expiry()?;
        let data = current.seed.write(value, context)?;
        plugin.metrics.key_used(TransformDirection::ToStorage, &plugin.name, &current.source.key_id);
        Ok(current.source.join(data))
    }
}
