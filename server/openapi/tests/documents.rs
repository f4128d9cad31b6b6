//! Tests documents of small catalogs.

use std::collections::BTreeMap;

use openapi::{
    Catalog, GroupVersion, GroupVersionKind, OpenApiOptions, Parameter, Parameters, Resource, Scope, Serving,
    Subresource, SubresourceResponse, names,
};
use serde_json::{Value, json};

fn strings(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

fn parameters(names: &[&str]) -> Vec<Parameter> {
    let parameter = |name: &&str| Parameter {
        name: (*name).into(),
        kind: "string".into(),
        description: format!("Description of {name}."),
    };
    names.iter().map(parameter).collect()
}

fn product() -> Resource {
    Resource {
        plural: "products".into(),
        kind: "Product".into(),
        definition: "com.example.shop.v1.Product".into(),
        list: Some("com.example.shop.v1.ProductList".into()),
        scope: Scope::Namespaced,
        serving: Serving::On,
        verbs: strings(&["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]),
        delete_returns_object: true,
        watch_paths: true,
        subresources: Vec::new(),
    }
}

fn shop(version: &str, serving: Serving, resource: Resource) -> GroupVersion {
    GroupVersion { group: "shop.example.com".into(), version: version.into(), serving, resources: vec![resource] }
}

fn catalog(versions: Vec<GroupVersion>) -> Catalog {
    let reference = |name: &str| json!({"allOf": [{"$ref": format!("#/components/schemas/{name}")}], "default": {}});
    let shared = |kind: &str| json!({"type": "object", "description": kind});
    let definitions = [
        ("com.example.shop.v1.Product", json!({"properties": {"spec": reference("com.example.shop.v1.ProductSpec")}})),
        ("com.example.shop.v1.ProductSpec", json!({"type": "object"})),
        ("com.example.shop.v1.Unused", json!({"type": "object"})),
        (names::DELETE_OPTIONS, shared("DeleteOptions")),
        (names::WATCH_EVENT, shared("WatchEvent")),
    ];
    Catalog {
        definitions: definitions.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect(),
        parameters: Parameters {
            list: parameters(&["limit", "watch"]),
            create: parameters(&["dryRun", "fieldManager"]),
            update: parameters(&["dryRun", "fieldManager"]),
            patch: parameters(&["dryRun", "fieldManager", "force"]),
            delete: parameters(&["dryRun", "propagationPolicy"]),
        },
        known_versions: vec![(String::new(), "v1".into()), ("shop.example.com".into(), "v1".into())],
        versions,
    }
}

/// Maps `METHOD path` to operation ids.
fn operations(document: &Value) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("item").iter().filter(|(key, _)| *key != "parameters") {
            let id = operation["operationId"].as_str().expect("id").to_owned();
            out.insert(format!("{} {path}", method.to_uppercase()), id);
        }
    }
    out
}

#[test]
fn operations_of_a_namespaced_resource() {
    let document =
        &catalog(vec![shop("v1", Serving::On, product())]).v3(&OpenApiOptions::default())["apis/shop.example.com/v1"];
    let base = "/apis/shop.example.com/v1";
    let want = [
        ("GET", "/", "getShopExampleComV1APIResources"),
        ("GET", "/namespaces/{namespace}/products", "listShopExampleComV1NamespacedProduct"),
        ("POST", "/namespaces/{namespace}/products", "createShopExampleComV1NamespacedProduct"),
        ("DELETE", "/namespaces/{namespace}/products", "deleteShopExampleComV1CollectionNamespacedProduct"),
        ("GET", "/namespaces/{namespace}/products/{name}", "readShopExampleComV1NamespacedProduct"),
        ("PUT", "/namespaces/{namespace}/products/{name}", "replaceShopExampleComV1NamespacedProduct"),
        ("PATCH", "/namespaces/{namespace}/products/{name}", "patchShopExampleComV1NamespacedProduct"),
        ("DELETE", "/namespaces/{namespace}/products/{name}", "deleteShopExampleComV1NamespacedProduct"),
        ("GET", "/products", "listShopExampleComV1ProductForAllNamespaces"),
        ("GET", "/watch/namespaces/{namespace}/products", "watchShopExampleComV1NamespacedProductList"),
        ("GET", "/watch/namespaces/{namespace}/products/{name}", "watchShopExampleComV1NamespacedProduct"),
        ("GET", "/watch/products", "watchShopExampleComV1ProductListForAllNamespaces"),
    ];
    let want: BTreeMap<_, _> =
        want.iter().map(|(method, path, id)| (format!("{method} {base}{path}"), (*id).to_owned())).collect();
    assert_eq!(operations(document), want);
}

#[test]
fn connections_with_a_path_take_every_method_and_paths_below() {
    let kind = GroupVersionKind { group: String::new(), version: "v1".into(), kind: "ProductProxyOptions".into() };
    let proxy = |query: &[&str], verbs: &[&str]| Resource {
        verbs: Vec::new(),
        scope: Scope::Cluster,
        subresources: vec![Subresource {
            name: "proxy".into(),
            kind: kind.clone(),
            verbs: strings(verbs),
            answer: SubresourceResponse::Connection(parameters(query)),
        }],
        ..product()
    };
    let methods = |resource| {
        let document = catalog(vec![shop("v1", Serving::On, resource)]).v2(&OpenApiOptions::default());
        operations(&document).into_keys().filter(|key| key.contains("/proxy")).collect::<Vec<_>>()
    };
    let at = |method: &str, rest: &str| format!("{method} /apis/shop.example.com/v1/products/{{name}}/proxy{rest}");
    assert_eq!(methods(proxy(&["command"], &["create", "get"])), [at("GET", ""), at("POST", "")]);
    let all = methods(proxy(&["path"], &["get"]));
    let want = ["GET", "HEAD", "OPTIONS"].map(|method| [at(method, ""), at(method, "/{path}")]).concat();
    assert_eq!(all, want);
}

#[test]
fn documents_contain_definitions_reachable_from_operations() {
    let catalog = catalog(vec![shop("v1", Serving::On, product())]);
    let v3 = catalog.v3(&OpenApiOptions::default());
    let schemas = v3["apis/shop.example.com/v1"]["components"]["schemas"].as_object().expect("schemas");
    assert!(schemas.contains_key("com.example.shop.v1.ProductSpec"));
    assert!(!schemas.contains_key("com.example.shop.v1.Unused"));
    assert!(v3["apis"]["components"]["schemas"].get("com.example.shop.v1.Product").is_none());
}

#[test]
fn delete_options_belong_to_all_versions_in_v2_and_to_those_of_the_document_in_v3() {
    let catalog = catalog(vec![shop("v1", Serving::On, product())]);
    let groups = |schema: &Value| {
        let kinds = schema["x-kubernetes-group-version-kind"].as_array().cloned().unwrap_or_default();
        kinds.iter().map(|kind| kind["group"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let v2 = catalog.v2(&OpenApiOptions::default());
    assert_eq!(groups(&v2["definitions"][names::DELETE_OPTIONS]), ["", "shop.example.com"]);
    let v3 = catalog.v3(&OpenApiOptions::default());
    let schemas = &v3["apis/shop.example.com/v1"]["components"]["schemas"];
    assert_eq!(groups(&schemas[names::WATCH_EVENT]), ["", "shop.example.com"]);
}

#[test]
fn patch_lists_its_parameters_at_the_operation() {
    let catalog = catalog(vec![shop("v1", Serving::On, product())]);
    let path = "/apis/shop.example.com/v1/namespaces/{namespace}/products/{name}";
    let v3 = &catalog.v3(&OpenApiOptions::default())["apis/shop.example.com/v1"]["paths"][path];
    let names: Vec<_> = v3["patch"]["parameters"].as_array().expect("list").iter().map(|p| p["name"].clone()).collect();
    assert_eq!(names, ["dryRun", "fieldManager", "force"]);
    let shared: Vec<_> = v3["parameters"].as_array().expect("list").iter().map(|p| p["name"].clone()).collect();
    assert_eq!(shared, ["name", "namespace", "pretty"]);

    let v2 = catalog.v2(&OpenApiOptions::default());
    let reference = v2["paths"][path]["patch"]["parameters"][1]["$ref"].as_str().expect("reference");
    assert_eq!(v2.pointer(&reference[1..]).expect("shared parameter")["name"], "dryRun");
}

#[test]
fn retain_defaults_drops_disabled_resources_and_empty_groups() {
    let mut catalog = catalog(vec![
        shop("v1", Serving::On, Resource { serving: Serving::Off, ..product() }),
        shop("v1beta1", Serving::Off, product()),
    ]);
    catalog.retain_defaults();
    let paths: Vec<_> = catalog.v3(&OpenApiOptions::default()).into_keys().collect();
    assert_eq!(paths, [".well-known/openid-configuration", "openid/v1/jwks", "version"]);
}
