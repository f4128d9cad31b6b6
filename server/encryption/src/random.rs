//! Nonces, initialization vectors and seeds from the system's random number generator.

use ring::rand::{SecureRandom, SystemRandom};

use crate::failure::TransformFailure;

/// Returns random bytes.
pub(crate) fn bytes<const LENGTH: usize>() -> Result<[u8; LENGTH], TransformFailure> {
    let mut bytes = [0; LENGTH];
    match SystemRandom::new().fill(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(_) => Err(TransformFailure::new("unable to read sufficient random bytes")),
    }
}
