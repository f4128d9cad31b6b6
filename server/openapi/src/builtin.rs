//! Definitions of types that are not structs: scalars with their own encoding, and the response of
//! `/version`, which no group declares.

use serde_json::{Map, Value, json};

use crate::names;

/// The definitions in v3 form.
pub fn definitions() -> Vec<(String, Value)> {
    vec![
        (names::QUANTITY.into(), quantity()),
        (names::INT_OR_STRING.into(), int_or_string()),
        (names::meta("Time"), time("A moment in RFC 3339 form, to the second.")),
        (names::meta("MicroTime"), time("A moment in RFC 3339 form, to the microsecond.")),
        (names::meta("Duration"), json!({"description": "A span of time such as `1h30m`.", "type": "string"})),
        (names::RAW_EXTENSION.into(), object("Any Kubernetes object, kept as it was sent.")),
        (
            names::meta("FieldsV1"),
            object("A set of fields as nested JSON objects; keys are `f:<field>`, `k:<list keys>` or `v:<value>`."),
        ),
        (names::PATCH.into(), object("A patch; the media type of the request determines its format.")),
        (names::VERSION_INFO.into(), version_info()),
    ]
}

fn object(description: &str) -> Value {
    json!({"description": description, "type": "object"})
}

fn time(description: &str) -> Value {
    json!({"description": description, "type": "string", "format": "date-time"})
}

fn quantity() -> Value {
    json!({
        "description": "A fixed-point number with an optional suffix: binary (`Ki`, `Mi`, `Gi`, `Ti`, `Pi`, `Ei`), \
                        decimal (`n`, `u`, `m`, `k`, `M`, `G`, `T`, `P`, `E`) or an exponent (`1e3`).",
        "oneOf": [{"type": "string"}, {"type": "number"}],
    })
}

fn int_or_string() -> Value {
    json!({
        "description": "A number or a string, such as a port by number or name, or a count or percentage.",
        "format": "int-or-string",
        "oneOf": [{"type": "integer"}, {"type": "string"}],
    })
}

fn version_info() -> Value {
    const REQUIRED: [(&str, &str); 9] = [
        ("buildDate", "When the server was built."),
        ("compiler", "Compiler that built the server."),
        ("gitCommit", "Commit that the server was built from."),
        ("gitTreeState", "Whether the tree had changes that were not committed: `clean` or `dirty`."),
        ("gitVersion", "The release, such as `v1.36.2`."),
        ("goVersion", "Version of the language toolchain that built the server."),
        ("major", "Major version of the release."),
        ("minor", "Minor version of the release."),
        ("platform", "Operating system and processor, such as `linux/amd64`."),
    ];
    const OPTIONAL: [(&str, &str); 4] = [
        ("emulationMajor", "Major version of the release that the server emulates."),
        ("emulationMinor", "Minor version of the release that the server emulates."),
        ("minCompatibilityMajor", "Major version of the oldest release that the server is compatible with."),
        ("minCompatibilityMinor", "Minor version of the oldest release that the server is compatible with."),
    ];
    let mut properties = Map::new();
    for (name, description) in OPTIONAL {
        properties.insert(name.into(), json!({"description": description, "type": "string"}));
    }
    for (name, description) in REQUIRED {
        properties.insert(name.into(), json!({"description": description, "type": "string", "default": ""}));
    }
    properties.sort_keys();
    let required = REQUIRED.map(|(name, _)| name);
    json!({"description": "Version information of the server.", "type": "object", "required": required, "properties": properties})
}
