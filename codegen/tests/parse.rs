//! Parses the shop of the design: names, versions, sharing, and implied facts.

use std::path::Path;

use codegen::model::{ColumnValue, Generation, ListSemantics, Literal, Model, Role, Serving, Struct, TypeRef, Version};

fn shop() -> Model {
    codegen::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shop")).unwrap_or_else(|errors| panic!("{errors}"))
}

fn version<'m>(model: &'m Model, module: &str, version: &str) -> &'m Version {
    let group = model.groups.iter().find(|group| group.module == module).expect("group");
    group.versions.iter().find(|one| one.name == version).expect("version")
}

fn get<'m>(model: &'m Model, in_version: &str, name: &str) -> &'m Struct {
    &model.structs[version(model, "shop", in_version).structs[name].0]
}

#[test]
fn group_defaults_are_filled_in() {
    let model = shop();
    let modules: Vec<&str> = model.groups.iter().map(|group| group.module.as_str()).collect();
    assert_eq!(modules, ["autoscaling", "meta", "shop"]);
    let shop = &model.groups[2];
    assert_eq!((shop.name.as_str(), shop.priority), ("shop.example.com", 1000));
    assert_eq!((shop.openapi_prefix.as_str(), shop.docs.as_str()), ("com.example.shop", "What a shop sells."));
    let serving: Vec<Serving> = shop.versions.iter().map(|version| version.serving).collect();
    assert_eq!(serving, [Serving::On, Serving::Off, Serving::Unserved]);
}

#[test]
fn fields_have_json_names_types_and_words() {
    let model = shop();
    let spec = get(&model, "v1", "ProductSpec");
    let names: Vec<&str> = spec.fields.iter().map(|field| field.json.as_str()).collect();
    assert_eq!(names, ["stock", "limit", "price", "supplier", "parts", "onShortage", "terms"]);
    let [stock, limit, price, supplier, parts, on_shortage, _] = spec.fields.as_slice() else { panic!("seven fields") };
    assert_eq!((stock.nullable, &stock.default, stock.validation.min), (true, &Some(Literal::Int(1)), Some(0)));
    assert_eq!((limit.number, limit.required, limit.omitempty), (2, true, false));
    assert_eq!((&price.ty, price.docs.as_str()), (&TypeRef::Quantity, "Price per unit, such as `12500m`."));
    assert!(supplier.validation.immutable);
    assert_eq!(parts.list, Some(ListSemantics::Map(vec!["name".to_string()])));
    assert_eq!(parts.patch_merge_key.as_deref(), Some("name"));
    assert_eq!(on_shortage.default, Some(Literal::String("Backorder".to_string())));
    assert_eq!(get(&model, "v1", "ProductStatus").fields[3].json, "sourceIPs");
}

#[test]
fn version_inherits_undeclared_parts_from_hub() {
    let model = shop();
    let spec = get(&model, "v1beta1", "ProductSpec");
    let names: Vec<&str> = spec.fields.iter().map(|field| field.json.as_str()).collect();
    assert_eq!(names, ["replicas", "limit", "price", "supplier", "onShortage", "colour", "terms"]);
    let conversion = spec.conversion.as_ref().expect("a conversion");
    assert_eq!(conversion.hub, version(&model, "shop", "v1").structs.get("ProductSpec").copied());
    assert_eq!(conversion.renames, [("replicas".to_string(), "stock".to_string())]);
    assert_eq!(conversion.by_hand, ["colour"]);
    assert_eq!(
        (&conversion.here_only, &conversion.hub_only),
        (&vec!["colour".to_string()], &vec!["parts".to_string()])
    );
    assert_eq!(spec.default_by_hand.as_deref(), Some("v1beta1::product_spec"));
    assert_eq!(get(&model, "v1", "ProductSpec").default_by_hand.as_deref(), Some("product_spec"));
}

#[test]
fn equal_types_are_shared_and_types_with_differences_are_not() {
    let model = shop();
    let (hub, beta) = (version(&model, "shop", "v1"), version(&model, "shop", "v1beta1"));
    assert_eq!(hub.structs["ProductStatus"], beta.structs["ProductStatus"]);
    for own in ["Product", "ProductSpec", "ProductList"] {
        assert_ne!(hub.structs[own], beta.structs[own], "{own}");
    }
    assert!(!beta.structs.contains_key("Part"), "v1beta1 reaches no parts");
    assert_eq!(hub.enums["OnShortage"], beta.enums["OnShortage"]);
    assert!(version(&model, "shop", "v1alpha1").structs.is_empty());
}

#[test]
fn kinds_have_resources() {
    let model = shop();
    let kind = &model.groups[2].kinds[0];
    let resource = kind.resource.as_ref().expect("a resource");
    assert_eq!((resource.singular.as_str(), resource.key_prefix.as_deref()), ("product", Some("products")));
    assert_eq!(resource.verbs.len(), 8);
    assert!(resource.namespaced && kind.list);
    assert_eq!(resource.generation, Generation::Values);
    assert_eq!(kind.storage_version, "v1");
    let scale = &resource.subresources[1];
    let body = ("autoscaling".to_string(), "v1".to_string(), "Scale".to_string());
    assert_eq!((scale.kind.as_ref(), scale.verbs.len()), (Some(&body), 3));
    let available = &resource.columns[2];
    assert_eq!(
        (available.kind.as_str(), available.priority, available.docs.as_str()),
        ("integer", 1, "Units on the shelf.")
    );
    assert_eq!(
        available.cell,
        ColumnValue::Path { path: "status.available".to_string(), or: Some("none".to_string()) }
    );
    assert_eq!(get(&model, "v1", "Product").role, Role::Object);
}

#[test]
fn list_kinds_are_implied() {
    let model = shop();
    let list = get(&model, "v1", "ProductList");
    assert_eq!(list.role, Role::List);
    let meta = version(&model, "meta", "v1").structs["ListMeta"];
    assert_eq!((list.fields[0].number, &list.fields[0].ty), (1, &TypeRef::Struct(meta)));
    let items = TypeRef::List(Box::new(TypeRef::Struct(version(&model, "shop", "v1").structs["Product"])));
    assert_eq!((list.fields[1].number, &list.fields[1].ty), (2, &items));
}
