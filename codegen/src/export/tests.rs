//! Tests with exports of the shop of the design, and of this workspace's definitions.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::*;
use crate::model::{Field, Struct, StructId, TypeRef, Validation};

/// The shop: a custom group, with three versions of a kind.
static SHOP: LazyLock<Model> = LazyLock::new(|| load("tests/shop"));
/// Kubernetes' groups.
static OWN: LazyLock<Model> = LazyLock::new(|| load(".."));

fn load(folder: &str) -> Model {
    crate::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap_or_else(|errors| panic!("{errors}"))
}

fn text(files: &[File], path: &str) -> String {
    let file = files.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("no {path}"));
    String::from_utf8(file.bytes.clone()).unwrap()
}

fn schema_of(version: &str, kind: &str) -> Value {
    let group = find(&SHOP, "shop.example.com").unwrap();
    let version = group.versions.iter().find(|have| have.name == version).unwrap();
    schema::of_kind(&SHOP, version.structs[kind])
}

#[test]
fn crd_matches_definition() {
    let crd = text(&export(&SHOP, ExportFormat::Crd, None).unwrap(), "products.shop.example.com.yaml");
    for part in [
        "  name: products.shop.example.com\n",
        "    listKind: ProductList\n",
        "    shortNames:\n    - prod\n",
        "  - name: v1\n    served: true\n    storage: true\n",
        "  - name: v1beta1\n    served: false\n    storage: false\n",
        "        specReplicasPath: .spec.stock\n        statusReplicasPath: .status.available\n        labelSelectorPath: .status.selector\n",
        // The same field by its name in the version.
        "        specReplicasPath: .spec.replicas\n",
        "    - name: Stock\n      type: integer\n      jsonPath: .spec.stock\n",
        "    - name: Age\n      type: date\n      jsonPath: .metadata.creationTimestamp\n",
        "    selectableFields:\n    - jsonPath: .spec.supplier\n",
        "  conversion:\n    strategy: None\n",
        "# Left out: the conversion of v1beta1; a CRD converts by webhook only.\n",
    ] {
        assert!(crd.contains(part), "no {part:?} in\n{crd}");
    }
}

#[test]
fn schema_has_types_constraints_and_defaults() {
    let schema = schema_of("v1", "Product");
    assert_eq!(schema["properties"]["metadata"], json!({"type": "object"}));
    let rule = json!({"rule": "self.spec.stock <= self.spec.limit", "message": "stock must not exceed limit", "fieldPath": ".spec.stock"});
    assert_eq!(schema["x-kubernetes-validations"], json!([rule]));
    let spec = &schema["properties"]["spec"];
    assert_eq!(spec["required"], json!(["limit", "price", "supplier"]));
    let stock = &spec["properties"]["stock"];
    assert_eq!((&stock["type"], &stock["default"], &stock["minimum"]), (&json!("integer"), &json!(1), &json!(0)));
    assert_eq!(spec["properties"]["terms"]["default"], "net 30");
    assert_eq!(spec["properties"]["price"]["x-kubernetes-int-or-string"], true);
    let supplier = &spec["properties"]["supplier"];
    assert_eq!(supplier["format"], "k8s-long-name");
    assert_eq!(spec["properties"]["onShortage"]["enum"], json!(["Backorder", "Refuse"]));
    let parts = &spec["properties"]["parts"];
    assert_eq!(
        (&parts["x-kubernetes-list-type"], &parts["x-kubernetes-list-map-keys"]),
        (&json!("map"), &json!(["name"]))
    );
}

#[test]
fn recursive_type_ends_in_unstructured_object() {
    let part = &schema_of("v1", "Product")["properties"]["spec"]["properties"]["parts"]["items"];
    let inner = &part["properties"]["parts"]["items"];
    assert_eq!(inner, &json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}));
}

