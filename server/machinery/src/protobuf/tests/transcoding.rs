//! Tests that transcoding equals decoding and encoding for any bytes.

use super::fuzz::Random;
use super::golden::secret;
use super::types::*;
use super::{decoded, encoded, unhex};
use crate::json;
use crate::protobuf::{Error, object_to_json, to_json};
use crate::reflect::{Ref, Struct};

/// The JSON of a message by transcoding and by decoding and encoding, which must be equal.
fn transcoded<T: Struct>(raw: &[u8]) -> Result<String, Error> {
    let mut found = b"before".to_vec();
    let result = to_json(T::def(), raw, &mut found);
    let mut expect = b"before".to_vec();
    match decoded::<T>(raw) {
        Ok(value) => json::encode(Ref::of(&value), &mut expect),
        Err(error) => assert_eq!(result, Err(error)),
    }
    result?;
    assert_eq!(String::from_utf8_lossy(&found), String::from_utf8_lossy(&expect));
    Ok(String::from_utf8_lossy(&found[6..]).into_owned())
}

fn check<T: Struct>(value: &T, expect: &str) {
    assert_eq!(transcoded::<T>(&encoded(value)).as_deref(), Ok(expect));
}

fn odd() -> Odd {
    let leaf = Odd { flags: vec![true, false], bytes: (&b"\0\xff"[..]).into(), ..Default::default() };
    Odd {
        ratio: 2.5,
        maximum: Some(0.0),
        default: Some(r#"{ "a": [1, "<"] }"#.into()),
        choices: vec!["1".into(), "null".into()],
        counts: [("a".into(), 7), ("b".into(), 0)].into(),
        properties: [("p\"".into(), leaf.clone())].into(),
        not: Some(Box::default()),
        all_of: vec![leaf],
        ..Default::default()
    }
}

#[test]
fn fields_are_in_declaration_order() {
    let context = PodSecurityContext {
        run_as_user: Some(0),
        supplemental_groups: vec![3, -1],
        sysctls: vec![Sysctl { name: "a".into(), value: String::new() }],
        run_as_non_root: None,
    };
    check(&context, r#"{"sysctls":[{"name":"a","value":""}],"runAsUser":0,"supplementalGroups":[3,-1]}"#);
}

#[test]
fn inlined_structs_are_flat() {
    let empty_dir = EmptyDir { size_limit: Some("1024Mi".parse().unwrap()), ..Default::default() };
    let volume = Volume { name: "v".into(), source: VolumeSource { empty_dir: Some(Box::new(empty_dir)) } };
    check(&volume, r#"{"name":"v","emptyDir":{"sizeLimit":"1Gi"}}"#);
    check(&Volume::default(), r#"{"name":""}"#);
}

#[test]
fn every_shape() {
    for value in [odd(), Odd::default()] {
        transcoded::<Odd>(&encoded(&value)).unwrap();
    }
    transcoded::<Secret>(&encoded(&secret())).unwrap();
    let extra = ExtraValue { items: vec!["1".into()] };
    let user =
        UserInfo { extra: [("a".into(), extra), ("b".into(), ExtraValue::default())].into(), ..Default::default() };
    check(&user, r#"{"extra":{"a":["1"],"b":null}}"#);
    check(
        &ServicePort { port: 80, target_port: "http".into(), ..Default::default() },
        r#"{"port":80,"targetPort":"http"}"#,
    );
}

#[test]
fn absent_fields_decode_as_zero() {
    assert_eq!(transcoded::<Sysctl>(b"").as_deref(), Ok(r#"{"name":"","value":""}"#));
    assert!(transcoded::<Odd>(b"").unwrap().starts_with(r#"{"duration":"0s","ratio":0"#));
    transcoded::<ControllerRevision>(b"").unwrap();
    assert_eq!(transcoded::<UserInfo>(&unhex("2203 0a0161")).as_deref(), Ok(r#"{"extra":{"a":null}}"#));
}

#[test]
fn transcodes_encodings_that_upstream_never_writes() {
    let check =
        |raw: &str, expect: &str| assert_eq!(transcoded::<PodSecurityContext>(&unhex(raw)).as_deref(), Ok(expect));
    check("10011002", r#"{"runAsUser":2}"#);
    check("2202 0102 2003", r#"{"supplementalGroups":[1,2,3]}"#);
    check("2001 1001 2002 a00601", r#"{"runAsUser":1,"supplementalGroups":[1,2]}"#);
    let volume = transcoded::<Volume>(&unhex("12041202 0a00 1209 1207 12050a03314769"));
    assert_eq!(volume.as_deref(), Ok(r#"{"name":"","emptyDir":{"sizeLimit":"1Gi"}}"#));
    let extra = transcoded::<UserInfo>(&unhex("2205 0a0162 1200 2208 0a0161 12030a0131"));
    assert_eq!(extra.as_deref(), Ok(r#"{"extra":{"a":["1"],"b":null}}"#));
    assert_eq!(transcoded::<Sysctl>(b"\x0a\x01\xff").as_deref(), Ok("{\"name\":\"\u{fffd}\",\"value\":\"\"}"));
    assert_eq!(transcoded::<Sysctl>(b"\x08\x01").unwrap_err().to_string(), "proto: wrong wireType = 0 for field Name");
}

#[test]
fn kind_and_version_are_parameters() {
    for raw in [encoded(&secret()), b"\x0a\x02\x0a\x00\x0a\x00".to_vec()] {
        let (mut found, mut expect) = (Vec::new(), Vec::new());
        object_to_json("v1", "Secret", Secret::def(), &raw, &mut found).unwrap();
        json::encode_object("v1", "Secret", Ref::of(&decoded::<Secret>(&raw).unwrap()), &mut expect);
        assert_eq!(String::from_utf8(found), String::from_utf8(expect));
    }
}

#[test]
fn malformed_bytes_fail_like_decoding() {
    let mut random = Random(7);
    for seed in [encoded(&odd()), encoded(&secret())] {
        for _ in 0..5_000 {
            let mut raw = seed.clone();
            super::fuzz::mutate(&mut random, &mut raw);
            let _ = transcoded::<Odd>(&raw);
            let _ = transcoded::<Secret>(&raw);
        }
    }
}
