//! Fuzz targets for decoders of external input.
//!
//! The targets do not panic for any input, and re-encoding an accepted input gives the same value.
//! `targets/` passes these functions to libFuzzer; README.md describes the use. Every function
//! takes the bytes that libFuzzer generates.

mod codecs;
mod expressions;
mod patches;
mod recovery;
mod request_lines;
mod requests;
mod secrets;

pub use codecs::{aliases, cbor, json, protobuf, yaml};
pub use expressions::{cel, cel_chains, schemas, selectors, texts};
pub use patches::{field_sets, patch_sequences, patches};
pub use recovery::recovery;
pub use request_lines::requests;
pub use requests::{continue_tokens, html, spdy};
pub use secrets::{encrypted, tokens};

/// Returns the bytes that `write` appends to an empty buffer.
pub(crate) fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out);
    out
}

/// Ignores panics of a library whose caller turns them into errors; libFuzzer reports every panic
/// as a crash.
pub fn ignore_panics_of(library: &'static str) {
    let crash = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !panic.location().is_some_and(|at| at.file().contains(library)) {
            crash(panic);
        }
    }));
}
