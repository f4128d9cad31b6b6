//! Tests encoding and decoding.

use super::fixture::v1::{Pod, Schema};
use super::*;
use crate::limits::{MAX_DEPTH, MAX_STORED_DEPTH};
use crate::reflect::{Mut, Ref};

fn decoded(text: &str) -> (Result<Pod, Error>, Option<String>) {
    let mut pod = Pod::default();
    let mut issues = Issues::collect();
    let result = decode(text.as_bytes(), Mut::of(&mut pod), &mut issues);
    (result.map(|()| pod), strict_error(&issues))
}

fn encoded(pod: &Pod) -> String {
    let mut out = Vec::new();
    encode(Ref::of(pod), &mut out);
    String::from_utf8(out).unwrap()
}

/// Documents round-trip unchanged.
#[test]
fn round_trips() {
    let empty = r#"{"metadata":{},"spec":{"ports":null}}"#;
    assert_eq!(encoded(&Pod::default()), empty);
    let spec = |inner: &str| format!(r#"{{"metadata":{{}},"spec":{{{inner}}}}}"#);
    let texts = [
        empty.into(),
        r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","creationTimestamp":"2020-01-02T03:04:05Z","labels":{"a":"","b":"c"}},"spec":{"ports":null}}"#.into(),
        spec(r#""replicas":0,"paused":true,"big":-9223372036854775808,"ratio":1.5,"ports":[{"name":"p","port":0,"targetPort":"http","path":""},{"port":1,"targetPort":5}]"#),
        spec(r#""ports":null,"named":{"a":{"port":1,"targetPort":0},"b":{"port":2,"targetPort":0}},"args":["","x"],"limits":{"cpu":"100m"}"#),
        spec(r#""ports":null,"data":{"a":"","b":"AAE="},"bundle":"/w==","micro":"2020-01-02T03:04:05.000006Z","timeout":"1m0s","raw":{"a":[1,2.5]},"any":0,"extra":{"a":["x"]}"#),
        r#"{"metadata":{},"spec":{"ports":null},"schema":{"type":"object","items":{"type":"a"},"additionalProperties":false,"dependencies":{"a":["b"],"c":{"type":"x"}}}}"#.into(),
        r#"{"metadata":{},"spec":{"ports":null},"schema":{"items":[{"type":"a"},{}],"additionalProperties":{"type":"b"}}}"#.into(),
    ];
    for text in texts {
        let (pod, strict) = decoded(&text);
        let pod = pod.unwrap();
        assert_eq!(encoded(&pod), text);
        assert_eq!(strict, None);
        // The same through serde, and through a tree.
        assert_eq!(serde_json::from_str::<Pod>(&text).unwrap(), pod, "{text}");
        assert_eq!(serde_json::to_string(&pod).unwrap(), text);
        let mut again = Pod::default();
        from_value(&to_value(Ref::of(&pod)), Mut::of(&mut again), &mut Issues::ignore()).unwrap();
        assert_eq!(again, pod);
    }
}

#[test]
fn escapes_as_go_does() {
    let mut pod = Pod::default();
    pod.metadata.name = "<a>&\u{2028}\"\\\n\t\u{1}é".into();
    pod.spec.raw = "{ \"a\" : \"< b\" }".into();
    let text = encoded(&pod);
    assert!(text.contains(r#""name":"\u003ca\u003e\u0026\u2028\"\\\n\t\u0001é""#), "{text}");
    assert!(text.contains(r#""raw":{"a":"\u003c b"}"#), "{text}");
    let (back, _) = decoded(&text);
    assert_eq!(back.unwrap().metadata.name, pod.metadata.name);
}

#[test]
fn names_version_and_kind_of_an_object() {
    let (pod, _) = decoded(r#"{"kind":"X","apiVersion":"y","metadata":{"name":"a"}}"#);
    let mut out = Vec::new();
    encode_object("v1", "Pod", Ref::of(&pod.unwrap()), &mut out);
    assert_eq!(
        String::from_utf8(out).unwrap(),
        r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{"ports":null}}"#
    );
}

#[test]
fn prints_pretty() {
    let (pod, _) = decoded(r#"{"metadata":{"name":"a {\"}:,"},"spec":{"ports":[{"port":1}],"raw":[]}}"#);
    let mut out = Vec::new();
    encode_pretty(Ref::of(&pod.unwrap()), &mut out);
    let expect = "{\n  \"metadata\": {\n    \"name\": \"a {\\\"}:,\"\n  },\n  \"spec\": {\n    \"ports\": [\n      {\n        \"port\": 1,\n        \"targetPort\": 0\n      }\n    ],\n    \"raw\": []\n  }\n}";
    assert_eq!(String::from_utf8(out).unwrap(), expect);
}

#[test]
fn prints_floats_as_go_does() {
    let cases = [
        (0.0, "0"),
        (1.0, "1"),
        (-0.0, "-0"),
        (0.1, "0.1"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.5e-7, "1.5e-7"),
        (1e-6, "0.000001"),
        (f64::MAX, "1.7976931348623157e+308"),
    ];
    for (value, expect) in cases {
        let mut out = Vec::new();
        float(&mut out, value);
        assert_eq!(String::from_utf8(out).unwrap(), expect);
    }
}

/// Unusual documents that are accepted.
#[test]
fn accepts_same_documents_as_go() {
    let name = |text: &str| decoded(text).0.unwrap().metadata.name;
    assert_eq!(name(" {\n\t\"metadata\" : { \"name\" : \"a\" } }\r\n"), "a");
    assert_eq!(
        name(r#"{"metadata":{"name":"\u00e9\ud83d\ude00\ud800\udc00x\ud800y\/\b\f"}}"#),
        "é😀𐀀x\u{fffd}y/\u{8}\u{c}"
    );
    assert_eq!(name(r#"{"metadata":{"name":"a","name":null}}"#), "a");
    assert_eq!(name(r#"{"metadata":{"name":"a"},"metadata":null}"#), "a");
    assert_eq!(name(r#"{"metadata":{"name":"a"},"metadata":{"labels":{}}}"#), "a");
    assert_eq!(name("null"), "");
    let mut pod = Pod::default();
    decode(b"{\"metadata\":{\"name\":\"a\xff\xe2\x82z\"}}", Mut::of(&mut pod), &mut Issues::ignore()).unwrap();
    assert_eq!(pod.metadata.name, "a\u{fffd}\u{fffd}\u{fffd}z");
    let spec = |text: &str| encoded(&decoded(&format!("{{\"spec\":{text}}}")).0.unwrap());
    let expect = |inner: &str| format!(r#"{{"metadata":{{}},"spec":{{{inner}}}}}"#);
    assert_eq!(
        spec(r#"{"args":["a",null],"ports":[null]}"#),
        expect(r#""ports":[{"port":0,"targetPort":0}],"args":["a",""]"#)
    );
    assert_eq!(spec(r#"{"replicas":1,"replicas":null,"bundle":"aGk=\n"}"#), expect(r#""ports":null,"bundle":"aGk=""#));
    assert_eq!(spec(r#"{"bundle":[1,255]}"#), expect(r#""ports":null,"bundle":"Af8=""#));
    assert_eq!(spec(r#"{"limits":{"a":1,"b":null}}"#), expect(r#""ports":null,"limits":{"a":"1","b":"0"}"#));
    assert_eq!(spec(r#"{"any":null,"raw":null,"timeout":null}"#), expect(r#""ports":null"#));
}

#[test]
fn reports_strict_issues() {
    let cases = [
        (r#"{"foo":1,"metadata":{"Name":""}}"#, r#"unknown field "foo", unknown field "metadata.Name""#),
        (
            r#"{"spec":{"ports":[{},{"x":[{"y":1}]}],"named":{"a.b":{"x":1}}}}"#,
            r#"unknown field "spec.ports[1].x", unknown field "spec.named.a.b.x""#,
        ),
        (
            r#"{"metadata":{"name":"a","name":"b","labels":{"a":"","a":""}},"metadata":{"labels":{"a":"1"}}}"#,
            r#"duplicate field "metadata.name", duplicate field "metadata.labels.a", duplicate field "metadata""#,
        ),
        (r#"{"spec":{"raw":{"a":1,"a":2}},"schema":{"x":1,"items":{"x":1}}}"#, r#"unknown field "schema.x""#),
        (r#"{"é\"":1,"é\"":1}"#, r#"unknown field "é\"""#),
    ];
    for (text, expect) in cases {
        let (pod, strict) = decoded(text);
        assert!(pod.is_ok());
        assert_eq!(strict, Some(format!("strict decoding error: {expect}")), "{text}");
        decode(text.as_bytes(), Mut::of(&mut Pod::default()), &mut Issues::ignore()).unwrap();
    }
    let mut issues = Issues::collect();
    let value = parse(br#"{"a":{"b":1,"b":2},"c":[{"d":1,"d":1}]}"#, &mut issues).unwrap();
    assert_eq!(value, serde_json::json!({"a": {"b": 2}, "c": [{"d": 1}]}));
    assert_eq!(
        strict_error(&issues).unwrap(),
        r#"strict decoding error: duplicate field "a.b", duplicate field "c[0].d""#
    );
}

#[test]
fn errors_match_go() {
    let cases = [
        ("", "unexpected end of JSON input"),
        ("[]", "json: cannot unmarshal array into Go value of type v1.Pod"),
        (r#"{"kind":1}"#, "json: cannot unmarshal number into Go struct field Pod.TypeMeta.kind of type string"),
        (r#"{"spec":"x"}"#, "json: cannot unmarshal string into Go struct field Pod.spec of type v1.PodSpec"),
        (
            r#"{"spec":{"ports":{}}}"#,
            "json: cannot unmarshal object into Go struct field PodSpec.spec.ports of type []v1.ServicePort",
        ),
        (
            r#"{"spec":{"ports":[1]}}"#,
            "json: cannot unmarshal number into Go struct field PodSpec.spec.ports of type v1.ServicePort",
        ),
        (
            r#"{"spec":{"replicas":1.5}}"#,
            "json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.replicas of type int32",
        ),
        (
            r#"{"spec":{"replicas":1e3}}"#,
            "json: cannot unmarshal number 1e3 into Go struct field PodSpec.spec.replicas of type int32",
        ),
        (
            r#"{"spec":{"ports":[{"port":3000000000}]}}"#,
            "json: cannot unmarshal number 3000000000 into Go struct field ServicePort.spec.ports.port of type int32",
        ),
        (
            r#"{"spec":{"ports":[{"path":1}]}}"#,
            "json: cannot unmarshal number into Go struct field ServicePort.spec.ports.VolumeSource.path of type string",
        ),
        (
            r#"{"spec":{"named":{"k":{"targetPort":1.5}}}}"#,
            "json: cannot unmarshal number 1.5 into Go struct field ServicePort.spec.named.targetPort of type int32",
        ),
        (
            r#"{"metadata":{"labels":{"a":1}}}"#,
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            r#"{"metadata":{"labels":"a"}}"#,
            "json: cannot unmarshal string into Go struct field ObjectMeta.metadata.labels of type map[string]string",
        ),
        (
            r#"{"metadata":{"creationTimestamp":5}}"#,
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string",
        ),
        (
            r#"{"metadata":{"creationTimestamp":"x"}}"#,
            r#"parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006""#,
        ),
        (r#"{"spec":{"data":{"a":"*"}}}"#, "illegal base64 data at input byte 0"),
        (r#"{"spec":{"data":{"a":"aaa"}}}"#, "illegal base64 data at input byte 0"),
        (r#"{"spec":{"data":{"a":"aaaaaa="}}}"#, "illegal base64 data at input byte 7"),
        (
            r#"{"spec":{"limits":{"a":"x"}}}"#,
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        (r#"{"schema":{"additionalProperties":1}}"#, "boolean or JSON schema expected"),
        // The first of several type errors is reported, except that the error of a scalar's parser
        // stops decoding, and syntax errors take precedence.
        (
            r#"{"kind":1,"spec":2}"#,
            "json: cannot unmarshal number into Go struct field Pod.TypeMeta.kind of type string",
        ),
        (
            r#"{"kind":1,"metadata":{"creationTimestamp":""}}"#,
            r#"parsing time "" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "2006""#,
        ),
        (r#"{"kind":1,"x":tru}"#, "invalid character '}' in literal true (expecting 'e')"),
        (r#"{"metadata":{"creationTimestamp":""}"#, "unexpected end of JSON input"),
    ];
    for (text, expect) in cases {
        assert_eq!(decoded(text).0.unwrap_err().to_string(), expect, "{text}");
    }
}

#[test]
fn names_go_types_by_the_version_of_the_document() {
    let text = br#"{"spec":{"ports":"x"}}"#;
    let error = decode_version(text, "v1beta2", Mut::of(&mut Pod::default()), &mut Issues::ignore()).unwrap_err();
    let expect = "json: cannot unmarshal string into Go struct field PodSpec.spec.ports of type []v1beta2.ServicePort";
    assert_eq!(error.to_string(), expect);
}

#[test]
fn finds_version_and_kind() {
    let found = |text: &str| version_and_kind(text.as_bytes()).map_err(|error| error.to_string());
    assert_eq!(found(r#"{"a":{"kind":1},"kind":"Pod","apiVersion":"v1"}"#), Ok(("v1".into(), "Pod".into())));
    assert_eq!(found(r#"{"Kind":"Pod","apiversion":null}"#), Ok(("".into(), "Pod".into())));
    assert_eq!(found("null"), Ok(Default::default()));
    let wanted =
        r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;
    assert_eq!(found("[]"), Err(format!("json: cannot unmarshal array into Go value of type {wanted}")));
    let expect = "json: cannot unmarshal number into Go struct field .kind of type string";
    assert_eq!(found(r#"{"kind":1,"apiVersion":"v1"}"#), Err(expect.into()));
    assert_eq!(found(r#"{"kind":1"#), Err("unexpected end of JSON input".into()));
}

#[test]
fn syntax_errors_match_go() {
    let cases: &[(&[u8], &str)] = &[
        (b"", "unexpected end of JSON input"),
        (b"  ", "unexpected end of JSON input"),
        (b"{", "unexpected end of JSON input"),
        (b"{\"a\"", "unexpected end of JSON input"),
        (b"\"a", "unexpected end of JSON input"),
        (b"\"\\", "invalid character ' ' in string escape code"),
        (b"x", "invalid character 'x' looking for beginning of value"),
        (b"\xef\xbb\xbf{}", "invalid character '\u{ef}' looking for beginning of value"),
        (b"{'a':1}", "invalid character '\\'' looking for beginning of object key string"),
        (b"{\"a\":1,}", "invalid character '}' looking for beginning of object key string"),
        (b"{\"a\" 1}", "invalid character '1' after object key"),
        (b"{\"a\":1 \"b\"}", "invalid character '\"' after object key:value pair"),
        (b"[1 2]", "invalid character '2' after array element"),
        (b"[1,]", "invalid character ']' looking for beginning of value"),
        (b"{}}", "invalid character '}' after top-level value"),
        (b"01", "invalid character '1' after top-level value"),
        (b"-", "invalid character ' ' in numeric literal"),
        (b"1.x", "invalid character 'x' after decimal point in numeric literal"),
        (b"1ex", "invalid character 'x' in exponent of numeric literal"),
        (b"nul", "invalid character ' ' in literal null (expecting 'l')"),
        (b"nope", "invalid character 'o' in literal null (expecting 'u')"),
        (b"\"\x01\"", "invalid character '\\x01' in string literal"),
        (b"\"\\x\"", "invalid character 'x' in string escape code"),
        (b"\"\\u12g4\"", "invalid character 'g' in \\u hexadecimal character escape"),
    ];
    for (text, expect) in cases {
        assert_eq!(syntax_error(text).as_deref(), Some(*expect));
        assert!(!is_valid(text));
        assert_eq!(parse(text, &mut Issues::ignore()).unwrap_err().to_string(), *expect);
        assert_eq!(decode(text, Mut::of(&mut Pod::default()), &mut Issues::ignore()).unwrap_err().to_string(), *expect);
    }
    let deep = "[".repeat(MAX_STORED_DEPTH + 1);
    assert_eq!(syntax_error(deep.as_bytes()).unwrap(), "invalid character '[' exceeded max depth");
    let (open, close) = ("[".repeat(MAX_STORED_DEPTH), "]".repeat(MAX_STORED_DEPTH));
    assert!(is_valid(format!("{open}{close}").as_bytes()));
    assert!(decoded(&format!("{{\"x\":{}{}}}", &open[..MAX_DEPTH - 1], &close[..MAX_DEPTH - 1])).0.is_ok());
    let deep = format!("{}{}{}", "{\"schema\":{\"items\":", "{\"items\":".repeat(5000), "}".repeat(5002));
    assert!(decoded(&deep).0.is_err());
}

#[test]
fn numbers_of_trees_match_go() {
    let cases = [
        ("1", "1"),
        ("1.0", "1"),
        ("1e3", "1000"),
        ("9223372036854775807", "9223372036854775807"),
        ("9223372036854775808", "9223372036854776000"),
        ("1e21", "1e+21"),
        ("-0", "0"),
        ("[{\"b\":null,\"a\":true}]", "[{\"a\":true,\"b\":null}]"),
    ];
    for (text, expect) in cases {
        let mut out = Vec::new();
        encode_value(&parse(text.as_bytes(), &mut Issues::ignore()).unwrap(), &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expect);
    }
    assert_eq!(
        parse(b"1e999", &mut Issues::ignore()).unwrap_err().to_string(),
        "json: cannot unmarshal number 1e999 into Go value of type float64"
    );
}

#[test]
fn debug_text_omits_empty_fields() {
    let schema = Schema { kind: "x".into(), ..Default::default() };
    assert_eq!(format!("{schema:?}"), "JSONSchemaProps { type: \"x\" }");
}