#[test]
fn kubernetes_groups_are_exported_only_by_name() {
    assert!(export(&OWN, ExportFormat::Crd, None).is_err());
    assert!(export(&OWN, ExportFormat::Crd, Some("core")).is_err());
    let unknown = export(&OWN, ExportFormat::Crd, Some("storag.k8s.io")).unwrap_err().to_string();
    assert!(unknown.contains("did you mean `storage.k8s.io`"), "{unknown}");
    let crd =
        text(&export(&OWN, ExportFormat::Crd, Some("networking.k8s.io")).unwrap(), "ingresses.networking.k8s.io.yaml");
    assert!(crd.contains("api-approved.kubernetes.io"));
    assert!(crd.contains("# Left out: column `"), "ingresses have computed columns");
    assert!(crd.contains("  - name: v1beta1\n    served: false\n"), "the group version is not served");
}

/// Violations of the rules that apiextensions enforces for structural schemas.
fn problems(schema: &Value, at: &str, out: &mut Vec<String>) {
    let any = schema["x-kubernetes-preserve-unknown-fields"] == true || schema["x-kubernetes-int-or-string"] == true;
    if schema["type"].is_null() && !any {
        out.push(format!("{at}: no type"));
    }
    let properties = schema["properties"].as_object();
    let has = |name: &Value| properties.is_some_and(|all| all.contains_key(name.as_str().unwrap()));
    for name in schema["required"].as_array().into_iter().flatten().filter(|name| !has(name)) {
        out.push(format!("{at}: requires {name}, which is no property"));
    }
    for key in schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten() {
        let items = &schema["items"];
        let required = items["required"].as_array().is_some_and(|all| all.contains(key));
        if !required && items["properties"][key.as_str().unwrap()]["default"].is_null() {
            out.push(format!("{at}: key {key} is neither required nor has a default"));
        }
    }
    for (name, inner) in properties.into_iter().flatten() {
        problems(inner, &format!("{at}.{name}"), out);
    }
    for key in ["items", "additionalProperties"] {
        if !schema[key].is_null() {
            problems(&schema[key], &format!("{at}[]"), out);
        }
    }
}

#[test]
fn every_kind_has_a_structural_schema() {
    let mut out = Vec::new();
    for group in &OWN.groups {
        for (kind, version) in group.kinds.iter().flat_map(|kind| kind.versions.iter().map(move |entry| (kind, entry)))
        {
            let version = group.versions.iter().find(|have| have.name == version.version).unwrap();
            let id = version.structs[&kind.name];
            if schema::is_object(&OWN.structs[id.0]) {
                problems(&schema::of_kind(&OWN, id), &format!("{} {}", version.name, kind.name), &mut out);
            }
        }
    }
    assert!(out.is_empty(), "{out:#?}");
}

#[test]
fn protos_of_group_include_imports() {
    let files = export(&OWN, ExportFormat::Proto, Some("policy")).unwrap();
    let paths: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    for path in ["policy/v1.proto", "meta/v1.proto", "machinery/intstr.proto", "machinery/runtime.proto"] {
        assert!(paths.contains(path), "no {path} in {paths:?}");
    }
    assert!(!paths.contains("apps/v1.proto"));
}

#[test]
fn message_has_json_names_and_wire_numbers() {
    let proto = text(&export(&OWN, ExportFormat::Proto, Some("core")).unwrap(), "core/v1.proto");
    for part in [
        "package k8s.io.api.core.v1;\n",
        "  repeated Container containers = 2;\n",
        "  map<string, .k8s.io.apimachinery.pkg.api.resource.Quantity> limits = 1;\n",
        "  optional VolumeSource volumeSource = 2;\n",
        "  optional .k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta metadata = 1;\n",
    ] {
        assert!(proto.contains(part), "no {part:?}");
    }
}

