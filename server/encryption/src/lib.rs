//! Encryption at rest, in upstream's format: both servers can stand on one etcd and read what the other wrote
//! (upstream: `apiserver/pkg/storage/value`, `apiserver/pkg/server/options/encryptionconfig`).
//!
//! [`EncryptedStore`] stands between a store and its users, the watch cache among them: what they see is in the clear. An [`Encryption`]
//! says, by a file and by the resource that a key belongs to ([`KeySpace`]), which provider writes and which ones read.
//!
//! | file | part |
//! |---|---|
//! | `config`, `loaded`, `encryption` | the file, what it makes of each resource, its reload |
//! | `resources` | which resource a key is of, which rule a resource falls under |
//! | `providers`, `prefixed` | which provider and key wrote a value |
//! | `identity`, `cbc`, `gcm`, `secretbox`, `seed` | what they do to it |
//! | `kms` | keys that only a plugin has |

mod cbc;
mod config;
mod encryption;
mod failure;
mod gcm;
mod identity;
mod kms;
mod loaded;
mod metrics;
mod prefixed;
mod providers;
mod random;
mod resources;
mod secretbox;
mod seed;
mod store;
mod transformer;

pub use encryption::Encryption;
pub use resources::{GroupResource, KeySpace};
pub use store::EncryptedStore;

#[cfg(test)]
mod tests;
