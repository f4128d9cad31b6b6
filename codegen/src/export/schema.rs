//! Structural schemas as `apiextensions.k8s.io/v1` requires them: a tree without references, with a
//! type at every level.
//!
//! Referenced types are expanded in place; where a type contains itself, the inner one is an object of
//! any form. Defaults that the server applies without showing them in OpenAPI are included, because the
//! schema is what applies defaults of a custom resource.

use serde_json::{Map, Value, json};

use crate::bounds;
use crate::model::{EnumId, Field, JsonForm, ListSemantics, Literal, Model, Role, Struct, StructId, TypeRef, Union};

/// Upstream's pattern of a Quantity.
pub(crate) const QUANTITY: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// Pattern of durations that Go parses (`time.ParseDuration`).
pub(crate) const DURATION: &str = r"^[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$";

/// The schema of a kind in one version.
pub fn of_kind(model: &Model, id: StructId) -> Value {
    let module = &model.structs[id.0].module;
    let tagged = model.groups.iter().any(|group| group.module == *module && group.tagged_validation);
    let mut schema = Builder { model, inside: Vec::new(), correlatable: true, tagged }.structure(id);
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        let text = |docs: &str| json!({"description": docs, "type": "string"});
        properties.insert("apiVersion".into(), text("Group and version of the kind."));
        properties.insert("kind".into(), text("What kind of object this is."));
        // The server adds the schema of metadata, and accepts only restrictions of its
        // name here.
        properties.insert("metadata".into(), json!({"type": "object"}));
        properties.sort_keys();
    }
    schema
}

/// The schema of a struct of a group that enforces all constraints of its fields.
pub(crate) fn of_struct(model: &Model, id: StructId) -> Value {
    Builder { model, inside: Vec::new(), correlatable: true, tagged: false }.structure(id)
}

struct Builder<'m> {
    model: &'m Model,
    /// The enclosing structs, outermost first.
    inside: Vec<StructId>,
    /// Whether the old value of the place can be found, which transition rules need.
    correlatable: bool,
    /// Whether the native kind enforces only upstream's tags.
    tagged: bool,
}

impl<'m> Builder<'m> {
    fn structure(&mut self, id: StructId) -> Value {
        let target = &self.model.structs[id.0];
        match target.json_form {
            JsonForm::Fields => {}
            JsonForm::Items => return json!({"type": "array", "items": {"type": "string"}}),
            _ => return json!({"x-kubernetes-preserve-unknown-fields": true}),
        }
        if self.inside.contains(&id) {
            return json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        }
        self.inside.push(id);
        let (mut properties, mut required) = (Map::new(), Vec::new());
        self.fields(target, &mut properties, &mut required);
        self.inside.pop();
        let mut out = Map::new();
        if !target.docs.is_empty() {
            out.insert("description".into(), target.docs.clone().into());
        }
        out.insert("type".into(), "object".into());
        if !required.is_empty() {
            required.sort();
            out.insert("required".into(), json!(required));
        }
        if !properties.is_empty() {
            properties.sort_keys();
            out.insert("properties".into(), Value::Object(properties));
        }
        if target.atomic {
            out.insert("x-kubernetes-map-type".into(), "atomic".into());
        }
        let mut rules = rules(target);
        if self.correlatable {
            let fixed = target.fields.iter().filter(|field| field.validation.immutable && !field.inline);
            rules.extend(fixed.map(immutable));
        }
        if !rules.is_empty() {
            out.insert("x-kubernetes-validations".into(), rules.into());
        }
        let mut out = Value::Object(out);
        for default in &target.path_defaults {
            let path: Vec<&str> = default.path.split('.').collect();
            set_default(&mut out, &path, &default.value);
        }
        out
    }

    fn fields(&mut self, target: &'m Struct, properties: &mut Map<String, Value>, required: &mut Vec<String>) {
        for field in &target.fields {
            match field.ty {
                TypeRef::Struct(id) if field.inline => {
                    let inner = &self.model.structs[id.0];
                    self.fields(inner, properties, required);
                }
                _ => {
                    if field.required {
                        required.push(field.json.clone());
                    }
                    let schema = self.field(field);
                    properties.insert(field.json.clone(), schema);
                }
            }
        }
    }

