//! The messages of `proto/signer.proto`.

#![allow(clippy::all, clippy::pedantic, missing_docs, reason = "written by prost-build")]

include!(concat!(env!("OUT_DIR"), "/signer.rs"));
