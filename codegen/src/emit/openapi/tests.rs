//! Tests with OpenAPI documents of small models.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::model::{
    Enum, EnumId, Field, Group, Kind, KindVersion, ListSemantics, Literal, Resource, Role, Serving, Struct, StructId,
    Subresource, TypeRef, Validation, Version,
};

/// A field that is omitted if empty.
fn field(name: &str, ty: TypeRef) -> Field {
    Field { name: name.into(), json: name.into(), ty, omitempty: true, ..Field::default() }
}

fn required(name: &str, ty: TypeRef) -> Field {
    Field { required: true, omitempty: false, ..field(name, ty) }
}

/// A model of group `shop.example.com` whose versions share all structs; the first struct is the kind `Product`.
struct Shop {
    structs: Vec<Struct>,
    enums: Vec<Enum>,
    versions: Vec<(&'static str, Serving)>,
    subresources: Vec<Subresource>,
}

impl Shop {
    fn new(fields: Vec<Field>) -> Self {
        let structs = vec![part("Product", Role::Object, fields), part("ProductList", Role::List, Vec::new())];
        Shop { structs, enums: Vec::new(), versions: vec![("v1", Serving::On)], subresources: Vec::new() }
    }

    fn with(mut self, name: &str, role: Role, fields: Vec<Field>) -> Self {
        self.structs.push(part(name, role, fields));
        self
    }