    fn field(&mut self, field: &Field) -> Value {
        let was = self.correlatable;
        self.correlatable =
            was && !matches!(field.ty, TypeRef::List(_) if !matches!(field.list, Some(ListSemantics::Map(_))));
        let mut schema = self.ty(&field.ty);
        self.correlatable = was;
        let Some(out) = schema.as_object_mut() else { return schema };
        let description = bounds::description(field);
        if !description.is_empty() {
            out.shift_insert(0, "description".into(), description.into());
        }
        list_type(field, out);
        if let Some(atomic) = field.map_atomic.or(field.structure_atomic) {
            out.insert("x-kubernetes-map-type".into(), if atomic { "atomic" } else { "granular" }.into());
        }
        bounds::constrain(&field.validation, out);
        if !self.tagged {
            is_something(field, out);
        }
        match &field.default {
            Some(default) => {
                let default = completed(out, literal(default));
                out.insert("default".into(), default);
            }
            None if !field.omitempty && !field.required && !field.nullable => {
                out.extend(zero(&field.ty).map(|zero| ("default".to_string(), zero)));
            }
            None if !field.nullable && matches!(field.ty, TypeRef::Struct(_)) && is_created_for_defaults(out) => {
                let default = completed(out, json!({}));
                out.insert("default".into(), default);
            }
            None => {}
        }
        schema
    }

    fn ty(&mut self, ty: &TypeRef) -> Value {
        match ty {
            TypeRef::String => json!({"type": "string"}),
            TypeRef::Bool => json!({"type": "boolean"}),
            TypeRef::I32 => json!({"type": "integer", "format": "int32"}),
            TypeRef::I64 => json!({"type": "integer", "format": "int64"}),
            TypeRef::F64 => json!({"type": "number", "format": "double"}),
            TypeRef::Bytes => json!({"type": "string", "format": "byte"}),
            TypeRef::Time | TypeRef::MicroTime => json!({"type": "string", "format": "date-time"}),
            TypeRef::Duration => json!({"type": "string", "pattern": DURATION}),
            TypeRef::Quantity => json!({
                "anyOf": [{"type": "integer"}, {"type": "string"}],
                "pattern": QUANTITY,
                "x-kubernetes-int-or-string": true,
            }),
            TypeRef::IntOrString => {
                json!({"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": true})
            }
            // Server-side apply replaces the value as a whole, as for any type without declared fields.
            TypeRef::RawExtension | TypeRef::FieldsV1 => json!({
                "type": "object",
                "x-kubernetes-map-type": "atomic",
                "x-kubernetes-preserve-unknown-fields": true,
            }),
            TypeRef::Json => json!({"x-kubernetes-preserve-unknown-fields": true}),
            TypeRef::Enum(id) => self.values(*id),
            TypeRef::Struct(id) => self.structure(*id),
            TypeRef::List(item) => json!({"type": "array", "items": self.ty(item)}),
            TypeRef::Map(value) => json!({"type": "object", "additionalProperties": self.ty(value)}),
        }
    }

    fn values(&self, id: EnumId) -> Value {
        let declared = &self.model.enums[id.0];
        if declared.open {
            return json!({"type": "string"});
        }
        let values: Vec<&String> = declared.variants.iter().map(|(_, value, _)| value).collect();
        json!({"type": "string", "enum": values})
    }
}

fn push(out: &mut Map<String, Value>, key: &str, value: Value) {
    if let Some(list) = out.entry(key).or_insert_with(|| json!([])).as_array_mut() {
        list.push(value);
    }
}

/// The list type. Keys of a list map have to be present, either as required fields or by default.
fn list_type(field: &Field, out: &mut Map<String, Value>) {
    let kind = match &field.list {
        Some(ListSemantics::Atomic) => "atomic",
        Some(ListSemantics::Set) => "set",
        Some(ListSemantics::Map(keys)) => {
            out.insert("x-kubernetes-list-map-keys".into(), json!(keys));
            if let Some(items) = out.get_mut("items").and_then(Value::as_object_mut) {
                keys.iter().for_each(|key| require(items, key));
            }
            "map"
        }
        None if field.validation.unique && has_scalar_items(out) => "set",
        None => return,
    };
    out.insert("x-kubernetes-list-type".into(), kind.into());
}

