//! Tests field errors against the messages of an upstream server of 1.36.

use super::*;

fn path() -> Path<'static> {
    Path::new("spec.x")
}

#[test]
fn errors_match_upstream() {
    let cases = [
        (FieldError::invalid(&path(), "y\n", "msg"), "spec.x: Invalid value: \"y\\n\": msg"),
        (FieldError::invalid(&path(), 5, "msg"), "spec.x: Invalid value: 5: msg"),
        (FieldError::invalid(&path(), true, ""), "spec.x: Invalid value: true"),
        (FieldError::invalid(&path(), BadValue::None, "msg"), "spec.x: Invalid value: null: msg"),
        (FieldError::invalid(&path(), BadValue::Omitted, "msg"), "spec.x: Invalid value: msg"),
        (
            FieldError::invalid(&path(), BadValue::Json("{\"a\":1}".into()), "msg"),
            "spec.x: Invalid value: {\"a\":1}: msg",
        ),
        (FieldError::invalid(&path(), BadValue::json_string("<"), "m"), "spec.x: Invalid value: \"\\u003c\": m"),
        (FieldError::invalid(&path(), BadValue::strings(&["a", "b"]), "m"), "spec.x: Invalid value: [\"a\",\"b\"]: m"),
        (FieldError::type_invalid(&path(), "y", "msg"), "spec.x: Invalid value: \"y\": msg"),
        (FieldError::required(&path(), ""), "spec.x: Required value"),
        (FieldError::required(&path(), "msg"), "spec.x: Required value: msg"),
        (FieldError::duplicate(&path(), "y"), "spec.x: Duplicate value: \"y\""),
        (FieldError::not_found(&path(), "y"), "spec.x: Not found: \"y\""),
        (
            FieldError::not_supported(&path(), "x", &["a", "b"]),
            "spec.x: Unsupported value: \"x\": supported values: \"a\", \"b\"",
        ),
        (FieldError::not_supported::<&str>(&path(), "x", &[]), "spec.x: Unsupported value: \"x\""),
        (FieldError::forbidden(&path(), "msg"), "spec.x: Forbidden: msg"),
        (FieldError::too_long(&path(), 63), "spec.x: Too long: may not be more than 63 bytes"),
        (FieldError::too_long(&path(), 1), "spec.x: Too long: may not be more than 1 byte"),
        (FieldError::too_long_characters(&path(), 2), "spec.x: Too long: may not be more than 2 characters"),
        (FieldError::too_short(&path(), "y", 1), "spec.x: Too short: must be at least 1 character"),
        (FieldError::too_many(&path(), Some(5), 4), "spec.x: Too many: 5: must have at most 4 items"),
        (FieldError::too_many(&path(), None, 1), "spec.x: Too many: must have at most 1 item"),
        (FieldError::too_few(&path(), 0, 1), "spec.x: Too few: 0: must have at least 1 item"),
        (FieldError::internal(&path(), "boom"), "spec.x: Internal error: boom"),
    ];
    for (error, expect) in cases {
        assert_eq!(error.to_string(), expect);
        assert_eq!(format!("spec.x: {}", error.body()), expect);
    }
    assert_eq!(FieldError::forbidden(&path(), "b").prefix_detail("a: ").body(), "Forbidden: a: b");
}

#[test]
fn shows_floats_as_go_does() {
    let cases = [
        (1.5, "1.5"),
        (0.0, "0"),
        (-3.0, "-3"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (1e20, "1e+20"),
        (1e21, "1e+21"),
        (123456789.0, "1.23456789e+08"),
        (1e6, "1e+06"),
        (999999.5, "999999.5"),
        (f64::NAN, "NaN"),
        (f64::INFINITY, "+Inf"),
    ];
    for (number, expect) in cases {
        assert_eq!(BadValue::from(number).to_string(), expect);
    }
}

#[test]
fn names_reasons() {
    assert_eq!(FieldError::required(&path(), "").error_type.reason(), "FieldValueRequired");
    assert_eq!(ErrorType::Internal.reason(), "InternalError");
    assert_eq!(ErrorType::TypeInvalid.reason(), "FieldValueTypeInvalid");
}

#[test]
fn aggregates_each_text_once() {
    let (a, b) = (FieldError::required(&path(), ""), FieldError::forbidden(&path(), ""));
    assert_eq!(aggregate(std::slice::from_ref(&a)), "spec.x: Required value");
    assert_eq!(aggregate(&[a.clone(), a.clone()]), "spec.x: Required value");
    assert_eq!(aggregate(&[a.clone(), b, a]), "[spec.x: Required value, spec.x: Forbidden]");
}
