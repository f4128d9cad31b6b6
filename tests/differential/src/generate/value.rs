//! Values: valid ones by schema, and unexpected ones.

use serde_json::{Map, Value, json};

use crate::catalog::Catalog;
use crate::random::Random;

/// Strings at the limits of validation, selectors, paths and encodings.
pub const ODD_STRINGS: &[&str] = &[
    "",
    " ",
    "a",
    "A",
    "a.b",
    "a/b",
    "a_b",
    "-a",
    "a-",
    "0",
    "-1",
    "007",
    "1e3",
    "1.5",
    "true",
    "null",
    "..",
    ".",
    "%",
    "a b",
    "a,b",
    "a=b",
    "ünï",
    "\u{1F600}",
    "\u{0}",
    "a\nb",
    "\t",
    "<b>&",
    "\"q\"",
    "'",
    "\\",
    "$(A)",
    "{{a}}",
    "http://a",
    "https://example.com/a?b#c",
    "10.0.0.1",
    "::1",
    "1.2.3.4/33",
    "10.0.0.0/8",
    "example.com",
    "example.com/a",
    "Example.com/A",
    "kubernetes.io/a",
    "a.example.com/",
    "/a",
    "100m",
    "1Gi",
    "1E",
    "1.5Gi",
    "-1Gi",
    "99999999999999999999",
    "0.0000000001",
    "1Ki1",
    "+1",
    "2001-01-01T00:00:00Z",
    "2001-01-01",
    "2001-01-01T00:00:00.123456Z",
    "2001-01-01T00:00:00+02:00",
    "25%",
    "101%",
    "-5%",
    "*",
    "*.example.com",
    "Always",
    "None",
    "All",
    "9223372036854775807",
    "system:masters",
    "default",
    "kube-system",
    "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabc",
    "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcd",
];

/// Numbers at the limits of integers and floats.
const ODD_NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "255",
    "256",
    "65535",
    "65536",
    "-0",
    "0.0",
    "1.0",
    "1.5",
    "-1.5",
    "1e2",
    "1e400",
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551616",
    "1e-7",
    "100",
    "30000",
    "1000000000000000000000",
];

/// Returns a value that a schema hardly expects.
pub fn odd(random: &mut Random) -> Value {
    match random.below(12) {
        0 => Value::Null,
        1 => json!([]),
        2 => json!({}),
        3 => json!(random.percent(50)),
        4..=5 => odd_number(random),
        6 => json!([null]),
        7 => json!([{}]),
        8 => json!([random.pick(ODD_STRINGS), random.pick(ODD_STRINGS)]),
        9 => json!({ *random.pick(ODD_STRINGS): *random.pick(ODD_STRINGS) }),
        _ => json!(random.pick(ODD_STRINGS)),
    }
}

/// Parses a number from text; a value beyond the range of a float becomes the nearest float.
pub fn odd_number(random: &mut Random) -> Value {
    let text = *random.pick(ODD_NUMBERS);
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

/// Generates values by schema.
pub struct Values<'c> {
    pub catalog: &'c Catalog,
    /// The document that schemas reference.
    pub root: String,
}