fn has_scalar_items(list: &Map<String, Value>) -> bool {
    let kind = list.get("items").and_then(|items| items.get("type")).and_then(Value::as_str);
    matches!(kind, Some("string" | "integer" | "number" | "boolean"))
}

fn require(items: &mut Map<String, Value>, key: &str) {
    let has_default = items.get("properties").is_some_and(|all| !all[key]["default"].is_null());
    let required =
        items.get("required").and_then(Value::as_array).is_some_and(|all| all.iter().any(|name| name == key));
    if !has_default && !required {
        push(items, "required", key.into());
    }
}

/// A required field without `Option` may not be empty, because the native kind does not distinguish
/// empty from absent.
fn is_something(field: &Field, out: &mut Map<String, Value>) {
    if !field.required || field.nullable {
        return;
    }
    let key = match field.ty {
        TypeRef::String | TypeRef::Enum(_) | TypeRef::Bytes if !out.contains_key("enum") => "minLength",
        TypeRef::List(_) => "minItems",
        TypeRef::Map(_) => "minProperties",
        _ => return,
    };
    let least = out.get(key).and_then(Value::as_u64).unwrap_or(0);
    out.insert(key.into(), least.max(1).into());
}

/// The value of an unset field that is always written.
fn zero(ty: &TypeRef) -> Option<Value> {
    Some(match ty {
        TypeRef::String => "".into(),
        TypeRef::Bool => false.into(),
        TypeRef::I32 | TypeRef::I64 | TypeRef::F64 => 0.into(),
        _ => return None,
    })
}

/// The rule that an update may not set, unset or change a field.
fn immutable(field: &Field) -> Value {
    immutable_rule(&field.json)
}

/// The rule of an immutable property, by its JSON name.
pub(crate) fn immutable_rule(json: &str) -> Value {
    let name = cel_name(json);
    json!({
        "rule": format!(
            "has(self.{name}) ? has(oldSelf.{name}) && self.{name} == oldSelf.{name} : !has(oldSelf.{name})"
        ),
        "message": "field is immutable",
        "fieldPath": field_path(json),
    })
}

/// The path of a property, relative to its object.
fn field_path(json: &str) -> String {
    match json.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        true => format!(".{json}"),
        false => format!("['{json}']"),
    }
}

/// A default, completed with the defaults of its members: a server checks rules about the default
/// before completing it.
fn completed(schema: &Map<String, Value>, mut default: Value) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object);
    if let (Some(properties), Some(members)) = (properties, default.as_object_mut()) {
        for (name, property) in properties {
            let value = members.get(name).or_else(|| property.get("default")).cloned();
            if let (Some(property), Some(value)) = (property.as_object(), value) {
                members.insert(name.clone(), completed(property, value));
            }
        }
    }
    default
}

/// Whether an absent object of this schema should be created for the defaults below it: there are some,
/// and no property is required.
fn is_created_for_defaults(schema: &Map<String, Value>) -> bool {
    let defaults = schema.get("properties").and_then(Value::as_object);
    !schema.contains_key("required") && defaults.is_some_and(|all| all.values().any(|one| one.get("default").is_some()))
}

/// Sets a default at a path, through lists and maps.
fn set_default(schema: &mut Value, path: &[&str], value: &Literal) {
    let mut at = schema;
    for name in path {
        while let Some(key) = ["items", "additionalProperties"].into_iter().find(|key| at.get(*key).is_some()) {
            at = &mut at[key];
        }
        match at.get_mut("properties").and_then(|all| all.get_mut(*name)) {
            Some(next) => at = next,
            None => return,
        }
    }
    if let Some(out) = at.as_object_mut() {
        out.insert("default".into(), literal(value));
    }
}