    fn model(self) -> Model {
        let named = self.structs.iter().enumerate().map(|(index, part)| (part.name.clone(), StructId(index)));
        let visible: BTreeMap<_, _> = named.collect();
        let versions = self.versions.iter().map(|(name, serving)| Version {
            name: (*name).into(),
            serving: *serving,
            structs: visible.clone(),
            ..Version::default()
        });
        let entries = self.versions.iter().map(|(name, serving)| KindVersion {
            version: (*name).into(),
            serving: *serving,
            ..KindVersion::default()
        });
        let resource = Resource {
            plural: "products".into(),
            namespaced: true,
            verbs: ["create", "delete", "get", "list", "patch", "update"].map(String::from).to_vec(),
            subresources: self.subresources.clone(),
            ..Resource::default()
        };
        let product = Kind {
            name: "Product".into(),
            versions: entries.collect(),
            resource: Some(resource),
            list: true,
            ..Kind::default()
        };
        let group = Group {
            module: "shop".into(),
            name: "shop.example.com".into(),
            openapi_prefix: "com.example.shop".into(),
            versions: versions.collect(),
            kinds: vec![product],
            ..Group::default()
        };
        Model { groups: vec![group], structs: self.structs, enums: self.enums }
    }
}

fn part(name: &str, role: Role, fields: Vec<Field>) -> Struct {
    Struct { name: name.into(), module: "shop".into(), version: "v1".into(), role, fields, ..Struct::default() }
}

/// The v3 schema of a property of `Product`.
fn property(field: Field) -> Value {
    let name = field.json.clone();
    let shop = Shop { enums: vec![colour()], ..Shop::new(vec![field]) };
    let shop = shop.with("Part", Role::Part, vec![field_of_part()]);
    catalog(&shop.model()).definitions["com.example.shop.v1.Product"]["properties"][&name].clone()
}

fn field_of_part() -> Field {
    required("name", TypeRef::String)
}

fn colour() -> Enum {
    let variant = |name: &str| (name.to_owned(), name.to_owned(), String::new());
    Enum { name: "Colour".into(), variants: vec![variant("Red"), variant("Blue")], ..Enum::default() }
}

#[test]
fn property_has_bounds_unless_only_tags_are_enforced() {
    let validation = Validation { min: Some(0), pattern: Some("^a".into()), ..Validation::default() };
    let old = Field { deprecated: true, docs: "Old.".into(), validation, ..field("a", TypeRef::String) };
    let expected =
        json!({"description": "Deprecated: Old.", "deprecated": true, "type": "string", "minimum": 0, "pattern": "^a"});
    assert_eq!(property(old.clone()), expected);
    let mut model = Shop::new(vec![old]).model();
    model.groups[0].tagged_validation = true;
    assert_eq!(
        catalog(&model).definitions["com.example.shop.v1.Product"]["properties"]["a"],
        json!({"description": "Deprecated: Old.", "type": "string"})
    );
}

#[test]
fn properties_by_type_and_attributes() {
    let part = || TypeRef::Struct(StructId(2));
    let part_reference = json!({"$ref": "#/components/schemas/com.example.shop.v1.Part"});
    let time = json!({"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Time"});
    for (field, want) in [
        (field("a", TypeRef::String), json!({"type": "string"})),
        (required("a", TypeRef::String), json!({"type": "string", "default": ""})),
        (required("a", TypeRef::I32), json!({"type": "integer", "format": "int32", "default": 0})),
        (Field { nullable: true, ..required("a", TypeRef::Bool) }, json!({"type": "boolean"})),
        (
            Field { default: Some(Literal::Int(7)), nullable: true, ..field("a", TypeRef::I64) },
            json!({"type": "integer", "format": "int64", "default": 7}),
        ),
        (
            Field { default: Some(Literal::Int(7)), default_hidden: true, ..field("a", TypeRef::I64) },
            json!({"type": "integer", "format": "int64"}),
        ),
        (field("a", TypeRef::Enum(EnumId(0))), json!({"type": "string", "enum": ["Blue", "Red"]})),
        (required("a", TypeRef::Time), time),
        (field("a", part()), json!({"allOf": [part_reference], "default": {}})),
        (Field { nullable: true, ..field("a", part()) }, part_reference.clone()),
        (
            Field { nullable: true, docs: "Why.".into(), ..field("a", part()) },
            json!({"description": "Why.", "allOf": [part_reference]}),
        ),
        (
            Field {
                list: Some(ListSemantics::Map(vec!["name".into()])),
                patch_strategy: Some("merge_retain_keys".into()),
                patch_merge_key: Some("name".into()),
                ..field("a", TypeRef::List(Box::new(part())))
            },
            json!({
                "type": "array",
                "items": part_reference,
                "x-kubernetes-list-map-keys": ["name"],
                "x-kubernetes-list-type": "map",
                "x-kubernetes-patch-merge-key": "name",
                "x-kubernetes-patch-strategy": "merge,retainKeys",
            }),
        ),
        (
            Field { map_atomic: Some(true), ..field("a", TypeRef::Map(Box::new(TypeRef::String))) },
            json!({"type": "object", "additionalProperties": {"type": "string"}, "x-kubernetes-map-type": "atomic"}),
        ),
    ] {
        assert_eq!(property(field), want);
    }
}

#[test]
fn inlined_fields_become_properties_of_parent() {
    let inline = Field { json: String::new(), inline: true, ..field("part", TypeRef::Struct(StructId(2))) };
    let shop = Shop::new(vec![inline]).with("Part", Role::Part, vec![field_of_part()]);
    let product = &catalog(&shop.model()).definitions["com.example.shop.v1.Product"];
    let names: Vec<_> = product["properties"].as_object().expect("object").keys().collect();
    assert_eq!(names, ["apiVersion", "kind", "name"]);
    assert_eq!(product["required"], json!(["name"]));
}

#[test]
fn shared_struct_has_definition_per_version() {
    let mut shop = Shop::new(vec![field("part", TypeRef::Struct(StructId(2)))]).with("Part", Role::Part, Vec::new());
    shop.versions.push(("v1beta1", Serving::Off));
    let definitions = catalog(&shop.model()).definitions;
    let reference = &definitions["com.example.shop.v1beta1.Product"]["properties"]["part"]["allOf"][0]["$ref"];
    assert_eq!(reference, "#/components/schemas/com.example.shop.v1beta1.Part");
    let kind = json!([{"group": "shop.example.com", "kind": "Product", "version": "v1beta1"}]);
    assert_eq!(definitions["com.example.shop.v1beta1.Product"]["x-kubernetes-group-version-kind"], kind);
}

#[test]
fn default_documents_omit_disabled_versions() {
    let mut shop = Shop::new(Vec::new());
    shop.versions.extend([("v1beta1", Serving::Off), ("v1alpha1", Serving::Unserved)]);
    let model = shop.model();
    let groups: Vec<_> = v3(&model).into_keys().filter(|path| path.starts_with("apis/")).collect();
    assert_eq!(groups, ["apis/shop.example.com", "apis/shop.example.com/v1"]);
    let servable: Vec<_> = catalog(&model).versions.into_iter().map(|version| version.version).collect();
    assert_eq!(servable, ["v1", "v1beta1"]);
}

#[test]
fn subresource_response_follows_from_kind() {
    let subresource = |name: &str, kind: Option<&str>, verbs: &[&str]| Subresource {
        name: name.into(),
        kind: kind.map(|kind| ("shop.example.com".into(), "v1".into(), kind.into())),
        verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
        ..Subresource::default()
    };
    let mut shop = Shop::new(Vec::new())
        .with(
            "ProductTryOptions",
            Role::TypeOnly,
            vec![field("size", TypeRef::List(Box::new(TypeRef::I32))), field("since", TypeRef::Time)],
        )
        .with("ProductLogOptions", Role::TypeOnly, vec![field("follow", TypeRef::Bool)]);
    shop.subresources = vec![
        subresource("status", None, &["get", "update"]),
        subresource("try", Some("ProductTryOptions"), &["create"]),
        subresource("log", None, &["get"]),
    ];
    let document = v2(&shop.model());
    let operation = |rest: &str, method: &str| {
        let path = format!("/apis/shop.example.com/v1/namespaces/{{namespace}}/products/{{name}}{rest}");
        let item = &document["paths"][path];
        let parameters = item["parameters"].as_array().cloned().unwrap_or_default();
        let names = parameters.iter().map(|p| match p["$ref"].as_str() {
            Some(reference) => document.pointer(&reference[1..]).expect("shared parameter")["name"].clone(),
            None => p["name"].clone(),
        });
        let operation = &item[method];
        let schema = &operation["responses"]["200"]["schema"];
        (
            operation["operationId"].clone(),
            schema.clone(),
            names.map(|name| name.to_string()).collect::<Vec<_>>().concat(),
        )
    };
    let object = json!({"$ref": "#/definitions/com.example.shop.v1.Product"});
    let text = json!({"type": "string"});
    let own = r#""name""namespace""#.to_owned();
    for (rest, method, id, schema, parameters) in [
        ("/status", "put", "replaceShopExampleComV1NamespacedProductStatus", &object, own.clone() + r#""pretty""#),
        ("/try", "post", "connectShopExampleComV1PostNamespacedProductTry", &text, own.clone() + r#""size""#),
        ("/log", "get", "readShopExampleComV1NamespacedProductLog", &text, own.clone() + r#""pretty""follow""#),
    ] {
        assert_eq!(operation(rest, method), (id.into(), schema.clone(), parameters), "{rest}");
    }
}

#[test]
fn known_versions_exclude_internal_groups() {
    let mut shop = Shop::new(Vec::new());
    shop.versions.push(("v1alpha1", Serving::Unserved));
    let mut model = shop.model();
    let versions = vec![Version { name: "v1".into(), ..Version::default() }];
    model.groups.push(Group { name: "audit.example.com".into(), internal: true, versions, ..Group::default() });
    let shop = |version: &str| ("shop.example.com".to_owned(), version.to_owned());
    assert_eq!(catalog(&model).known_versions, [shop("v1"), shop("v1alpha1")]);
}

/// Checks that the definitions of `api-defs/`, versions that are off by default included, contain every
/// referenced definition.
#[test]
fn definitions_of_declared_api_are_complete() {
    fn references(schema: &Value, found: &mut Vec<String>) {
        match schema {
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            Value::Object(members) => members.iter().for_each(|(key, value)| match value.as_str() {
                Some(target) if key == "$ref" => found.push(target.trim_start_matches("#/components/schemas/").into()),
                _ => references(value, found),
            }),
            _ => {}
        }
    }
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let model = crate::load(&root).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    let catalog = catalog(&model);
    let mut wanted = Vec::new();
    catalog.definitions.values().for_each(|schema| references(schema, &mut wanted));
    for resource in catalog.versions.iter().flat_map(|version| &version.resources) {
        wanted.push(resource.definition.clone());
        wanted.extend(resource.list.clone());
    }
    let missing: Vec<_> = wanted.iter().filter(|name| !catalog.definitions.contains_key(*name)).collect();
    assert_eq!(missing, [] as [&String; 0]);
    assert!(!catalog.parameters.list.is_empty() && !catalog.parameters.delete.is_empty());
}
