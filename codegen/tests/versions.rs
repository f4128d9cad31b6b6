//! Tests of versions: which types exist in them, which they share, and how they convert.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use std::fs;
use std::path::Path;

use codegen::model::{Conversion, Model, StructId, Version};

/// The model of groups given as folder, `group.rs` without its docs, and definitions.
fn model(name: &str, groups: &[(&str, &str, &str)]) -> Model {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("versions").join(name);
    let _ = fs::remove_dir_all(&root);
    for (folder, head, definitions) in groups {
        let folder = root.join("api-defs").join(folder);
        fs::create_dir_all(&folder).unwrap();
        let lints = "#![allow(L001, L004, L007, L019)]";
        fs::write(folder.join("group.rs"), format!("//! A group.\n{head}\n{lints}\n")).unwrap();
        fs::write(folder.join("types.rs"), definitions).unwrap();
    }
    codegen::load(&root).unwrap_or_else(|errors| panic!("{errors}"))
}

const SHOP: &str = "#![group(\"shop.example.com\")] #![version(v1)] #![version(v1beta1)]";
const KIND: &str = "#[kind(plural = \"trees\", scope = Cluster)] #[versions(v1, v1beta1)]";

fn version<'m>(model: &'m Model, module: &str, name: &str) -> &'m Version {
    let group = model.groups.iter().find(|group| group.module == module).expect("group");
    group.versions.iter().find(|version| version.name == name).expect("version")
}

fn id(model: &Model, in_version: &str, name: &str) -> StructId {
    version(model, "shop", in_version).structs[name]
}

fn json(model: &Model, id: StructId) -> Vec<&str> {
    model.structs[id.0].fields.iter().map(|field| field.json.as_str()).collect()
}

fn conversion(model: &Model, id: StructId) -> &Conversion {
    model.structs[id.0].conversion.as_ref().expect("a conversion")
}

