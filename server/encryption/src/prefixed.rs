//! Selection of a transformer by the prefix of the stored value: providers of a resource, keys of a provider
//! (`value.prefixTransformers`).

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;

use crate::failure::TransformFailure;
use crate::metrics::{Metrics, TransformDirection};
use crate::transformer::{DecryptedValue, Transformer, ValueContext};

/// Reads with the transformer that matches the prefix, and writes with the first one. Values of others
/// are stale.
pub(crate) struct Prefixed {
    choices: Vec<PrefixTransformer>,
    /// The error for a value without a matching prefix.
    unmatched: &'static str,
    metrics: Metrics,
}

/// A transformer and the prefix of the values that it writes.
#[derive(Clone)]
pub(crate) struct PrefixTransformer {
    /// Empty for unencrypted values.
    pub prefix: String,
    pub transformer: Arc<dyn Transformer>,
}

impl Prefixed {
    /// Creates a transformer; `choices` must not be empty.
    pub fn new(choices: Vec<PrefixTransformer>, unmatched: &'static str, metrics: Metrics) -> Self {
        Prefixed { choices, unmatched, metrics }
    }

    fn record(
        &self,
        context: ValueContext<'_>,
        direction: TransformDirection,
        prefix: &str,
        begun: Instant,
        status: Option<&TransformFailure>,
    ) {
        self.metrics.transformed(context.resource, direction, prefix, begun.elapsed(), status);
    }
}

#[async_trait]
impl Transformer for Prefixed {
    async fn read(&self, data: &[u8], context: ValueContext<'_>) -> Result<DecryptedValue, TransformFailure> {
        let begun = Instant::now();
        let mut failures = Vec::new();
        for (i, PrefixTransformer { prefix, transformer }) in self.choices.iter().enumerate() {
            let Some(rest) = data.strip_prefix(prefix.as_bytes()) else { continue };
            let outcome = transformer.read(rest, context).await;
            if prefix.is_empty() && outcome.is_err() {
                continue; // an encrypted value, which a later choice may have written
            }
            let name = if prefix.is_empty() { "identity" } else { prefix };
            self.record(context, TransformDirection::FromStorage, name, begun, outcome.as_ref().err());
            match outcome {
                Ok(plain) => return Ok(DecryptedValue { stale: plain.stale || i > 0, ..plain }),
                // The same provider may be listed twice, with other keys.
                Err(failure) => failures.push(failure),
            }
        }
        if let Some(failure) = TransformFailure::aggregate(failures) {
            return Err(failure);
        }
        let failure = TransformFailure::new(self.unmatched);
        self.record(context, TransformDirection::FromStorage, "unknown", begun, Some(&failure));
        Err(failure)
    }

    fn write(&self, value: &[u8], context: ValueContext<'_>) -> Result<Vec<u8>, TransformFailure> {
        let begun = Instant::now();
        let Some(PrefixTransformer { prefix, transformer }) = self.choices.first() else {
            return Err(TransformFailure::new(self.unmatched));
        };
        let outcome = transformer.write(value, context);
        self.record(context, TransformDirection::ToStorage, prefix, begun, outcome.as_ref().err());
        outcome.map(|stored| [prefix.as_bytes(), &stored].concat())
    }
}
