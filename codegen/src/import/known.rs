//! Types of Kubernetes' definitions, such as `Condition`: an equal schema refers to them and is not
//! declared again.

use serde_json::Value;

use crate::examine::load_project;
use crate::export::schema::of_struct;
use crate::model::StructId;
use crate::project::Project;

/// The module of types that every group uses.
const MODULE: &str = "meta";

/// The types that custom definitions may use.
pub const TYPES: [&str; 3] = ["Condition", "LabelSelector", "LabelSelectorRequirement"];

/// Types of `crate::meta` by their schemas.
pub struct KnownTypes(Vec<(String, Value)>);

impl KnownTypes {
    /// The types of the checkout; none if its definitions have errors, which a build reports.
    pub fn load() -> KnownTypes {
        let library = Project::external("").library().to_path_buf();
        let Ok(model) = load_project(&Project::whole(library)) else { return KnownTypes(Vec::new()) };
        let structs = model.structs.iter().enumerate();
        let parts = structs.filter(|(_, one)| one.module == MODULE && TYPES.contains(&one.name.as_str()));
        KnownTypes(parts.map(|(index, one)| (one.name.clone(), plain(&of_struct(&model, StructId(index))))).collect())
    }

    /// The type with exactly this schema, regardless of the schema's own description.
    pub fn name(&self, schema: &Value) -> Option<&str> {
        let schema = plain(schema);
        self.0.iter().find(|(_, known)| *known == schema).map(|(name, _)| name.as_str())
    }
}

/// A schema without its own description, which a field may replace.
fn plain(schema: &Value) -> Value {
    let mut schema = schema.clone();
    schema.as_object_mut().into_iter().for_each(|members| drop(members.remove("description")));
    schema
}