/// `Tree` and `Branch` contain each other; `Root` contains both.
const FOREST: &str = "
    pub struct Root { #[field(1)] pub tree: Tree }
    pub struct Tree { #[field(1)] pub branches: Vec<Branch>, #[field(2)] pub height: i32 }
    pub struct Branch { #[field(1)] pub trees: Vec<Tree> }
    pub struct Stone { #[field(1)] pub weight: i32 }
";

#[test]
fn equal_recursive_types_are_shared() {
    let model = model("recursive", &[("shop", SHOP, &format!("{KIND} {FOREST}"))]);
    for name in ["Root", "Tree", "Branch"] {
        assert_eq!(id(&model, "v1", name), id(&model, "v1beta1", name), "{name}");
    }
}

#[test]
fn difference_in_cycle_separates_all_types_that_reach_it() {
    let delta = "mod v1beta1 {
        #[differs(Tree)] struct Tree { #[field(2)] height: Option<i32>, }
    }";
    let stone = "#[versions(v1, v1beta1)]\n    pub struct Stone";
    let forest = FOREST.replace("pub struct Stone", stone);
    let model = model("cycle", &[("shop", SHOP, &format!("{KIND} {forest} {delta}"))]);
    for name in ["Root", "Tree", "Branch"] {
        assert_ne!(id(&model, "v1", name), id(&model, "v1beta1", name), "{name}");
        assert_eq!(conversion(&model, id(&model, "v1beta1", name)).hub, Some(id(&model, "v1", name)));
    }
    assert_eq!(id(&model, "v1", "Stone"), id(&model, "v1beta1", "Stone"), "reaches nothing that differs");
}

#[test]
fn equal_redeclaration_is_shared() {
    let delta = "mod v1beta1 {
        #[differs(Tree)] struct Tree { #[field(2)] height: i32, }
    }";
    let model = model("same", &[("shop", SHOP, &format!("{KIND} {FOREST} {delta}"))]);
    assert_eq!(id(&model, "v1", "Tree"), id(&model, "v1beta1", "Tree"));
}

#[test]
fn added_fields_are_sorted_by_number() {
    let definitions = format!(
        "{KIND} pub struct Tree {{ #[field(1)] pub name: String, #[field(4)] pub height: i32 }}
        mod v1beta1 {{
            #[differs(Tree)] struct Tree {{ #[field(2)] kind_of_tree: String, }}
            #[convert(Tree, by_hand = kind_of_tree, here(kind_of_tree))] struct KindOfTree;
        }}"
    );
    let model = model("order", &[("shop", SHOP, &definitions)]);
    assert_eq!(json(&model, id(&model, "v1beta1", "Tree")), ["name", "kindOfTree", "height"]);
    assert_eq!(conversion(&model, id(&model, "v1beta1", "Tree")).here_only, ["kindOfTree"]);
}

#[test]
fn version_may_use_type_of_other_version() {
    let delta = "mod v1beta1 {
        use v1::Branch;
        #[differs(Tree)] struct Tree { #[field(2)] height: Option<i32>, }
    }";
    let model = model("borrowed", &[("shop", SHOP, &format!("{KIND} {FOREST} {delta}"))]);
    let beta = version(&model, "shop", "v1beta1");
    assert_eq!(beta.borrowed["Branch"], "v1");
    assert_eq!(beta.structs["Branch"], id(&model, "v1", "Branch"));
    assert_ne!(beta.structs["Tree"], id(&model, "v1", "Tree"));
}

#[test]
fn kind_missing_in_hub_version_has_hub_in_best_version() {
    let head = "#![group(\"shop.example.com\")] #![version(v1)] #![version(v1beta1)] #![version(v1alpha1)]";
    let definitions = "
        pub struct Shape { #[field(1)] pub sides: i32 }
        mod v1beta1 {
            #[kind(plural = \"shrubs\", scope = Cluster)]
            #[versions(v1beta1, v1alpha1)]
            pub struct Shrub { #[field(1)] pub leaf: Leaf, #[field(2)] pub shape: Shape }
            pub struct Leaf { #[field(1)] pub colour: String }
        }
        mod v1alpha1 {
            #[differs(Leaf)] struct Leaf { #[field(1, renamed = colour)] hue: String }
        }
    ";
    let model = model("best", &[("shop", head, definitions)]);
    assert_eq!(model.groups[0].kinds[0].storage_version, "v1beta1");
    assert!(version(&model, "shop", "v1").structs.is_empty(), "nothing of v1 reaches a shape");
    assert_eq!(id(&model, "v1beta1", "Shape"), id(&model, "v1alpha1", "Shape"));
    assert_eq!(json(&model, id(&model, "v1alpha1", "Leaf")), ["hue"]);
    assert_eq!(conversion(&model, id(&model, "v1alpha1", "Leaf")).hub, Some(id(&model, "v1beta1", "Leaf")));
}

#[test]
fn imported_types_are_those_of_named_version() {
    let other = "#![group(\"garden.example.com\")] #![version(v2)] #![version(v1)]";
    let pot = "#[versions(v2, v1)] pub struct Pot { #[field(1)] pub width: i32 }
        mod v1 { #[differs(Pot)] struct Pot { #[field(1)] width: Option<i32> } }";
    let shop = format!(
        "use crate::garden::Pot; use crate::garden::v1::Pot as OldPot;
        {KIND} pub struct Tree {{ #[field(1)] pub pot: Pot, #[field(2)] pub old: OldPot }}"
    );
    let model = model("others", &[("garden", other, pot), ("shop", SHOP, &shop)]);
    let held: Vec<&str> = model.structs[id(&model, "v1", "Tree").0]
        .fields
        .iter()
        .map(|field| match field.ty {
            codegen::model::TypeRef::Struct(id) => model.structs[id.0].version.as_str(),
            _ => "no struct",
        })
        .collect();
    assert_eq!(held, ["v2", "v1"]);
}

#[test]
fn kind_stored_as_other_kind_converts_to_it() {
    let garden = "#![group(\"garden.example.com\")] #![version(v1)]";
    let plant = "#[kind(plural = \"plants\", scope = Cluster)] pub struct Plant { #[field(1)] pub spec: PlantSpec }
        pub struct PlantSpec { #[field(1)] pub height: i32 }";
    let shop = "#[kind(plural = \"trees\", scope = Cluster, stored_as = garden::v1::Plant)] #[versions(v1)]
        pub struct Tree { #[field(1)] pub spec: TreeSpec }
        pub struct TreeSpec { #[field(1, renamed = height)] pub size: i32 }";
    let model = model("stored", &[("garden", garden, plant), ("shop", SHOP, shop)]);
    let garden = version(&model, "garden", "v1");
    assert_eq!(conversion(&model, id(&model, "v1", "Tree")).hub, Some(garden.structs["Plant"]));
    let spec = conversion(&model, id(&model, "v1", "TreeSpec"));
    assert_eq!(
        (spec.hub, spec.renames.as_slice()),
        (Some(garden.structs["PlantSpec"]), &[("size".to_string(), "height".to_string())][..])
    );
}
