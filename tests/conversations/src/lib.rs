//! Replays recorded conversations with kube-apiserver on any API server, and compares the answers.
//!
//! The recordings stand in `tests/conformance`, whose `README.md` specifies their format. [`archive`] reads and writes
//! them, [`play`] sends a [`scenario`] to a server, [`run`] does so with many of them, [`digest`] compares OpenAPI
//! documents.
//!
//! `tests/differential` compares answers of two servers by the same [`compare`] and [`normalise`], and hides further
//! parts of answers that two servers cannot have in common. It has a player of its own, because it makes up requests,
//! decodes protobuf and deletes whatever was created.

pub mod archive;
pub mod body;
pub mod client;
pub mod compare;
pub mod digest;
pub mod error;
pub mod known;
pub mod normalise;
pub mod paths;
pub mod play;
pub mod report;
pub mod request;
pub mod run;
pub mod scenario;
pub mod stream;
pub mod text;
