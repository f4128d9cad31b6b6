//! Tests quantities against the results of an upstream server of 1.36.

use super::*;

fn quantity(text: &str) -> Quantity {
    Quantity::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

#[test]
fn fits_in_sixteen_bytes() {
    assert_eq!(size_of::<Quantity>(), 16);
}

#[test]
fn formats_in_canonical_form() {
    let cases = [
        // decimal SI
        ("0", "0"),
        ("0.1", "100m"),
        ("1000m", "1"),
        ("1000", "1k"),
        ("1001", "1001"),
        ("12345", "12345"),
        ("1000000", "1M"),
        ("0.5", "500m"),
        ("1.5", "1500m"),
        ("100m", "100m"),
        ("1500m", "1500m"),
        ("1E", "1E"),
        ("5u", "5u"),
        ("5n", "5n"),
        ("0.5n", "1n"),
        ("-0.5n", "-1n"),
        (".5", "500m"),
        ("1.", "1."),
        ("0.001k", "1"),
        ("00", "0"),
        ("-0", "0"),
        ("+", "0"),
        ("-", "0"),
        (".", "0"),
        ("0.0", "0"),
        ("0Ki", "0"),
        // binary SI
        ("1024Ki", "1Mi"),
        ("1.5Gi", "1536Mi"),
        ("1000Ki", "1000Ki"),
        ("128Mi", "128Mi"),
        ("0.5Ki", "512"),
        ("1Ki", "1Ki"),
        ("0.5Mi", "512Ki"),
        ("1.1Ki", "1126400m"),
        ("8Ei", "9223372036854775807"),
        ("-8Ei", "-9223372036854775807"),
        ("1Pi", "1Pi"),
        ("7Ei", "7Ei"),
        ("0.0001Ki", "102400u"),
        // decimal exponent
        ("1e3", "1e3"),
        ("1E3", "1E3"),
        ("1e-3", "1e-3"),
        ("12e6", "12e6"),
        ("1e4", "10e3"),
        ("1e-10", "1e-9"),
        ("E1", "0"),
        ("1e0", "1e0"),
        ("1000e0", "1e3"),
        ("1e+3", "1e+3"),
        ("1e2147483647", "10e2147483646"),
        // texts that upstream keeps although they are not canonical
        ("+1", "+1"),
        ("01", "01"),
        ("1.500", "1.500"),
        ("1.234", "1.234"),
        ("01Ki", "01Ki"),
        // exponents without a suffix lose it
        ("1000E", "1"),
        ("1234567890123456789E", "1234567890123456789E"),
        // more digits than an i64 holds
        ("99999999999999999999", "99999999999999999999"),
        ("100000000000000000000", "100E"),
        ("1.0000000000000000001", "1000000001n"),
    ];
    for (text, expect) in cases {
        assert_eq!(quantity(text).to_string(), expect, "{text:?}");
    }
}

#[test]
fn rejects_same_texts_as_upstream() {
    let cases = [
        ("", ScalarError::QuantityFormat),
        (" 1", ScalarError::QuantityFormat),
        ("1 ", ScalarError::QuantityFormat),
        ("abc", ScalarError::QuantityFormat),
        ("1,5", ScalarError::QuantityFormat),
        ("1.5.5", ScalarError::QuantityFormat),
        ("--1", ScalarError::QuantitySuffix),
        ("1é", ScalarError::QuantityFormat),
        ("1mm", ScalarError::QuantitySuffix),
        ("1e", ScalarError::QuantitySuffix),
        ("1K", ScalarError::QuantitySuffix),
        ("1ki", ScalarError::QuantitySuffix),
        ("1i", ScalarError::QuantitySuffix),
        ("1m5", ScalarError::QuantitySuffix),
        ("1e99999999999999999999", ScalarError::QuantitySuffix),
        (".e-10", ScalarError::QuantityNumeric),
        ("e-10", ScalarError::QuantityNumeric),
    ];
    for (text, expect) in cases {
        assert_eq!(Quantity::parse(text).err(), Some(expect), "{text:?}");
    }
    let endless = "1".repeat(5000);
    assert_eq!(Quantity::parse(&endless).err(), Some(ScalarError::QuantityNumeric));
}

#[test]
fn reads_json_literals() {
    let cases = [("\"1\"", "1"), ("1.5", "1500m"), ("1e3", "1e3"), ("null", "0"), ("\" 5Gi \"", "5Gi"), ("10", "10")];
    for (literal, expect) in cases {
        assert_eq!(Quantity::from_json(literal).unwrap().to_string(), expect, "{literal}");
    }
    assert_eq!(Quantity::from_json("true").err(), Some(ScalarError::QuantityFormat));
    assert_eq!(serde_json::from_str::<Quantity>("\"0.1\"").unwrap(), quantity("100m"));
    assert_eq!(serde_json::from_str::<Quantity>("2").unwrap(), quantity("2"));
    assert_eq!(serde_json::to_string(&quantity("0.1")).unwrap(), "\"100m\"");
}

#[test]
fn compares_numbers_and_not_texts() {
    let ascending =
        ["-1e30", "-8Ei", "-1", "-1n", "0", "1n", "1m", "999m", "1", "1001m", "1Ki", "1e18", "9e18", "1e30"];
    for (i, a) in ascending.iter().enumerate() {
        for (j, b) in ascending.iter().enumerate() {
            assert_eq!(quantity(a).cmp(&quantity(b)), i.cmp(&j), "{a} {b}");
        }
    }
    for (a, b) in [("1", "1000m"), ("1Ki", "1024"), ("1e3", "1k"), ("100000000000000000000", "100e18"), ("+1", "1")] {
        assert_eq!(quantity(a), quantity(b));
    }
}

#[test]
fn rounds_values_up() {
    let cases = [
        ("100m", 1, 100),
        ("1", 1, 1000),
        ("1.1", 2, 1100),
        ("-1.5", -2, -1500),
        ("1Ki", 1024, 1_024_000),
        ("0", 0, 0),
        ("1u", 1, 1),
        ("-1u", -1, -1),
        ("1e30", 0, 0),
        ("1.1Ki", 1127, 1_126_400),
    ];
    for (text, value, milli) in cases {
        let quantity = quantity(text);
        assert_eq!((quantity.value(), quantity.milli_value()), (value, milli), "{text}");
    }
    assert_eq!(quantity("5").as_i64(), Some(5));
    assert_eq!(quantity("5k").as_i64(), Some(5000));
    assert_eq!(quantity("1500m").as_i64(), None);
    assert_eq!(quantity("1e30").as_i64(), None);
    assert_eq!(quantity("1.5").as_approximate_f64(), 1.5);
}

#[test]
fn calculates() {
    let sums = [
        ("1", "1", "2", "0"),
        ("100m", "900m", "1", "-800m"),
        ("1Gi", "1Mi", "1025Mi", "1023Mi"),
        ("0", "1Ki", "1Ki", "-1Ki"),
        ("1", "1Ki", "1025", "-1023"),
        ("9223372036854775807", "1", "9223372036854775808", "9223372036854775806"),
        ("1e2147483647", "1", "10e2147483646", "10e2147483646"),
        ("+1", "0", "1", "1"),
    ];
    for (a, b, sum, difference) in sums {
        let mut added = quantity(a);
        added.add(&quantity(b));
        assert_eq!(added.to_string(), sum, "{a} + {b}");
        let mut subtracted = quantity(a);
        subtracted.sub(&quantity(b));
        assert_eq!(subtracted.to_string(), difference, "{a} - {b}");
    }
    let mut product = quantity("1.5Gi");
    product.mul(2);
    assert_eq!(product.to_string(), "3Gi");
    product.mul(i64::MAX);
    assert_eq!(product.cmp(&quantity("1e28")), Ordering::Greater);
    product.neg();
    assert_eq!(product.sign(), Ordering::Less);
}

#[test]
fn rounds_up_in_place() {
    let cases = [
        ("1234567n", scale::MILLI, "2m", false),
        ("1500m", scale::MILLI, "1500m", true),
        ("+1", scale::MILLI, "+1", true),
        ("0.1m", scale::MILLI, "1m", false),
        ("-0.1m", scale::MILLI, "-1m", false),
        ("1.1Ki", 0, "1127", false),
    ];
    for (text, scale, expect, exact) in cases {
        let mut quantity = quantity(text);
        assert_eq!(quantity.round_up(scale), exact, "{text}");
        assert_eq!(quantity.to_string(), expect, "{text}");
    }
}
