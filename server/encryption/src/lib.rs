//! Encryption at rest in upstream's format: both servers can use the same etcd and read each other's values
//! (upstream: `apiserver/pkg/storage/value`, `apiserver/pkg/server/options/encryptionconfig`).
//!
//! [`EncryptedStore`] wraps a store; its users, the watch cache included, get plaintext. An
//! [`Encryption`] determines the providers for reads and writes from a configuration file and the
//! resource of a key ([`KeySpace`]).
//!
//! | file | part |
//! |---|---|
//! | `config`, `loaded`, `encryption` | the file, the transformers of each resource, reload |
//! | `resources` | the resource of a key, the rule of a resource |
//! | `providers`, `prefixed` | selection of the provider and the key of a value |
//! | `identity`, `cbc`, `gcm`, `secretbox`, `seed` | the ciphers |
//! | `kms` | keys in a KMS plugin |

#![deny(clippy::missing_errors_doc)]

mod cbc;
mod config;
mod encryption;
mod error;
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
pub use error::{Error, HealthError};
pub use failure::TransformFailure;
pub use resources::{GroupResource, KeySpace};
pub use store::EncryptedStore;

#[cfg(test)]
mod tests;