impl Values<'_> {
    /// Returns a value of a schema's type; not every one is valid.
    pub fn of(&self, schema: &Value, depth: usize, random: &mut Random) -> Value {
        let schema = self.catalog.resolve(&self.root, schema);
        if random.percent(8) {
            return odd(random);
        }
        if let Some(default) = schema.get("default").filter(|_| random.percent(10)) {
            return default.clone();
        }
        if let Some(words) = schema["enum"].as_array().filter(|words| !words.is_empty() && random.percent(85)) {
            return random.pick(words).clone();
        }
        match schema["type"].as_str() {
            Some("string") => string(schema["format"].as_str(), random),
            Some("integer") if random.percent(60) => json!(random.below(5)),
            Some("integer" | "number") => odd_number(random),
            Some("boolean") => json!(random.percent(50)),
            Some("array") => {
                let items = (0..random.below(3)).map(|_| self.of(&schema["items"], depth + 1, random));
                items.collect::<Vec<_>>().into()
            }
            Some("object") => self.object(schema, depth, random),
            // A quantity, a port by name or number, or any JSON.
            _ if schema.get("oneOf").is_some() && random.percent(50) => json!(random.below(200)),
            _ => json!(random.pick(ODD_STRINGS)),
        }
    }

    fn object(&self, schema: &Value, depth: usize, random: &mut Random) -> Value {
        let mut out = Map::new();
        if let Some(values) = schema.get("additionalProperties").filter(|values| values.is_object()) {
            for _ in 0..random.below(3) {
                out.insert(random.pick(ODD_STRINGS).to_string(), self.of(values, depth + 1, random));
            }
        }
        let required = schema["required"].as_array();
        let required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let share = if required(name) { 92 } else { [45, 25, 12, 5].get(depth).copied().unwrap_or(0) };
            if random.percent(share) {
                out.insert(name.clone(), self.of(property, depth + 1, random));
            }
        }
        if random.percent(3) {
            out.insert("unknown".into(), odd(random));
        }
        Value::Object(out)
    }

    /// Changes one location of an object, which need not exist yet. Returns its path, which patches
    /// can use, and the value.
    pub fn mutate(&self, object: &mut Value, schema: &Value, random: &mut Random) -> (Vec<String>, Value) {
        let mut path = Vec::new();
        let changed = self.change(object, schema, &mut path, random);
        (path, changed)
    }

    fn change(&self, at: &mut Value, schema: &Value, path: &mut Vec<String>, random: &mut Random) -> Value {
        let schema = self.catalog.resolve(&self.root, schema);
        let deeper = path.is_empty() || random.percent(78);
        if let Some(items) = at.as_array_mut().filter(|items| deeper && !items.is_empty()) {
            let index = random.below(items.len());
            path.push(index.to_string());
            return self.change(&mut items[index], &schema["items"], path, random);
        }
        if let Some(fields) = at.as_object_mut().filter(|_| deeper)
            && let Some(name) = next_field(fields, schema, random)
        {
            let below = schema["properties"].get(&name).unwrap_or(&schema["additionalProperties"]);
            path.push(name.clone());
            if !fields.contains_key(&name) {
                let value = self.of(below, path.len(), random);
                fields.insert(name, value.clone());
                return value;
            }
            if random.percent(8) && path.len() > 1 {
                fields.remove(&name);
                return Value::Null;
            }
            if let Some(value) = fields.get_mut(&name) {
                return self.change(value, below, path, random);
            }
        }
        *at = if random.percent(70) { self.of(schema, path.len(), random) } else { odd(random) };
        at.clone()
    }
}

/// Returns an existing field, or one of the schema; rarely an undeclared one.
fn next_field(fields: &Map<String, Value>, schema: &Value, random: &mut Random) -> Option<String> {
    let dull = |name: &&String| !["apiVersion", "kind"].contains(&name.as_str()) || fields.len() < 3;
    let there: Vec<&String> = fields.keys().filter(dull).collect();
    let properties: Vec<&String> = schema["properties"].as_object().into_iter().flat_map(Map::keys).collect();
    match random.below(100) {
        0..=54 if !there.is_empty() => Some(random.pick(&there).to_string()),
        0..=95 if !properties.is_empty() => Some(random.pick(&properties).to_string()),
        0..=95 if schema["additionalProperties"].is_object() => Some(random.pick(ODD_STRINGS).to_string()),
        96..=97 => Some("unknown".into()),
        _ if !there.is_empty() => Some(random.pick(&there).to_string()),
        _ => None,
    }
}

fn string(format: Option<&str>, random: &mut Random) -> Value {
    let usual = match format {
        Some("date-time") => "2001-02-03T04:05:06Z",
        Some("byte") => "YQ==",
        _ => "a",
    };
    if random.percent(40) { json!(usual) } else { json!(random.pick(ODD_STRINGS)) }
}