/// CEL rules: the declared ones, and those that unions imply.
fn rules(target: &Struct) -> Vec<Value> {
    let mut out = Vec::new();
    for rule in &target.rules {
        let mut fields = Map::from_iter([("rule".to_string(), Value::from(rule.expression.clone()))]);
        if !rule.message.is_empty() {
            fields.insert("message".into(), rule.message.clone().into());
        }
        if !rule.message_expression.is_empty() {
            fields.insert("messageExpression".into(), rule.message_expression.clone().into());
        }
        if rule.optional_old_self {
            fields.insert("optionalOldSelf".into(), true.into());
        }
        if !rule.field.is_empty() {
            fields.insert("fieldPath".into(), format!(".{}", rule.field).into());
        }
        if let Some(reason) = reason(&rule.reason) {
            fields.insert("reason".into(), reason.into());
        }
        out.push(Value::Object(fields));
    }
    out.extend(target.unions.iter().flat_map(union));
    out
}

fn reason(declared: &str) -> Option<&'static str> {
    match declared.trim_start_matches("FieldValue") {
        "Invalid" => Some("FieldValueInvalid"),
        "Forbidden" => Some("FieldValueForbidden"),
        "Required" => Some("FieldValueRequired"),
        "Duplicate" => Some("FieldValueDuplicate"),
        _ => None,
    }
}

fn union(union: &Union) -> Vec<Value> {
    if let Some(discriminator) = &union.discriminator {
        return union.members.iter().flat_map(|(value, member)| discriminated(discriminator, value, member)).collect();
    }
    let members: Vec<&str> = union.members.iter().map(|(_, member)| member.as_str()).collect();
    let has: Vec<String> = members.iter().map(|member| format!("has(self.{})", cel_name(member))).collect();
    let (compare, words) = if union.zero_allowed { ("<=", "at most") } else { ("==", "exactly") };
    vec![json!({
        "rule": format!("[{}].filter(set, set).size() {compare} 1", has.join(", ")),
        "message": format!("must specify {words} one of: {}", members.join(", ")),
    })]
}

/// A member is set if the discriminator has its value, and unset otherwise.
fn discriminated(discriminator: &str, value: &str, member: &str) -> [Value; 2] {
    let (name, has) = (cel_name(discriminator), format!("has(self.{})", cel_name(member)));
    let value = Value::from(value);
    let chosen = format!("(has(self.{name}) && self.{name} == {value})");
    let words = |may: &str| format!("{member}: {may} be specified when `{discriminator}` is {value}");
    let path = field_path(member);
    [
        json!({"rule": format!("!{has} || {chosen}"), "message": words("may only"), "fieldPath": path}),
        json!({"rule": format!("{has} || !{chosen}"), "message": words("must"), "fieldPath": path}),
    ]
}

/// The CEL spelling of a property name (`escape` of `k8s.io/apiserver/pkg/cel`).
fn cel_name(json: &str) -> String {
    const RESERVED: [&str; 20] = [
        "as",
        "break",
        "const",
        "continue",
        "else",
        "false",
        "for",
        "function",
        "if",
        "import",
        "in",
        "let",
        "loop",
        "namespace",
        "null",
        "package",
        "return",
        "true",
        "var",
        "while",
    ];
    if json == "void" || RESERVED.contains(&json) {
        return format!("__{json}__");
    }
    json.replace("__", "__underscores__").replace('-', "__dash__").replace('.', "__dot__").replace('/', "__slash__")
}

fn literal(value: &Literal) -> Value {
    match value {
        Literal::Bool(value) => (*value).into(),
        Literal::Int(value) => (*value).into(),
        Literal::Float(value) => (*value).into(),
        Literal::String(value) => value.clone().into(),
        Literal::List(items) => items.iter().map(literal).collect(),
        Literal::Object(members) => members.iter().map(|(name, value)| (name.clone(), literal(value))).collect(),
    }
}

/// Whether a struct is an object with metadata, which a custom resource has to be.
pub fn is_object(target: &Struct) -> bool {
    target.role == Role::Object && target.fields.iter().any(|field| field.json == "metadata")
}
