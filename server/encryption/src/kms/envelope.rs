//! Encryption of values with a plugin's seeds.

use std::sync::Arc;

use async_trait::async_trait;

use super::plugin::Plugin;
use super::source::Encrypted;
use crate::failure::Failure;
use crate::metrics::Direction;
use crate::transformer::{Context, Plain, Transformer};

pub(crate) struct Envelope(pub Arc<Plugin>);

#[async_trait]
impl Transformer for Envelope {
    async fn read(&self, data: &[u8], context: Context<'_>) -> Result<Plain, Failure> {
        let Envelope(plugin) = self;
        let (data, source) = Encrypted::split(data)?;
        let current = plugin.current()?;
        let reader = plugin.reader(&source).await?;
        plugin.metrics.key_used(Direction::FromStorage, &plugin.name, &source.key_id);
        let Plain { value, stale } = reader.read(&data, context).await?;
        let Encrypted { key_id, source_type, .. } = &current.source;
        Ok(Plain { value, stale: stale || source.key_id != *key_id || source.source_type != *source_type })
    }

    fn write(&self, value: &[u8], context: Context<'_>) -> Result<Vec<u8>, Failure> {
        let Envelope(plugin) = self;
        let current = plugin.current()?;
        current.check_expiry()?;
        let data = current.seed.write(value, context)?;
        plugin.metrics.key_used(Direction::ToStorage, &plugin.name, &current.source.key_id);
        Ok(current.source.join(data))
    }
}
