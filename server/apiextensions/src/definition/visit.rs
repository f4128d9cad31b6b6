//! Traversal of a schema and its subschemas.

use apimachinery::apiextensions::v1::JSONSchemaProps;

/// Calls `f` with each schema, parents first.
pub fn each<'s>(props: &'s JSONSchemaProps, f: &mut dyn FnMut(&'s JSONSchemaProps)) {
    f(props);
    if let Some(items) = &props.items {
        items.schema.iter().map(|schema| &**schema).chain(&items.json_schemas).for_each(|schema| each(schema, f));
    }
    let listed = [&props.all_of, &props.any_of, &props.one_of];
    listed.into_iter().flatten().for_each(|schema| each(schema, f));
    props.not.iter().for_each(|schema| each(schema, f));
    props.properties.values().for_each(|schema| each(schema, f));
    let additional = [&props.additional_properties, &props.additional_items];
    additional.into_iter().flatten().filter_map(|of| of.schema.as_ref()).for_each(|schema| each(schema, f));
    let named = [&props.pattern_properties, &props.definitions];
    named.into_iter().flat_map(|schemas| schemas.values()).for_each(|schema| each(schema, f));
    props.dependencies.values().filter_map(|of| of.schema.as_ref()).for_each(|schema| each(schema, f));
}

/// Whether a schema or one of its subschemas matches.
pub fn any(props: &JSONSchemaProps, is: impl Fn(&JSONSchemaProps) -> bool) -> bool {
    let mut found = false;
    each(props, &mut |props| found |= is(props));
    found
}
