//! Tests label selectors against the results of an upstream server of 1.36.

use super::*;

#[test]
fn parses_and_prints() {
    let cases = [
        ("", ""),
        ("x=a,y=b,z=c", "x=a,y=b,z=c"),
        ("z=c, x=a", "x=a,z=c"),
        ("x==a", "x==a"),
        ("x!=a", "x!=a"),
        ("x=", "x="),
        ("x=,z", "x=,z"),
        ("!x", "!x"),
        (" ! x ", "!x"),
        ("x", "x"),
        ("x>1,y<9", "x>1,y<9"),
        ("x in (b,a,b)", "x in (a,b)"),
        ("x in ()", "x in ()"),
        ("x in (,)", "x in ()"),
        ("x in (a,,b)", "x in (,a,b)"),
        ("x in (a,)", "x in (,a)"),
        ("x notin (a)", "x notin (a)"),
        ("x\tin\n(a)", "x in (a)"),
        ("in in (in,notin)", "in in (in,notin)"),
        ("notin", "notin"),
        ("a.b/c=d", "a.b/c=d"),
        ("x=a\0", "x=a"),
    ];
    for (text, expect) in cases {
        assert_eq!(LabelSelector::parse(text).map(|selector| selector.to_string()), Ok(expect.to_string()), "{text}");
    }
}

#[test]
fn errors_match_upstream() {
    const KEY: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with \
                       an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for \
                       validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', \
                         and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or \
                         '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    let cases = [
        ("=a", "found '=', expected: !, identifier, or 'end of string'".to_owned()),
        (",", "found ',', expected: !, identifier, or 'end of string'".to_owned()),
        ("x,", "found '', expected: identifier after ','".to_owned()),
        ("x=a b", "found 'b', expected: ',' or 'end of string'".to_owned()),
        ("!x=a", "found '=', expected: ',' or 'end of string'".to_owned()),
        ("!", "unable to parse requirement: found '', expected: identifier".to_owned()),
        ("!!x", "unable to parse requirement: found '!', expected: identifier".to_owned()),
        ("x y", "unable to parse requirement: found 'y', expected: in, notin, =, ==, !=, gt, lt".to_owned()),
        ("x===a", "unable to parse requirement: found '=', expected: identifier".to_owned()),
        ("x in a", "unable to parse requirement: found 'a' expected: '('".to_owned()),
        ("x in (", "unable to parse requirement: found '', expected: ',', ')' or identifier".to_owned()),
        ("x in (a", "unable to parse requirement: found '', expected: ',' or ')'".to_owned()),
        ("x in (a,", "unable to parse requirement: found '', expected: ',', or identifier".to_owned()),
        ("x in (a b)", "unable to parse requirement: found 'b', expected: ',' or ')'".to_owned()),
        ("-x", format!("unable to parse requirement: <nil>: Invalid value: \"-x\": {KEY}")),
        ("x=-a", format!("unable to parse requirement: values[0][x]: Invalid value: \"-a\": {VALUE}")),
        (
            "x>a",
            "unable to parse requirement: values[0]: Invalid value: \"a\": for 'Gt', 'Lt' operators, the value must be \
             an integer"
                .to_owned(),
        ),
    ];
    for (text, expect) in cases {
        assert_eq!(LabelSelector::parse(text).unwrap_err().to_string(), expect, "{text}");
    }
}

#[test]
fn matches_labels() {
    let labels = |key: &str| match key {
        "app" => Some("web"),
        "weight" => Some("10"),
        "empty" => Some(""),
        _ => None,
    };
    let cases = [
        ("", true),
        ("app=web", true),
        ("app=db", false),
        ("app in (web,db)", true),
        ("app notin (web)", false),
        ("none notin (web)", true),
        ("none!=web", true),
        ("none=", false),
        ("empty=", true),
        ("app", true),
        ("!app", false),
        ("!none", true),
        ("weight>9", true),
        ("weight>10", false),
        ("weight<11", true),
        ("app>1", false),
        ("app=web,weight<5", false),
    ];
    for (text, expect) in cases {
        assert_eq!(LabelSelector::parse(text).unwrap().matches(labels), expect, "{text}");
    }
    assert!(!LabelSelector::nothing().matches(labels));
    assert!(LabelSelector::everything().is_empty() && !LabelSelector::nothing().is_empty());
}

#[test]
fn converts_api_selectors() {
    let values = ["b".to_owned(), "a".to_owned()];
    let selector = LabelSelector::from_api(
        [("x", "1")],
        [("k", "In", &values[..]), ("e", "Exists", &[]), ("d", "DoesNotExist", &[])],
    );
    assert_eq!(selector.unwrap().to_string(), "!d,e,k in (a,b),x=1");
    let errors: [(&str, &[String], &str); 3] = [
        ("Gt", &[], "\"Gt\" is not a valid label selector operator"),
        ("In", &[], "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"),
        (
            "Exists",
            &values,
            "values: Invalid value: [\"b\",\"a\"]: values set must be empty for exists and does not exist",
        ),
    ];
    for (operator, values, expect) in errors {
        let error = LabelSelector::from_api([], [("k", operator, values)]).unwrap_err();
        assert_eq!(error.to_string(), expect);
    }
    assert_eq!(LabelSelector::from_labels([("b", "2"), ("a", "1")]).to_string(), "a=1,b=2");
}

#[test]
fn returns_required_values() {
    let selector = LabelSelector::parse("a=1,b in (2),c in (3,4),d!=5").unwrap();
    let demands = ["a", "b", "c", "d", "e"].map(|key| selector.requires_exact_match(key));
    assert_eq!(demands, [Some("1"), Some("2"), None, None, None]);
}
