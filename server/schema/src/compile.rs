//! Compiles `JSONSchemaProps` into [`Schema`].

use apimachinery::apiextensions::v1::JSONSchemaProps;
use machinery::json::{self, Issues};
use machinery::scalar::JsonValue;
use serde_json::Value;

use crate::prune::prune;
use crate::{Additional, Below, Checks, JsonType, KeywordFlags, ListType, Pattern, Schema, format};

impl Schema {
    /// Compiles a schema. Validation of the definition has already rejected what a structural
    /// schema must not contain.
    pub fn compile(props: &JSONSchemaProps) -> Self {
        let mut schema = read(props);
        prune_defaults(&mut schema);
        schema
    }
}

fn read(props: &JSONSchemaProps) -> Schema {
    let schema = parsed(props);
    let below = Below {
        defaults: schema.parts().any(|part| part.default.is_some() || part.below.defaults),
        embedded: schema.flags.embedded_resource || schema.parts().any(|part| part.below.embedded),
        lists: schema.list != ListType::Atomic || schema.parts().any(|part| part.below.lists),
    };
    Schema { below, ..schema }
}

fn parsed(props: &JSONSchemaProps) -> Schema {
    // The map iterates in name order.
    let properties = props.properties.iter().map(|(name, property)| (name.as_str().into(), read(property)));
    Schema {
        kind: JsonType::parse(&props.r#type),
        flags: flags(props),
        properties: properties.collect(),
        additional: additional(props),
        items: props.items.as_ref().and_then(|items| items.schema.as_ref()).map(|items| Box::new(read(items))),
        default: props.default.as_ref().map(|default| Box::new(tree(default))).filter(|default| !default.is_null()),
        list: match props.x_kubernetes_list_type.as_deref() {
            Some("set") => ListType::Set,
            Some("map") => ListType::Map,
            _ => ListType::Atomic,
        },
        list_keys: texts(&props.x_kubernetes_list_map_keys),
        checks: checks(props),
        below: Below::default(),
    }
}

fn flags(props: &JSONSchemaProps) -> KeywordFlags {
    KeywordFlags {
        nullable: props.nullable,
        int_or_string: props.x_kubernetes_int_or_string,
        embedded_resource: props.x_kubernetes_embedded_resource,
        preserve_unknown_fields: props.x_kubernetes_preserve_unknown_fields == Some(true),
        map_is_atomic: props.x_kubernetes_map_type.as_deref() == Some("atomic"),
        exclusive_minimum: props.exclusive_minimum,
        exclusive_maximum: props.exclusive_maximum,
        unique_items: props.unique_items,
    }
}

fn additional(props: &JSONSchemaProps) -> Additional {
    match props.additional_properties.as_deref() {
        None => Additional::Unset,
        Some(of) => match &of.schema {
            Some(schema) => Additional::Schema(Box::new(read(schema))),
            None if of.allows => Additional::Allowed,
            None => Additional::Refused,
        },
    }
}

fn checks(props: &JSONSchemaProps) -> Option<Box<Checks>> {
    let all = |schemas: &[JSONSchemaProps]| schemas.iter().map(read).collect();
    let checks = Checks {
        format: if format::is_of_type(&props.format, &props.r#type) { props.format.as_str().into() } else { "".into() },
        pattern: (!props.pattern.is_empty()).then(|| Pattern::new(&props.pattern)),
        maximum: props.maximum,
        minimum: props.minimum,
        multiple_of: props.multiple_of,
        max_length: props.max_length,
        min_length: props.min_length,
        max_items: props.max_items,
        min_items: props.min_items,
        max_properties: props.max_properties,
        min_properties: props.min_properties,
        choices: props.r#enum.iter().map(tree).collect(),
        required: texts(&props.required),
        all_of: all(&props.all_of),
        any_of: all(&props.any_of),
        one_of: all(&props.one_of),
        not: props.not.as_ref().map(|not| Box::new(read(not))),
    };
    checks.has_constraints().then(|| Box::new(checks))
}

impl Checks {
    fn has_constraints(&self) -> bool {
        let numbers = [self.maximum, self.minimum, self.multiple_of];
        let sizes = [
            (self.max_length, self.min_length),
            (self.max_items, self.min_items),
            (self.max_properties, self.min_properties),
        ];
        !self.format.is_empty()
            || self.pattern.is_some()
            || numbers.iter().any(Option::is_some)
            || sizes.iter().any(|(max, min)| max.is_some() || min.is_some())
            || !self.choices.is_empty()
            || !self.required.is_empty()
            || [&self.all_of, &self.any_of, &self.one_of].iter().any(|schemas| !schemas.is_empty())
            || self.not.is_some()
    }
}

fn tree(value: &JsonValue) -> Value {
    json::parse(value.as_bytes(), &mut Issues::ignore()).unwrap_or_default()
}

fn texts(texts: &[String]) -> Box<[Box<str>]> {
    texts.iter().map(|text| text.as_str().into()).collect()
}

/// Prunes unknown fields from the defaults of a schema (`defaulting.PruneDefaults`).
fn prune_defaults(schema: &mut Schema) {
    if let Some(mut default) = schema.default.take() {
        prune(&mut default, schema, false, None);
        schema.default = Some(default);
    }
    if let Additional::Schema(additional) = &mut schema.additional {
        prune_defaults(additional);
    }
    if let Some(items) = &mut schema.items {
        prune_defaults(items);
    }
    schema.properties.iter_mut().for_each(|(_, property)| prune_defaults(property));
}
