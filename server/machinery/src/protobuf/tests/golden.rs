//! Tests that encoding equals upstream's byte for byte, and that decoding inverts it.

use bytes::Bytes;

use super::types::*;
use super::{assert_bytes, decoded, encoded, unhex};
use crate::reflect::Struct;
use crate::scalar::{Duration, FieldsV1, IntOrString, MicroTime, RawExtension, Time};

fn check<T: Struct + PartialEq + std::fmt::Debug>(value: T, expect: &str) {
    assert_bytes(&encoded(&value), &unhex(expect));
    assert_eq!(decoded::<T>(&unhex(expect)), Ok(value));
}

pub(crate) fn secret() -> Secret {
    let mine = ManagedFieldsEntry {
        manager: "m".into(),
        time: Some(Time::from_unix(-1)),
        fields_v1: Some(FieldsV1::from(r#"{"f:a":{}}"#)),
        ..Default::default()
    };
    let empty =
        ManagedFieldsEntry { time: Some(Time::ZERO), fields_v1: Some(FieldsV1::default()), ..Default::default() };
    Secret {
        metadata: ObjectMeta {
            name: "s".into(),
            namespace: "default".into(),
            generation: 7,
            creation_timestamp: Time::from_unix(1_700_000_000),
            labels: [("b", ""), ("a", "1")].map(|(k, v)| (k.into(), v.into())).into(),
            managed_fields: vec![mine, empty],
            ..Default::default()
        },
        immutable: Some(true),
        data: [("z", &b""[..]), ("é", &[0, 255]), ("a", b"x")].map(|(k, v)| (k.into(), Bytes::from_static(v))).into(),
        r#type: "Opaque".into(),
    }
}

#[test]
fn plain_scalars_are_always_written() {
    check(ServicePort::default(), "0a00120018002206080010001a002800");
    check(
        ServicePort {
            name: "http".into(),
            protocol: "TCP".into(),
            port: 80,
            target_port: "web".into(),
            node_port: -1,
            app_protocol: None,
        },
        "0a0468747470120354435018502209080110001a0377656228ffffffffffffffffff01",
    );
    check(
        ServicePort {
            port: 300,
            target_port: IntOrString::Int(-5),
            app_protocol: Some(String::new()),
            ..Default::default()
        },
        "0a00120018ac02220f080010fbffffffffffffffff011a0028003200",
    );
}

#[test]
fn lists_are_not_packed() {
    check(
        PodSecurityContext {
            run_as_user: Some(0),
            run_as_non_root: Some(false),
            supplemental_groups: vec![1, 300, -1],
            sysctls: vec![Sysctl { name: "a".into(), value: "b".into() }, Sysctl::default()],
        },
        "10001800200120ac0220ffffffffffffffffff013a060a01611201623a040a001200",
    );
    check(PodSecurityContext::default(), "");
}

#[test]
fn maps_are_in_order_of_keys() {
    let limits = [("memory", "1536Mi"), ("cpu", "100m"), ("z", "0")];
    check(
        ResourceRequirements {
            limits: limits.map(|(k, v)| (k.into(), v.parse().unwrap())).into(),
            requests: Default::default(),
        },
        "0a0d0a0363707512060a043130306d0a120a066d656d6f727912080a06313533364d690a080a017a12030a0130",
    );
}

#[test]
fn a_whole_object() {
    check(
        secret(),
        "0a6b0a017312001a0764656661756c7422002a003200380742080880e2cfaa0610005a060a01611201315a050a016212008a01280a016d12001a00220d08\
         ffffffffffffffffff01100032003a0c0a0a7b22663a61223a7b7d7d42008a010e0a0012001a00220032003a00420012060a016112017812050a017a1200\
         12080a02c3a9120200ff1a064f70617175652801",
    );
}

#[test]
fn times() {
    check(
        LeaseSpec {
            holder_identity: Some("h".into()),
            lease_duration_seconds: Some(-2),
            acquire_time: Some(MicroTime::from_unix(1_700_000_000, 123_456_789)),
            renew_time: Some(MicroTime::ZERO),
            lease_transitions: None,
        },
        "0a016810feffffffffffffffff011a0b0880e2cfaa06108094ef3a2200",
    );
    check(
        Odd { duration: Duration::from_nanos(1_500_000_000), ..Default::default() },
        "0a060880dea0cb051100000000000000002800",
    );
}

#[test]
fn raw_values() {
    let meta = "0a100a0012001a0022002a0032003800 4200";
    let revision =
        ControllerRevision { data: RawExtension::from(r#"{"a":1}"#), revision: 1 << 40, ..Default::default() };
    check(revision, &format!("{meta}12090a077b2261223a317d18808080808020"));
    check(ControllerRevision::default(), &format!("{meta}12001800"));
}

#[test]
fn lists_in_maps_are_messages() {
    let extra = |items: &[&str]| ExtraValue { items: items.iter().map(|s| s.to_string()).collect() };
    check(
        UserInfo {
            username: "u".into(),
            uid: String::new(),
            groups: vec![String::new(), "g".into()],
            extra: [("b".into(), extra(&[])), ("a".into(), extra(&["1", "2"]))].into(),
        },
        "0a017512001a001a0167220b0a016112060a01310a013222050a01621200",
    );
}

#[test]
fn inlined_structs_are_messages() {
    let empty_dir = EmptyDir { medium: "Memory".into(), size_limit: Some("1Gi".parse().unwrap()) };
    check(
        Volume { name: "v".into(), source: VolumeSource { empty_dir: Some(Box::new(empty_dir)) } },
        "0a01761211120f0a064d656d6f727912050a03314769",
    );
    check(Volume::default(), "0a001200");
}

#[test]
fn floats_are_fixed_and_numbers_may_be_large() {
    let leaf = Odd { flag: true, flags: vec![true, false], ..Default::default() };
    check(
        Odd {
            ratio: 1.5,
            maximum: Some(-0.25),
            all_of: vec![leaf],
            counts: [("a".into(), 0)].into(),
            ..Default::default()
        },
        "0a020800 11000000000000f83f 19000000000000d0bf 2800 4a050a0161 1000 c23e 13 0a020800 110000000000000000 2801 3001 3000",
    );
}

#[test]
fn omits_fields_without_number() {
    let odd = Odd { kind: "Odd".into(), ..Default::default() };
    assert_eq!(encoded(&odd), encoded(&Odd::default()));
}

#[test]
fn encode_appends_to_buffer() {
    let mut out = b"before".to_vec();
    super::encode(crate::reflect::Ref::of(&Sysctl { name: "x".repeat(100_000), value: "y".into() }), &mut out);
    assert_eq!(out.len(), 6 + 1 + 3 + 100_000 + 3);
    assert!(out.starts_with(b"before\x0a\xa0\x8d\x06xx") && out.ends_with(b"x\x12\x01y"));
}
