use serde_json::{Value, json};

use super::JsonPath;

#[test]
fn paths_find_the_first_value() {
    let object = json!({
        "metadata": {"annotations": {"example.com/a.b": "x"}},
        "spec": {"parts": [{"name": "a", "size": 1}, {"name": "b", "size": 2}], "on": true},
        "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Old", "status": "False"}]},
    });
    let check = |path: &str, expect: Value| {
        let path = JsonPath::parse(path).expect(path);
        assert_eq!(path.find(&object).cloned().unwrap_or_default(), expect, "{path:?}");
    };
    check(".spec.on", json!(true));
    check(".spec.missing.name", Value::Null);
    check(".spec.parts[1].name", json!("b"));
    check(".spec.parts[-1].name", json!("b"));
    check(".spec.parts[7].name", Value::Null);
    check(".spec.parts[0:1].size", json!(1));
    check(".spec.parts[*].size", json!(1));
    check(".spec['parts'][0].size", json!(1));
    check(r".metadata.annotations.example\.com/a\.b", json!("x"));
    check(".metadata.annotations['example.com/a.b']", json!("x"));
    check(r#".status.conditions[?(@.type=="Ready")].status"#, json!("True"));
    check(".status.conditions[?(@.type=='Old')].status", json!("False"));
    check(".spec.parts[?(@.size>1)].name", json!("b"));
    check(".spec.parts[?(@.color)].name", Value::Null);
    check(".spec.parts[?(@.size=1)].name", Value::Null);
    check(".spec.parts[?(@['name']=='b')].size", json!(2));
    check(".spec.parts[?(@..name=='a')].size", json!(1));
    check("$.spec[?(@.on)]", Value::Null);
    // Values that are not comparable end the evaluation.
    check(".spec.parts[?(@.size=='a')].name", Value::Null);
    check(".spec.parts[?(@.size==1.5)].name", Value::Null);
    check(".spec.parts[?(@.size!=true)].name", Value::Null);
    check(".spec.parts[?(@.name==a)].name", Value::Null);
    check(".spec.parts[?(@.*>1)].name", Value::Null);
    check("spec", Value::Null);
    check("..size", json!(1));
    check(".spec.on.deeper", Value::Null);
}

#[test]
fn rejects_malformed_paths() {
    for text in [".spec[", ".spec[x]", ".spec[?(@.a]", ".spec[1:2:3:4]", ".spec[?(@.a=~'b')]", ".spec[?(@['a=b']==1)]"]
    {
        assert_eq!(JsonPath::parse(text), None, "{text}");
    }
}

#[test]
fn paths_beyond_visit_limit_find_nothing() {
    let nested = (0..50).fold(json!({"x": 1}), |below, _| json!({"a": below}));
    let find = |path: &str| JsonPath::parse(path).expect(path).find(&nested).cloned();
    assert_eq!(find("..x"), Some(json!(1)));
    assert_eq!(find("..a..a..x"), Some(json!(1)), "some 25,000 values");
    assert_eq!(find("..a..a..a..a..x"), None, "more than 3,000,000 values");
    let wide = json!({"items": vec![json!({"n": 1}); 2000]});
    let filter = JsonPath::parse(".items[?(@.n==1)].n").expect("a path");
    assert_eq!(filter.find(&wide), Some(&json!(1)));
}
