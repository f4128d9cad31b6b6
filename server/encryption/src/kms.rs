//! Envelope encryption with a KMS plugin, version 2 (KEP-3299). Values are encrypted with keys derived
//! from a seed. The seed is encrypted with a key that never leaves the plugin. The plugin is called to
//! encrypt a new seed, and to decrypt a seed on its first use.
//!
//! | file | part |
//! |---|---|
//! | `messages` | the plugin's API, and the stored message |
//! | `client` | calls of the plugin |
//! | `source` | a seed or data key, encrypted by the plugin |
//! | `plugin` | the seed in use, the health of the plugin |
//! | `envelope` | encryption of values |

mod client;
mod envelope;
mod messages;
mod plugin;
mod source;

pub(crate) use envelope::EnvelopeTransformer;
pub(crate) use plugin::{KmsPlugin, Settings};
