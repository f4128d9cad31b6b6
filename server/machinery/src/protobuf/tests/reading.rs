//! Tests decoding of messages that upstream accepts but does not write, and the errors of those
//! that it rejects.

use super::types::*;
use super::{Error, decoded, encoded, unhex};
use crate::limits::{MAX_DEPTH, MAX_STORED_DEPTH};
use crate::protobuf::decode_body;
use crate::reflect::Mut;
use crate::scalar::{IntOrString, MicroTime, Time};

#[test]
fn unknown_fields_are_skipped() {
    // Number 100 as varint, 64 bit, bytes, nested groups and 32 bit, then the name.
    let fields = "a006ff01 a1060000000000000000 a20603616263 a306 0801 a306 a406 a406 a50600000000 0a0161";
    assert_eq!(decoded::<Sysctl>(&unhex(fields)).unwrap().name, "a");
}

#[test]
fn the_last_scalar_wins_and_messages_merge() {
    let sysctl: Sysctl = decoded(b"\x0a\x01a\x12\x01v\x0a\x01b").unwrap();
    assert_eq!((sysctl.name.as_str(), sysctl.value.as_str()), ("b", "v"));

    let volume: Volume = decoded(&unhex("12041202 0a00 120912 07 12050a03314769")).unwrap();
    assert_eq!(volume.source.empty_dir.unwrap().size_limit, Some("1Gi".parse().unwrap()));

    let port: ServicePort = decoded(&unhex("220208012203 1a0161")).unwrap();
    assert_eq!(port.target_port, IntOrString::from("a"));
}

#[test]
fn the_last_entry_of_a_key_replaces() {
    let user: UserInfo = decoded(&unhex("22080a016112030a0131 22080a016112030a0132")).unwrap();
    assert_eq!(user.extra["a"].items, ["2"]);
    let absent: UserInfo = decoded(&unhex("22020801")).unwrap_or_default();
    assert!(absent.extra.is_empty());
    let no_key: UserInfo = decoded(&unhex("2200")).unwrap();
    assert!(no_key.extra[""].items.is_empty());
}

#[test]
fn packed_numbers_are_accepted() {
    let context: PodSecurityContext = decoded(&unhex("220401ac0203 2007")).unwrap();
    assert_eq!(context.supplemental_groups, [1, 300, 3, 7]);
}

#[test]
fn numbers_are_truncated_as_in_go() {
    let port: ServicePort = decoded(&unhex("1881808080 1028ffffffffffffffff7f")).unwrap();
    assert_eq!((port.port, port.node_port), (1, -1));
    assert!(decoded::<Odd>(&unhex("2802")).unwrap().flag);
}

#[test]
fn text_that_is_not_utf8_is_replaced() {
    assert_eq!(decoded::<Sysctl>(b"\x0a\x03a\xffb").unwrap().name, "a\u{fffd}b");
}

#[test]
fn nanoseconds_of_seconds_are_ignored() {
    let meta: ObjectMeta = decoded(&unhex("420408051007")).unwrap();
    assert_eq!(meta.creation_timestamp, Time::from_unix(5));
    let lease: LeaseSpec = decoded(&unhex("1a05080510d00f2200")).unwrap();
    assert_eq!((lease.acquire_time, lease.renew_time), (Some(MicroTime::from_unix(5, 2000)), Some(MicroTime::ZERO)));
}

#[test]
fn errors_match_upstream() {
    let check = |bytes: &str, expect: &str| {
        let error = decoded::<ServicePort>(&unhex(bytes)).unwrap_err();
        assert_eq!(error.to_string(), expect, "{bytes}");
    };
    check("0a", "unexpected EOF");
    check("0a05", "unexpected EOF");
    check("80", "unexpected EOF");
    check("1880", "unexpected EOF");
    check("18ffffffffffffffffffff", "proto: integer overflow");
    check("0affffffffffffffffff01", "proto: negative length found during unmarshaling");
    check("1a00", "proto: wrong wireType = 2 for field Port");
    check("0800", "proto: wrong wireType = 0 for field Name");
    check("2000", "proto: wrong wireType = 0 for field TargetPort");
    check("22020a00", "proto: wrong wireType = 2 for field Type");
    assert_eq!(
        decoded::<Volume>(&unhex("1000")).unwrap_err().to_string(),
        "proto: wrong wireType = 0 for field VolumeSource"
    );
    assert_eq!(
        decoded::<Secret>(&unhex("0800")).unwrap_err().to_string(),
        "proto: wrong wireType = 0 for field ObjectMeta"
    );
    assert_eq!(
        decoded::<ObjectMeta>(&unhex("2800")).unwrap_err().to_string(),
        "proto: wrong wireType = 0 for field UID"
    );
    check("00", "proto: ServicePort: illegal tag 0 (wire type 0)");
    check("0c", "proto: ServicePort: wiretype end group for non-group");
    check("a306", "unexpected EOF");
    check("a706", "proto: illegal wireType 7");
    check("a106000000", "unexpected EOF");
    assert_eq!(
        decoded::<EmptyDir>(&unhex("12030a0178")).unwrap_err().to_string(),
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    );
}

#[test]
fn depth_is_limited() {
    let nest = |depth: usize| {
        let mut odd = Odd::default();
        for _ in 1..depth {
            odd = Odd { not: Some(Box::new(odd)), ..Default::default() };
        }
        encoded(&odd)
    };
    assert!(decoded::<Odd>(&nest(MAX_STORED_DEPTH)).is_ok());
    assert!(matches!(decoded::<Odd>(&nest(MAX_STORED_DEPTH + 1)), Err(Error::TooDeep)));
    let body = |depth| decode_body(&nest(depth), Mut::of(&mut Odd::default()));
    assert!(body(MAX_DEPTH).is_ok());
    assert!(matches!(body(MAX_DEPTH + 1), Err(Error::TooDeep)));
}
