//! Tests of Kubernetes' function libraries.

use cel::{CostBudget, Environment, Value, compile};

#[track_caller]
fn check(table: &[(&str, &str)]) {
    for (source, expect) in table {
        let outcome = match compile(source, &Environment::default()) {
            Err(error) => error.to_string(),
            Ok(program) => match program.evaluate(&[] as &[(&str, Value<'_>); 0], &mut CostBudget::default()) {
                Err(error) => error.to_string(),
                Ok(value) => value.to_json().map_or_else(|e| e.to_string(), |json| json.to_string()),
            },
        };
        assert_eq!(outcome, *expect, "{source}");
    }
}

#[test]
fn text() {
    check(&[
        ("'hello'.contains('ell') && 'hello'.startsWith('he') && 'hello'.endsWith('lo')", "true"),
        ("'tacocat'.charAt(3) + 'A b'.lowerAscii() + 'a b'.upperAscii()", "\"oa bA B\""),
        ("'hello hello'.replace('he', 'we', 1)", "\"wello hello\""),
        ("'a,b,c'.split(',', 2)", "[\"a\",\"b,c\"]"),
        ("'abc'.split('')", "[\"a\",\"b\",\"c\"]"),
        ("'tacocat'.substring(4) + 'tacocat'.substring(0, 4)", "\"cattaco\""),
        ("'abc'.substring(4)", "index out of range: 4"),
        ("' x '.trim() + ['a', 'b'].join('-')", "\"xa-b\""),
        ("'%s=%d %.2f %x'.format([dyn('n'), 5, 1.5, 255])", "\"n=5 1.50 ff\""),
        ("strings.quote('a\"b')", "\"\\\"a\\\\\\\"b\\\"\""),
        ("'tacocat'.indexOf('c') + 'tacocat'.lastIndexOf('a')", "7"),
        ("'abc 123'.find('[0-9]+') + string('a1b2'.findAll('[0-9]').size())", "\"1232\""),
        ("'abc'.matches('^a.c$')", "true"),
        (
            "'abc'.matches('(')",
            "ERROR: <input>:1:15: invalid matches argument\n | 'abc'.matches('(')\n | ..............^",
        ),
        ("jsonpatch.escapeKey('a/b~c')", "\"a~1b~0c\""),
        ("string(1.0) + string(1e100) + string(true) + string(b'x')", "\"11e+100truex\""),
    ]);
}

#[test]
fn lists_sets_and_time() {
    check(&[
        ("[1, 3, 2].isSorted() || [3, 1].max() != 3 || [1, 2].sum() != 3", "false"),
        ("[1, 2, 2].indexOf(2) + [1, 2, 2].lastIndexOf(2)", "3"),
        ("[].max()", "max called on empty list"),
        ("[3, 1, 2].sort().reverse() + [1, 1].distinct() + [[4]].flatten() + [1, 2, 3].slice(1, 2)", "[3,2,1,1,4,2]"),
        ("lists.range(3)", "[0,1,2]"),
        ("sets.contains([1, 2], [2]) && sets.equivalent([1, 2], [2, 1, 1]) && !sets.intersects([1], [2])", "true"),
        ("duration('1h30m').getMinutes()", "90"),
        ("timestamp('2026-11-21T20:15:01.5Z') + duration('1s')", "\"2026-11-21T20:15:02.5Z\""),
        ("timestamp('2026-11-21T23:15:00Z').getDayOfWeek('+02:00')", "0"),
        ("timestamp('2024-12-31T00:00:00Z').getDayOfYear()", "365"),
        ("duration('x')", "ERROR: <input>:1:10: invalid duration argument\n | duration('x')\n | .........^"),
        ("int('12') + int(2.9) + int(timestamp('1970-01-01T00:00:05Z'))", "19"),
        ("int('x')", "type conversion error from 'string' to 'int'"),
        ("type(1) == int && type('') != int", "true"),
    ]);
}

#[test]
fn kubernetes_types() {
    check(&[
        (
            "quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('1500m').add(1).compareTo(quantity('2.5')) == 0",
            "true",
        ),
        ("quantity('50k').asInteger() + quantity('-1').sign()", "49999"),
        ("isQuantity('abc') || isIP('1.2.3') || isCIDR('10.0.0.0') || isURL('abc') || isSemver('1.0')", "false"),
        (
            "ip('192.168.0.1').family() == 4 && ip('::1').isLoopback() && ip.isCanonical('::1') && string(ip('::01')) == '::1'",
            "true",
        ),
        ("cidr('10.0.0.0/8').containsIP('10.1.2.3') && cidr('10.0.0.0/8').containsCIDR('10.0.0.0/16')", "true"),
        ("string(cidr('10.1.0.0/8').masked()) + string(cidr('10.0.0.0/8').prefixLength())", "\"10.0.0.0/88\""),
        ("url('https://user@example.com:80/a b?k=1&k=2#f').getHost()", "\"example.com:80\""),
        ("url('https://example.com:80/path?k=1&k=2').getQuery()['k'].size()", "2"),
        ("url('https://[::1]:80/').getHostname() + url('/path').getEscapedPath()", "\"::1/path\""),
        ("semver('1.2.3').isLessThan(semver('1.10.0')) && semver('v1.2', true).minor() == 2", "true"),
        (
            "format.dns1123Label().validate('ok').hasValue() || !format.dns1123Label().validate('No').hasValue()",
            "false",
        ),
        ("format.named('uuid').hasValue() && !format.named('nope').hasValue()", "true"),
    ]);
}
