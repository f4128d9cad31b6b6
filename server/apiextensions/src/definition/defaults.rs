//! Checks that defaults match their schemas and rules (`schema/defaulting.ValidateDefaults`).

use apimachinery::apiextensions::v1::JSONSchemaProps;
use cel::CostBudget;
use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::hooks::WriteContext;
use machinery::json::{self, Issues};
use schema::Schema;
use serde_json::Value;

use crate::rules::SchemaRules;

/// Returns the errors of all defaults of a schema. `requires_pruned`: they must not have unknown
/// fields.
pub fn check(
    context: &WriteContext,
    path: &Path<'_>,
    props: &JSONSchemaProps,
    requires_pruned: bool,
) -> Vec<FieldError> {
    let mut check = Check { context, requires_pruned, budget: CostBudget::default(), errors: Vec::new() };
    check.schema(path, props, true);
    check.errors
}

struct Check<'c> {
    context: &'c WriteContext,
    requires_pruned: bool,
    /// The remaining cost of rules, shared by all defaults.
    budget: CostBudget,
    errors: Vec<FieldError>,
}

impl Check<'_> {
    fn schema(&mut self, path: &Path<'_>, props: &JSONSchemaProps, is_root: bool) {
        if self.budget.left == 0 {
            return;
        }
        if let Some(default) = &props.default
            && let Ok(value) = json::parse(default.as_bytes(), &mut Issues::ignore())
            && !value.is_null()
        {
            self.default(&path.child("default"), props, value, is_root);
        }
        if let Some(items) = props.items.as_ref().and_then(|items| items.schema.as_deref()) {
            self.schema(&path.child("items"), items, false);
        }
        let properties = path.child("properties");
        for (name, property) in &props.properties {
            self.schema(&properties.key(name), property, false);
        }
    }

    fn default(&mut self, path: &Path<'_>, props: &JSONSchemaProps, mut value: Value, is_root: bool) {
        let schema = if is_root { Schema::compile(props).as_resource() } else { Schema::compile(props) };
        let is_object = schema.flags.embedded_resource;
        if self.requires_pruned {
            let mut pruned = value.clone();
            schema::prune(&mut pruned, &schema, is_object, None);
            if pruned != value {
                self.errors.push(FieldError::invalid(path, schema::shown(&value), "must not have unknown fields"));
            }
        }
        if let Err(error) = schema::coerce_embedded(path, &mut value, &schema, false, &mut Issues::ignore()) {
            self.errors.push(error);
            return;
        }
        let mut found = Vec::new();
        schema::check_embedded(self.context, path, &value, &schema, &mut found);
        if found.is_empty() {
            found = schema::check(&schema, &value, &path.to_string());
        }
        if found.is_empty()
            && let Some(rules) = SchemaRules::compile(props, is_root)
        {
            found = rules.check_default(self.context, path, &value, &mut self.budget);
        }
        self.errors.extend(found);
    }
}
