//! Lints of fields.

use super::super::Checker;
use super::{Finding, description};
use crate::diagnostics::{Code, Diagnostic, codes};
use crate::model::{Field, ListSemantics, Literal, Role, Struct, TypeRef};
use crate::names;
use crate::paths;

/// A violated convention of a field: code, the word to mark, message, help.
type Broken = (Code, &'static str, String, String);

impl Checker<'_> {
    pub(super) fn field_lints(&self, out: &mut Vec<Finding>) {
        for one in self.model.structs.iter().filter(|one| one.role != Role::List) {
            for field in &one.fields {
                let found = description(&field.docs, &format!("`{}`", field.name), &field.span);
                // The metadata of kinds needs no description of its own.
                let found = found.filter(|_| one.role == Role::Part || field.json != "metadata");
                out.extend(found.map(|diagnostic| finding(one, field, diagnostic)));
                let broken =
                    presence(field).into_iter().chain(naming(field)).chain(self.shape(field)).chain(self.list(field));
                for (code, word, message, help) in broken {
                    let word = if word == "default" && field.default_hidden { "default_hidden" } else { word };
                    let diagnostic = Diagnostic::error(code, &self.word(&field.span, word), message);
                    out.push(finding(one, field, if help.is_empty() { diagnostic } else { diagnostic.help(help) }));
                }
            }
        }
    }

    fn shape(&self, field: &Field) -> Vec<Broken> {
        let mut out = Vec::new();
        let name = &field.name;
        if holds(&field.ty, &|ty| *ty == TypeRef::F64) {
            let help = "clients round differently: use an integer in a smaller unit, or a `Quantity`";
            out.push((codes::FLOAT, "type", format!("`{name}` is a floating point number"), help.to_string()));
        }
        if holds(&field.ty, &|ty| *ty == TypeRef::Duration) {
            let help = format!("use an integer with its unit in the name: `{name}_seconds: i32`");
            out.push((codes::DURATION, "type", format!("`{name}` is a duration"), help));
        }
        if holds(&field.ty, &|ty| matches!(ty, TypeRef::Map(values) if **values != TypeRef::String)) {
            let help = "use a list of structs with `list = map(name)`; maps are for labels and the like: `Map<String, String>`";
            out.push((
                codes::MAP_VALUES,
                "type",
                format!("`{name}` is a map of something else than strings"),
                help.to_string(),
            ));
        }
        out
    }

    fn list(&self, field: &Field) -> Vec<Broken> {
        let mut out = Vec::new();
        let name = &field.name;
        let TypeRef::List(items) = &field.ty else {
            if field.list.is_some() {
                out.push((
                    codes::LIST_ON_OTHER,
                    "list",
                    format!("`{name}` has list semantics and is no list"),
                    "drop `list`".to_string(),
                ));
            }
            return out;
        };
        if field.list.is_none() {
            let help = "add `list = atomic`, `list = set` or `list = map(KEY)`: server-side apply tracks item owners";
            out.push((
                codes::LIST_SEMANTICS,
                "type",
                format!("`{name}` does not declare how it is merged"),
                help.to_string(),
            ));
        }
        if let TypeRef::Struct(id) = **items {
            let item = &self.model.structs[id.0];
            if field.json == "conditions"
                && !(item.name.ends_with("Condition")
                    && field.list == Some(ListSemantics::Map(vec!["type".to_string()])))
            {
                out.push(conditions(name));
            }
            if !item.fields.is_empty() && !item.fields.iter().any(|field| field.required) {
                let help = format!("make a field of `{}` `required`, or an item may be entirely empty", item.name);
                out.push((codes::EMPTY_ITEMS, "type", format!("items of `{name}` may be entirely empty"), help));
            }
            self.keys(field, id, &mut out);
        } else if field.json == "conditions" {
            out.push(conditions(name));
        }
        out
    }

    fn keys(&self, field: &Field, item: crate::model::StructId, out: &mut Vec<Broken>) {
        let Some(ListSemantics::Map(keys)) = &field.list else { return };
        for key in keys {
            let of = paths::find(self.model, item, key).map(|(_, of)| of);
            if of.is_some_and(|of| !of.required && of.default.is_none()) {
                let help = format!("make `{key}` `required` or give it a default");
                out.push((
                    codes::KEY_OPTIONAL,
                    "list",
                    format!("the key `{key}` of `{}` may be absent", field.name),
                    help,
                ));
            }
        }
    }
}