#[test]
fn reference_links_resolve() {
    let files = export(&OWN, ExportFormat::Markdown, None).unwrap();
    let anchors: BTreeSet<String> = files
        .iter()
        .flat_map(|file| {
            let page = String::from_utf8_lossy(&file.bytes).into_owned();
            let headings =
                page.lines().filter_map(|line| line.strip_prefix("### ")).map(str::to_owned).collect::<Vec<_>>();
            headings.into_iter().map(|heading| format!("{}#{}", file.path, heading.to_lowercase().replace(' ', "-")))
        })
        .collect();
    for file in &files {
        let page = String::from_utf8_lossy(&file.bytes).into_owned();
        for link in page.split("](").skip(1).filter_map(|rest| rest.split(')').next()).filter(|link| link.contains('#'))
        {
            let link = if link.starts_with('#') { format!("{}{link}", file.path) } else { link.to_string() };
            assert!(anchors.contains(&link), "{} links to {link}", file.path);
        }
    }
}

#[test]
fn yaml_quotes_ambiguous_strings() {
    let tree =
        json!({"a": ["yes", "1", "x: y", "plain text", ""], "b": {}, "c": [[1], {"d": null, "e": []}], "on": true});
    let want = "a:\n- \"yes\"\n- \"1\"\n- \"x: y\"\n- plain text\n- \"\"\nb: {}\nc:\n-\n  - 1\n- d: null\n  \"e\": []\n\"on\": true\n";
    assert_eq!(yaml::write(&tree), want);
}

#[test]
fn schema_rejects_what_native_kind_rejects() {
    let spec = &schema_of("v1", "Product")["properties"]["spec"];
    let supplier = &spec["properties"]["supplier"];
    assert_eq!(supplier["minLength"], 1, "what is required is not empty");
    assert_eq!(supplier["x-kubernetes-validations"], Value::Null);
    let fixed = json!([{
        "rule": "has(self.supplier) ? has(oldSelf.supplier) && self.supplier == oldSelf.supplier : !has(oldSelf.supplier)",
        "message": "field is immutable",
        "fieldPath": ".supplier",
    }]);
    assert_eq!(spec["x-kubernetes-validations"], fixed, "also what an update sets or takes away");
}

/// The schema of a field with this type and these words.
fn schema_of_field(ty: TypeRef, field: Field) -> Value {
    let field = Field { name: "x".into(), json: "x".into(), ty, ..field };
    let part = Struct { fields: vec![field], ..Default::default() };
    let model = Model { structs: vec![part], ..Model::default() };
    schema::of_kind(&model, StructId(0))["properties"]["x"].clone()
}

#[test]
fn always_written_field_has_zero_default() {
    assert_eq!(schema_of_field(TypeRef::I32, Default::default())["default"], 0);
    let omitted = Field { omitempty: true, ..Default::default() };
    assert_eq!(schema_of_field(TypeRef::I32, omitted)["default"], Value::Null);
}

#[test]
fn parsed_strings_have_pattern() {
    let omitted = || Field { omitempty: true, ..Default::default() };
    let duration = schema_of_field(TypeRef::Duration, omitted());
    let pattern = regex::Regex::new(duration["pattern"].as_str().unwrap()).unwrap();
    for (text, expect) in [("1h2.5m", true), ("-5s", true), ("0", true), ("60", false), ("1 day", false), ("", false)] {
        assert_eq!(pattern.is_match(text), expect, "{text}");
    }
    let validation = Validation { format: Some("uuid".into()), ..Default::default() };
    let uuid = schema_of_field(TypeRef::String, Field { validation, ..omitted() });
    assert_eq!((&uuid["format"], uuid["pattern"].is_string()), (&Value::Null, true));
}

#[test]
fn renames_become_field_moves() {
    let crd = text(&export(&SHOP, ExportFormat::Crd, None).unwrap(), "products.shop.example.com.yaml");
    let moves = r#"[{\"v1\":\"spec.stock\",\"v1beta1\":\"spec.replicas\"}]"#;
    assert!(crd.contains(&format!("    conversion.kube-apiserver/field-moves: \"{moves}\"\n")), "{crd}");
}
