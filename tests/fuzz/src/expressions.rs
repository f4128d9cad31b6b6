//! Parsed texts: CEL, schemas, selectors, scalars.

use cel::{CostBudget, Environment, Type};
use generated::apiextensions::v1::JSONSchemaProps;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use machinery::budget::Meter;
use machinery::field_path::Path;
use machinery::format::field::DeclaredFormat;
use machinery::format::url::Url;
use machinery::format::{ip, is_qualified_name};
use machinery::json::{self, Issues};
use machinery::json_path::JsonPath;
use machinery::reflect::Mut;
use machinery::scalar::{Duration, MicroTime, Quantity, Time};
use machinery::selector::{FieldSelector, LabelSelector};
use schema::Schema;
use serde_json::{Value, json as value};

/// Parses label and field selectors.
pub fn selectors(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(selector) = LabelSelector::parse(text) {
        LabelSelector::parse(&selector.to_string()).expect("what is shown can be read");
    }
    let _ = FieldSelector::parse(text);
}

/// Evaluates CEL rules on a document with values of every type.
pub fn cel(bytes: &[u8]) {
    let Ok(source) = std::str::from_utf8(bytes) else { return };
    let environment = Environment::new([("self", Type::Dyn), ("oldSelf", Type::Dyn)]).with_bindings();
    match cel::compile(source, &environment) {
        Ok(program) => {
            let document = value!({
                "s": "a,b/c.\u{e9}", "n": -7, "f": 1.5, "b": true, "none": null, "l": [3, 1, 2], "m": {"k": "v", "x y": ["z"]},
                "ip": "10.0.0.1", "cidr": "10.0.0.0/8", "url": "https://u@h:1/p?q=1#f", "q": "100Mi", "t": "2026-01-02T03:04:05Z", "d": "1h2m",
            });
            let both = [("self", cel::Value::untyped(&document)), ("oldSelf", cel::Value::untyped(&document))];
            let mut budget = CostBudget { per_call: 20_000, left: 20_000, ..CostBudget::default() };
            let _ = program.evaluate(&both, &mut budget).map(|made| made.to_json());
        }
        Err(problem) => assert!(!problem.to_string().is_empty()),
    }
}

/// Validates an object with the schema of a custom resource; a zero byte separates the two.
pub fn schemas(bytes: &[u8]) {
    let Some(at) = bytes.iter().position(|byte| *byte == 0) else { return };
    let mut props = JSONSchemaProps::default();
    if json::decode(&bytes[..at], Mut::of(&mut props), &mut Issues::ignore()).is_err() {
        return;
    }
    let schema = Schema::compile(&props);
    let text = &bytes[at + 1..];
    let Ok(mut object) = serde_json::from_slice::<Value>(text) else { return };
    let is_certain = object.as_object().is_some_and(|content| schema::is_certainly_valid(&schema, content));
    let errors = schema::check(&schema, &object, "");
    assert!(!is_certain || errors.is_empty(), "{errors:?}");
    assert!(
        schema::check_update(&schema, &object, &object, "").len() <= errors.len(),
        "what has not changed is let be"
    );
    schema::check_lists(&Path::NONE, &schema, &object, &mut Vec::new());
    schema::prune(&mut object, &schema, true, Some(&mut Vec::new()));
    let pruned = object.clone();
    schema::prune(&mut object, &schema, true, None);
    assert_eq!(object, pruned, "pruning is idempotent");
    let mut meter = Meter::of_document(text.len());
    if schema::apply_defaults(&mut object, &schema, &mut meter).is_err() {
        return;
    }
    let defaulted = object.clone();
    if schema::apply_defaults(&mut object, &schema, &mut meter).is_ok() {
        assert_eq!(object, defaulted, "what has defaults gets no more");
    }
}

/// Parses formatted texts: quantities, times, names, patterns, paths.
pub fn texts(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(quantity) = Quantity::parse(text) {
        let again = Quantity::parse(&quantity.to_string()).expect("what is written can be read");
        // As upstream, quantities too large for any suffix are written without one.
        assert!(again == quantity || quantity.as_approximate_f64().abs() >= 1e21, "{again} is another number");
        assert_eq!(again.to_string(), quantity.to_string());
    }
    if let Ok(duration) = Duration::parse(text) {
        assert_eq!(Duration::parse(&duration.to_string()), Ok(duration));
    }
    if let Ok(time) = Time::parse(text) {
        assert_eq!(Time::parse(&time.to_string()), Ok(time));
    }
    let _ = MicroTime::parse(text);
    is_qualified_name(text);
    ip::is_valid_ip(&Path::NONE, text);
    ip::is_valid_cidr(&Path::NONE, text);
    for name in ["long-name", "label-key", "label-value", "uuid", "resource-pool-name", "resource-fully-qualified-name"]
    {
        let format = DeclaredFormat::from_name(&format!("k8s-{name}")).expect("it is declared");
        format.check(&Path::NONE, text);
    }
    let _ = Url::parse(text);
    let _ = JsonPath::parse(text).map(|path| path.first().map(str::len));
    if schema::pattern_error(text).is_none() {
        schema::Pattern::new(text).is_match("a-1.b");
    }
}

/// Compiles and evaluates chains and nests of CEL of any length; each is evaluated or rejected.
pub fn cel_chains(bytes: &[u8]) {
    if let Ok(source) = chain(&mut Unstructured::new(bytes)) {
        cel(source.as_bytes());
    }
}

/// The links of a chain: a prefix and a suffix around the current expression.
const LINKS: [(&str, &str); 22] = [
    ("", "+1"),
    ("", "-1"),
    ("", "*1"),
    ("", "&&true"),
    ("", "||false"),
    ("", "==true"),
    ("", ".s"),
    ("", "[0]"),
    ("", "?true:false"),
    ("", "+'x'"),
    ("", "+[1]"),
    ("", ".replace('a','aa')"),
    ("", ".map(x,x)"),
    ("!", ""),
    ("-", ""),
    ("(", ")"),
    ("[", "]"),
    ("{'k':", "}"),
    ("size(", ")"),
    ("true?", ":1"),
    ("[1].map(x,", ")"),
    ("cel.bind(x,1,", ")"),
];
/// Maximum length of a chain, above every limit of an expression.
const MAX_CHAIN: usize = 40_000;

fn chain(input: &mut Unstructured<'_>) -> Result<String> {
    let mut middle = (*input.choose(&["1", "true", "self", "'a'", "[1,2]", "self.m", "self.l"])?).to_owned();
    for _ in 0..input.int_in_range(1..=3)? {
        let (before, behind) = *input.choose(&LINKS)?;
        let times = input.int_in_range(1..=6_000)?;
        if middle.len() + times * (before.len() + behind.len()) > MAX_CHAIN {
            break;
        }
        middle = format!("{}{middle}{}", before.repeat(times), behind.repeat(times));
    }
    Ok(middle)
}
