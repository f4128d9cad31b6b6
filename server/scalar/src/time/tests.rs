//! Tests times against the results of an upstream server of 1.36.

use super::*;

#[test]
fn options_cost_nothing() {
    assert_eq!(size_of::<Option<Time>>(), 8);
    assert_eq!(size_of::<Option<MicroTime>>(), 8);
    assert!(Time::from_unix(-1) < Time::from_unix(0) && Time::from_unix(0) < Time::from_unix(1));
}

#[test]
fn reads_and_prints_seconds() {
    let cases = [
        ("2024-02-29T23:59:59Z", "2024-02-29T23:59:59Z"),
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
        ("2024-01-01T00:00:00+02:00", "2023-12-31T22:00:00Z"),
        ("2024-01-01T00:00:00-00:30", "2024-01-01T00:30:00Z"),
        ("2024-01-01T00:00:00.999999999Z", "2024-01-01T00:00:00Z"),
        ("2024-01-01T00:00:00.5Z", "2024-01-01T00:00:00Z"),
        ("2024-01-01T00:00:00,123Z", "2024-01-01T00:00:00Z"),
        ("2024-01-01T5:00:00Z", "2024-01-01T05:00:00Z"),
        ("2024-01-01T00:00:00+24:60", "2023-12-30T23:00:00Z"),
        ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
    ];
    for (text, expect) in cases {
        assert_eq!(Time::parse(text).unwrap().to_string(), expect, "{text}");
    }
    for (seconds, expect) in [(i64::MAX, "9999-12-31T23:59:59Z"), (i64::MIN, "0000-01-01T00:00:00Z")] {
        let time = Time::from_unix(seconds);
        assert_eq!((time.to_string().as_str(), Time::parse(expect)), (expect, Ok(time)));
        assert_eq!(Time::from_unix(0).saturating_add(seconds), time);
    }
}

#[test]
fn errors_match_go() {
    const SECONDS: &str = "2006-01-02T15:04:05Z07:00";
    let mismatches = [
        ("", "", "2006"),
        ("yesterday", "yesterday", "2006"),
        ("2024", "", "-"),
        ("2024-1-01T00:00:00Z", "1-01T00:00:00Z", "01"),
        ("2024-01-01 00:00:00Z", " 00:00:00Z", "T"),
        ("2024-01-01T00:00:00", "", "Z07:00"),
        ("2024-01-01T00:00:00+0200", "+0200", "Z07:00"),
        ("2024-01-01T00:00:00 02:00", " 02:00", "Z07:00"),
    ];
    for (text, rest, element) in mismatches {
        let expect = format!("parsing time \"{text}\" as \"{SECONDS}\": cannot parse \"{rest}\" as \"{element}\"");
        assert_eq!(Time::parse(text).unwrap_err().to_string(), expect);
    }
    let messages = [
        ("2024-13-01T00:00:00Z", ": month out of range"),
        ("2024-02-30T00:00:00Z", ": day out of range"),
        ("2023-02-29T00:00:00Z", ": day out of range"),
        ("2024-01-01T24:00:00Z", ": hour out of range"),
        ("2024-01-01T00:60:00Z", ": minute out of range"),
        ("2024-01-01T00:00:60Z", ": second out of range"),
        ("2024-01-01T00:00:00+25:00", ": time zone offset hour out of range"),
        ("2024-01-01T00:00:00+00:61", ": time zone offset minute out of range"),
        ("2024-01-01T00:00:00Zé", ": extra text: \"\\xc3\\xa9\""),
    ];
    for (text, message) in messages {
        let shown = text.replace('é', "\\xc3\\xa9");
        assert_eq!(Time::parse(text).unwrap_err().to_string(), format!("parsing time \"{shown}\"{message}"));
    }
}

#[test]
fn reads_and_prints_microseconds() {
    let cases = [
        ("2024-01-01T00:00:00.000000Z", "2024-01-01T00:00:00.000000Z"),
        ("2024-01-01T00:00:00.123456Z", "2024-01-01T00:00:00.123456Z"),
        ("2024-01-01T00:00:00.000001+01:00", "2023-12-31T23:00:00.000001Z"),
        ("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"),
        ("2024-01-01T00:00:00,123456Z", "2024-01-01T00:00:00.123456Z"),
    ];
    for (text, expect) in cases {
        assert_eq!(MicroTime::parse(text).unwrap().to_string(), expect, "{text}");
    }
    let mismatches = [
        ("2024-01-01T00:00:00Z", "Z", ".000000"),
        ("2024-01-01T00:00:00.123Z", ".123Z", ".000000"),
        ("2024-01-01T00:00:00.1234567Z", "7Z", "Z07:00"),
    ];
    for (text, rest, element) in mismatches {
        let layout = "2006-01-02T15:04:05.000000Z07:00";
        let expect = format!("parsing time \"{text}\" as \"{layout}\": cannot parse \"{rest}\" as \"{element}\"");
        assert_eq!(MicroTime::parse(text).unwrap_err().to_string(), expect);
    }
}

#[test]
fn carries_protobuf_timestamps() {
    let cases = [
        (0, 0, 0),
        (1, 999_999_999, 1_999_999),
        (-1, 1000, -999_999),
        (0, -1999, -1),
        (i64::MAX, 0, 253_402_300_799_999_999),
    ];
    for (seconds, nanos, micros) in cases {
        assert_eq!(MicroTime::from_unix(seconds, nanos).unix_micros(), micros);
    }
    assert_eq!(MicroTime::from_unix_micros(-1).unix(), (-1, 999_999_000));
    assert_eq!(Time::from(MicroTime::ZERO), Time::ZERO);
    assert_eq!(MicroTime::from(Time::ZERO), MicroTime::ZERO);
}

#[test]
fn zero_is_null_in_json() {
    assert_eq!(serde_json::to_string(&(Time::default(), MicroTime::default())).unwrap(), "[null,null]");
    assert_eq!(serde_json::from_str::<(Time, MicroTime)>("[null,null]").unwrap(), (Time::ZERO, MicroTime::ZERO));
    let text = "[\"2024-01-01T00:00:00Z\",\"2024-01-01T00:00:00.000000Z\"]";
    let times: (Time, MicroTime) = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&times).unwrap(), text);
    let mut out = Vec::new();
    Time::from_json("\"0001-01-01T00:00:00Z\"").unwrap().append_json(&mut out);
    MicroTime::from_json("null").unwrap().append_json(&mut out);
    Time::from_json("\"2024-01-01T00:00:00\\u005a\"").unwrap().append_json(&mut out);
    assert_eq!(String::from_utf8(out).unwrap(), "nullnull\"2024-01-01T00:00:00Z\"");
    let wrong = Time::from_json("5").unwrap_err().to_string();
    assert_eq!(wrong, "json: cannot unmarshal number into Go value of type string");
}
