//! Validation of the signer's FetchKeys response (upstream: `getTokenVerificationKeys`).

use std::collections::HashSet;
use std::time::{Duration, Instant};

use prost_types::Timestamp;

use super::messages::{FetchKeysResponse, Key};
use crate::Error;
use crate::tokens::keys::VerifyingKey;
use crate::tokens::token_keys::TokenKeys;

/// The maximum length of a key ID, in bytes.
const MAX_KEY_ID_LENGTH: usize = 1024;
/// The seconds of the years 1 to 9999 (`timestamppb.Timestamp.CheckValid`).
const YEARS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// Returns the keys and their data timestamp.
pub(super) fn read(response: FetchKeysResponse) -> Result<(TokenKeys, Timestamp), Error> {
    let hint = response.refresh_hint_seconds;
    let hint = match u64::try_from(hint) {
        Ok(seconds @ 1..) => Duration::from_secs(seconds),
        _ => return Err(Error::RefreshHint(hint)),
    };
    if response.keys.is_empty() {
        return Err(Error::NoKeys);
    }
    let time = check_time(response.data_timestamp).map_err(Error::doing("invalid data timestamp: proto"))?;
    let excluded = response.keys.iter().filter(|key| key.exclude_from_oidc_discovery).map(|key| key.key_id.clone());
    let excluded: HashSet<String> = excluded.collect();
    let keys = response.keys.into_iter().map(verifying).collect::<Result<_, _>>()?;
    let now = Instant::now();
    // A hint beyond the range of the clock is replaced by a long one.
    let expires = now.checked_add(hint).unwrap_or(now + Duration::from_secs(u64::from(u32::MAX)));
    Ok((TokenKeys::of_signer(keys, excluded, expires), time))
}

fn verifying(key: Key) -> Result<VerifyingKey, Error> {
    if key.key_id.is_empty() || key.key_id.len() > MAX_KEY_ID_LENGTH {
        return Err(Error::KeyId(key.key_id));
    }
    if key.key.is_empty() {
        return Err(Error::EmptyKey);
    }
    let read = VerifyingKey::from_spki(&key.key).map_err(Error::doing("while parsing external public keys"));
    read.map(|read| read.with_id(key.key_id))
}

fn check_time(timestamp: Option<Timestamp>) -> Result<Timestamp, Error> {
    let time = timestamp.ok_or(Error::NoTimestamp)?;
    let Timestamp { seconds, nanos } = time;
    if seconds < *YEARS.start() {
        return Err(Error::EarlyTimestamp(seconds));
    }
    if seconds > *YEARS.end() {
        return Err(Error::LateTimestamp(seconds));
    }
    match nanos {
        0..1_000_000_000 => Ok(time),
        _ => Err(Error::TimestampNanos { seconds, nanos }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{KeyPair, PublicKeyData};

    fn key(id: &str, excluded: bool) -> Key {
        let key = KeyPair::generate().unwrap().subject_public_key_info();
        Key { key_id: id.into(), key, exclude_from_oidc_discovery: excluded }
    }

    fn response(keys: Vec<Key>, hint: i64, time: Option<i64>) -> FetchKeysResponse {
        let data_timestamp = time.map(|seconds| Timestamp { seconds, nanos: 0 });
        FetchKeysResponse { keys, data_timestamp, refresh_hint_seconds: hint }
    }

    #[test]
    fn assigns_key_ids_of_signer() {
        let (keys, time) = read(response(vec![key("new", false), key("old", true)], 60, Some(5))).unwrap();
        assert!(keys.has("new") && keys.has("old") && keys.has("") && !keys.has("other"));
        assert_eq!(keys.published().map(|key| key.id.as_str()).collect::<Vec<_>>(), ["new"]);
        assert!(keys.is_excluded("old") && time.seconds == 5);
        assert!((50..=60).contains(&keys.max_age().as_secs()));
    }

    #[test]
    fn rejects_invalid_responses() {
        let of = |key: Key| response(vec![key], 1, Some(0));
        for (response, expect) in [
            (response(vec![key("a", false)], 0, Some(0)), "found invalid refresh hint (0s)"),
            (response(vec![key("a", false)], -1, Some(0)), "found invalid refresh hint (-1s)"),
            (response(vec![], 1, Some(0)), "found no keys"),
            (response(vec![key("a", false)], 1, None), "invalid data timestamp: proto: invalid nil Timestamp"),
            (of(key("", false)), "found invalid public key id \"\""),
            (of(Key { key: Vec::new(), ..key("a", false) }), "found empty public key"),
        ] {
            assert_eq!(read(response).unwrap_err().to_string(), expect);
        }
        let why = read(of(Key { key: b"no key".to_vec(), ..key("a", false) })).unwrap_err().to_string();
        assert!(why.starts_with("while parsing external public keys: "), "{why}");
    }
}
