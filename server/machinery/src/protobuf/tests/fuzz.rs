//! Tests that no input makes the decoder panic, and that decoded values round-trip.

use super::golden::secret;
use super::types::*;
use super::{decoded, encoded};
use crate::reflect::Struct;

/// The random number generator xorshift64: every run has the same inputs.
pub(super) struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

pub(super) fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        match random.below(4) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, random.below(256) as u8),
            2 if at < bytes.len() => bytes[at] = random.below(256) as u8,
            _ if at < bytes.len() => bytes[at] = bytes[at].wrapping_add(1),
            _ => {}
        }
    }
}

fn check<T: Struct + PartialEq + std::fmt::Debug>(seed: &T) -> usize {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let seed = encoded(seed);
    let mut read = 0;
    for _ in 0..20_000 {
        let mut bytes = seed.clone();
        mutate(&mut random, &mut bytes);
        if let Ok(value) = decoded::<T>(&bytes) {
            let again = encoded(&value);
            // NaN is not equal to itself, so the encodings are compared.
            assert_eq!(decoded::<T>(&again).map(|v| encoded(&v)), Ok(again));
            read += 1;
        }
    }
    read
}

#[test]
pub(super) fn mutated_objects() {
    let odd = Odd {
        ratio: 2.0,
        maximum: Some(3.0),
        flags: vec![true],
        default: Some("[1]".into()),
        choices: vec!["1".into()],
        counts: [("a".into(), 7)].into(),
        properties: [("p".into(), Odd::default())].into(),
        all_of: vec![Odd::default()],
        ..Default::default()
    };
    let lease = LeaseSpec { acquire_time: Some(crate::scalar::MicroTime::from_unix(1, 2000)), ..Default::default() };
    assert!(check(&secret()) > 100);
    assert!(check(&odd) > 100);
    assert!(check(&lease) > 100);
    assert!(check(&ServicePort { name: "a".into(), port: 3, ..Default::default() }) > 100);
}

#[test]
fn random_bytes() {
    let mut random = Random(42);
    for _ in 0..20_000 {
        let bytes: Vec<u8> = (0..random.below(40)).map(|_| random.below(256) as u8).collect();
        let _ = decoded::<Secret>(&bytes);
        let _ = decoded::<Odd>(&bytes);
    }
}