fn conditions(name: &str) -> Broken {
    let help = "write `#[field(N, list = map(type), patch = merge)] pub conditions: Vec<Condition>`".to_string();
    (codes::CONDITIONS, "type", format!("`{name}` is not a list of conditions by type"), help)
}

/// Lints of optional and required fields, and of absent and zero values.
fn presence(field: &Field) -> Vec<Broken> {
    let mut out = Vec::new();
    let name = &field.name;
    let scalar = !matches!(field.ty, TypeRef::Struct(_));
    if !field.required && !field.omitempty && !field.nullable && scalar {
        let help = "drop `always`, or wrap the type in `Option` if zero and absent differ".to_string();
        out.push((codes::OPTIONAL_ZERO, "always", format!("`{name}` is optional and yet always written"), help));
    }
    if field.required && field.nullable {
        let help = "drop `Option`: what is required is never absent".to_string();
        out.push((codes::REQUIRED_OPTION, "required", format!("`{name}` is required and yet an `Option`"), help));
    }
    if field.required && field.default.is_some() {
        let help = "drop one of the two: a field with a default may be omitted".to_string();
        out.push((codes::DEFAULT_REQUIRED, "default", format!("`{name}` is required and has a default"), help));
    }
    let hides_zero = match &field.default {
        Some(Literal::Int(number)) => *number != 0 && field.validation.min.is_none_or(|min| min <= 0),
        Some(Literal::Bool(value)) => *value,
        _ => false,
    };
    let number = matches!(field.ty, TypeRef::I32 | TypeRef::I64 | TypeRef::Bool);
    if hides_zero && number && !field.nullable {
        let help = "wrap the type in `Option`, or exclude zero with `min = 1`".to_string();
        out.push((
            codes::DEFAULT_ZERO,
            "default",
            format!("zero cannot be set for `{name}`: the default replaces it"),
            help,
        ));
    }
    out
}

fn naming(field: &Field) -> Vec<Broken> {
    let mut out = Vec::new();
    let json = &field.json;
    if json.is_empty() {
        return out;
    }
    if !names::is_lower_camel(json) {
        out.push((
            codes::JSON_CASE,
            "json",
            format!("the JSON name `{json}` is not in lowerCamelCase"),
            "drop `json = ..`".to_string(),
        ));
    }
    if json == "phase" {
        let help = "use `conditions`: phases are a state machine that cannot be extended".to_string();
        out.push((codes::PHASE, "type", "a phase carries less information than conditions".to_string(), help));
    }
    if json.ends_with("Timestamp") && matches!(field.ty, TypeRef::Time | TypeRef::MicroTime) {
        let help = format!("name it `{}_time`", field.name.trim_end_matches("_timestamp"));
        out.push((codes::TIMESTAMP, "type", format!("`{json}` is a time named timestamp"), help));
    }
    if let Some(stem) = json.strip_suffix("Reference").or_else(|| json.strip_suffix("References")) {
        out.push((
            codes::REFERENCE,
            "type",
            format!("`{json}` is a reference named in full"),
            format!("name it `{stem}Ref`"),
        ));
    }
    out
}

fn holds(ty: &TypeRef, found: &dyn Fn(&TypeRef) -> bool) -> bool {
    found(ty)
        || match ty {
            TypeRef::List(inner) | TypeRef::Map(inner) => holds(inner, found),
            _ => false,
        }
}

fn finding(one: &Struct, field: &Field, diagnostic: Diagnostic) -> Finding {
    let items = vec![field.span.clone(), one.span.clone()];
    Finding { code: diagnostic.code, module: one.module.clone(), items, diagnostic }
}
