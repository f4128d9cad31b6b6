//! Envelope encryption with a KMS plugin, version 2 (KEP-3299): values are encrypted with keys that are derived from a seed, and the seed with
//! a key that never leaves the plugin. The plugin is asked when a seed is made, and when one is met for the first time.
//!
//! | file | part |
//! |---|---|
//! | `messages` | the plugin's API, and what is stored |
//! | `client` | calls of the plugin |
//! | `source` | a seed or data key as the plugin encrypted it |
//! | `plugin` | which seed is in use, whether the plugin is well |
//! | `envelope` | values |

mod client;
mod envelope;
mod messages;
mod plugin;
mod source;

pub(crate) use envelope::Envelope;
pub(crate) use plugin::{Plugin, Settings};
