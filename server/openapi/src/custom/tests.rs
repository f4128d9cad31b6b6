use serde_json::json;

use super::*;

fn catalog() -> Catalog {
    let status =
        json!({"type": "object", "properties": {"kind": {"type": "string"}, "apiVersion": {"type": "string"}}});
    Catalog { definitions: [(names::STATUS.to_owned(), status)].into(), ..Catalog::default() }
}

fn widget(schema: Value) -> CustomResource {
    CustomResource {
        group: "shop.example.com".into(),
        version: "v1".into(),
        plural: "widgets".into(),
        kind: "Widget".into(),
        list_kind: "WidgetList".into(),
        schema: Some(schema),
        ..CustomResource::default()
    }
}

/// The definition of a property with this schema, in the documents of both forms.
fn property(schema: &Value) -> [Value; 2] {
    let resource = widget(json!({"type": "object", "properties": {"spec": schema}}));
    let options = OpenApiOptions::default();
    let v3 = catalog().custom_v3(&options, std::slice::from_ref(&resource));
    let v2 = catalog().custom_v2(&options, &[resource]);
    let name = "com.example.shop.v1.Widget";
    [
        v3["components"]["schemas"][name]["properties"]["spec"].clone(),
        v2["definitions"][name]["properties"]["spec"].clone(),
    ]
}

#[test]
fn schemas_in_both_forms() {
    let embedded = |reference: Value| {
        json!({"type": "object", "x-kubernetes-embedded-resource": true, "required": ["kind", "apiVersion"], "properties": {
            "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": reference}})
    };
    let description =
        "Standard object's metadata: name, namespace, labels, annotations and what the server records of the object.";
    let meta = names::OBJECT_META;
    for (schema, v3, v2) in [
        // Extensions, formats and bounds stay; defaults are only in v3.
        (
            json!({"type": "integer", "format": "int32", "minimum": 1, "default": 3, "x-kubernetes-validations": [{"rule": "self > 0"}]}),
            None,
            json!({"type": "integer", "format": "int32", "minimum": 1, "x-kubernetes-validations": [{"rule": "self > 0"}]}),
        ),
        (
            json!({"type": "object", "required": ["a", "b"], "properties": {"a": {"type": "string", "nullable": true}, "b": {"type": "string"}}}),
            None,
            json!({"type": "object", "required": ["b"], "properties": {"a": {}, "b": {"type": "string"}}}),
        ),
        (
            json!({"x-kubernetes-int-or-string": true}),
            Some(json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]})),
            json!({"x-kubernetes-int-or-string": true}),
        ),
        (
            json!({"x-kubernetes-int-or-string": true, "anyOf": [{"minimum": 1}]}),
            Some(json!({"x-kubernetes-int-or-string": true, "anyOf": [{"minimum": 1}],
                        "allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}]})),
            json!({"x-kubernetes-int-or-string": true}),
        ),
        (
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"a": {"type": "string"}}}),
            None,
            json!({"x-kubernetes-preserve-unknown-fields": true}),
        ),
        (json!({"type": "array", "nullable": true, "items": {"type": "string"}}), None, json!({})),
        (
            json!({"type": "object", "x-kubernetes-embedded-resource": true}),
            Some(embedded(
                json!({"description": description, "allOf": [{"$ref": format!("#/components/schemas/{meta}")}]}),
            )),
            embedded(json!({"description": description, "$ref": format!("#/definitions/{meta}")})),
        ),
    ] {
        assert_eq!(property(&schema), [v3.unwrap_or_else(|| schema.clone()), v2], "{schema}");
    }
}

#[test]
fn kinds_without_schema_are_objects() {
    let kind = json!([{"group": "shop.example.com", "kind": "Widget", "version": "v1"}]);
    let bare = json!({"type": "object", "x-kubernetes-group-version-kind": kind});
    let open = widget(json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}));
    let v2 = catalog().custom_v2(&OpenApiOptions::default(), &[open]);
    assert_eq!(v2["definitions"]["com.example.shop.v1.Widget"], bare);
    let v3 = catalog().custom_v3(&OpenApiOptions::default(), &[CustomResource { schema: None, ..widget(Value::Null) }]);
    assert_eq!(v3["components"]["schemas"]["com.example.shop.v1.Widget"], bare);
}

#[test]
fn operations_of_custom_resources() {
    let resource = CustomResource { has_status: true, has_scale: true, ..widget(json!({"type": "object"})) };
    let v3 = catalog().custom_v3(&OpenApiOptions::default(), &[resource]);
    let base = "/apis/shop.example.com/v1/namespaces/{namespace}/widgets";
    for (path, method, id) in [
        ("/apis/shop.example.com/v1/widgets".to_owned(), "get", "listShopExampleComV1WidgetForAllNamespaces"),
        (base.to_owned(), "post", "createShopExampleComV1NamespacedWidget"),
        (format!("{base}/{{name}}"), "patch", "patchShopExampleComV1NamespacedWidget"),
        (format!("{base}/{{name}}/status"), "put", "replaceShopExampleComV1NamespacedWidgetStatus"),
        (format!("{base}/{{name}}/scale"), "get", "readShopExampleComV1NamespacedWidgetScale"),
    ] {
        let operation = &v3["paths"][path.as_str()][method];
        assert_eq!(operation["operationId"], id);
        assert_eq!(operation["x-kubernetes-group-version-kind"]["kind"], "Widget");
    }
    let patch = &v3["paths"][format!("{base}/{{name}}").as_str()]["patch"];
    let media: Vec<&String> = patch["requestBody"]["content"].as_object().expect("content").keys().collect();
    assert_eq!(media, ["application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"]);
    assert_eq!(v3["paths"].as_object().expect("paths").len(), 5, "no discovery and no /watch/ paths");
}

/// As upstream, which takes the versions from the scheme of the server.
#[test]
fn delete_options_list_all_known_versions() {
    let options = json!({"type": "object"});
    let catalog = Catalog {
        definitions: [(names::DELETE_OPTIONS.to_owned(), options)].into(),
        known_versions: vec![(String::new(), "v1".into()), ("apps".into(), "v1".into())],
        ..catalog()
    };
    let v3 = catalog.custom_v3(&OpenApiOptions::default(), &[widget(json!({"type": "object"}))]);
    let kinds = &v3["components"]["schemas"][names::DELETE_OPTIONS]["x-kubernetes-group-version-kind"];
    let kind = |group| json!({"group": group, "kind": "DeleteOptions", "version": "v1"});
    assert_eq!(*kinds, json!([kind(""), kind("apps")]));
}
