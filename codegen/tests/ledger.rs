//! Tests of the ledger that a build writes, and of the breaking changes that it rejects.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use std::fs;
use std::path::{Path, PathBuf};

use codegen::Examined;
use codegen::diagnostics::Severity;

/// A project of one group with the given versions and definitions, and its ledger.
struct Project {
    root: PathBuf,
}

impl Project {
    fn new(name: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ledger").join(name);
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(root.join("api-defs/shop.example.com")).unwrap();
        Self { root }
    }

    fn define(&self, version: &str, fields: &str) -> &Self {
        self.define_with("", version, fields)
    }

    fn define_with(&self, attributes: &str, version: &str, fields: &str) -> &Self {
        let folder = self.root.join("api-defs/shop.example.com");
        let group = format!("//! What a shop sells.\n#![group(\"shop.example.com\")]\n#![version({version})]\n");
        fs::write(folder.join("group.rs"), group).unwrap();
        let product = format!("/// Desired state.\n{attributes}\npub struct ProductSpec {{ {fields} }}\n");
        fs::write(folder.join("product.rs"), product).unwrap();
        self
    }

    /// Builds; returns the reported codes and the lines of the ledger after the build.
    fn build(&self) -> (Vec<String>, Vec<String>) {
        let Examined { diagnostics, ledger, .. } = codegen::examine(&self.root);
        if !diagnostics.has_errors() {
            codegen::ledger::settle(&self.root, &ledger, false).unwrap();
        }
        let level = |level| if level == Severity::Error { "error" } else { "warning" };
        let codes = diagnostics.sorted().iter().map(|one| format!("{} {}", level(one.level), one.code)).collect();
        let text = fs::read_to_string(self.root.join("generated/ledger/shop.example.com.txt")).unwrap_or_default();
        (codes, text.lines().skip(1).map(str::to_string).collect())
    }
}

fn field(words: &str, field: &str) -> String {
    format!("/// Some value.\n#[field({words})] pub {field}, ")
}

fn codes(expected: &[&str]) -> Vec<String> {
    expected.iter().map(|code| code.to_string()).collect()
}

#[test]
fn additions_are_recorded() {
    let project = Project::new("additions");
    project.define("v1", &field("1", "stock: i32")).build();
    let (reported, lines) = project.define("v1", &(field("1", "stock: i32") + &field("2", "limit: i32"))).build();
    assert_eq!(reported, codes(&[]));
    let expected = [
        "v1 field ProductSpec.limit 2 i32 optional",
        "v1 field ProductSpec.stock 1 i32 optional",
        "v1 struct ProductSpec",
    ];
    assert_eq!(lines, expected);
    assert!(codegen::examine(&project.root).ledger.iter().all(|file| !file.stale));
}

#[test]
fn required_may_become_optional_but_not_reverse() {
    let project = Project::new("presence");
    project.define("v1", &field("1, required", "stock: i32")).build();
    assert_eq!(project.define("v1", &field("1", "stock: i32")).build().0, codes(&[]));
    assert_eq!(project.define("v1", &field("1, required", "stock: i32")).build().0, codes(&["error C006"]));
}

#[test]
fn break_in_alpha_is_warning_and_updates_ledger() {
    let project = Project::new("alpha");
    project.define("v1alpha1", &field("1", "stock: i32")).build();
    let (reported, lines) = project.define("v1alpha1", &field("2", "stock: i64")).build();
    assert_eq!(reported, codes(&["warning C003", "warning C005"]));
    assert_eq!(lines[0], "v1alpha1 field ProductSpec.stock 2 i64 optional");
    assert_eq!(project.build().0, codes(&[]));
}

#[test]
fn intended_break_is_recorded_once() {
    let project = Project::new("meant");
    let both = field("1", "stock: i32") + &field("7", "colour: String");
    project.define("v1", &both).build();
    let one = field("1", "stock: i32");
    assert_eq!(project.define("v1", &one).build().0, codes(&["error C002"]));
    let breaks = "#[breaks(C002, field = colour, since = \"1.37\", reason = \"It was never set.\")]";
    let (reported, lines) = project.define_with(breaks, "v1", &one).build();
    assert_eq!(reported, codes(&[]));
    assert!(lines.contains(&"v1 break C002 ProductSpec.colour 1.37: It was never set.".to_string()), "{lines:?}");
    assert!(lines.contains(&"v1 gone ProductSpec.colour 7".to_string()), "{lines:?}");
    assert_eq!(project.build().0, codes(&[]), "the attribute may stay");
    assert_eq!(project.define("v1", &one).build(), (codes(&[]), lines), "and may go");
}

#[test]
fn number_of_removed_field_stays_reserved() {
    let project = Project::new("taken");
    let breaks = "#[breaks(C002, field = colour, reason = \"It was never set.\")]";
    project.define("v1", &(field("1", "stock: i32") + &field("7", "colour: String"))).build();
    project.define_with(breaks, "v1", &field("1", "stock: i32")).build();
    let reused = field("1", "stock: i32") + &field("7", "price: i32");
    assert_eq!(project.define("v1", &reused).build().0, codes(&["error C004"]));
    let back = field("1", "stock: i32") + &field("7", "colour: String");
    let (reported, lines) = project.define("v1", &back).build();
    assert_eq!(reported, codes(&[]), "the field itself may come back");
    assert!(!lines.iter().any(|line| line.contains(" gone ")), "{lines:?}");
}

#[test]
fn invalid_definitions_are_not_compared() {
    let project = Project::new("wrong");
    project.define("v1", &field("1", "stock: i32")).build();
    assert_eq!(project.define("v1", &field("1", "stock: Stock")).build().0, codes(&["error A015"]));
}

#[test]
fn tighter_constraint_is_warned_about_once() {
    let project = Project::new("tighter");
    project.define("v1", &field("1, min = 0, max = 9", "stock: i32")).build();
    let looser = project.define("v1", &field("1, max = 20", "stock: i32")).build();
    assert_eq!(looser.0, codes(&[]));
    let tighter = field("1, max = 10", "stock: i32");
    let (reported, lines) = project.define("v1", &tighter).build();
    assert_eq!(reported, codes(&["warning C014"]));
    assert!(lines.contains(&"v1 limit ProductSpec.stock max 10".to_string()), "{lines:?}");
    assert_eq!(project.build().0, codes(&[]), "the ledger has followed");
    let new_field = tighter + &field("2, min_length = 1", "colour: String");
    assert_eq!(project.define("v1", &new_field).build().0, codes(&[]), "no client has sent a new field");
    let rule = "#[rule(\"self.stock != 7\", field = stock, message = \"must not be 7\")]";
    assert_eq!(project.define_with(rule, "v1", &new_field).build().0, codes(&["warning C014"]));
    assert_eq!(project.define("v1", &new_field).build().0, codes(&[]));
}

#[test]
fn tighter_constraint_may_be_intended() {
    let project = Project::new("tighter-meant");
    project.define("v1", &field("1", "stock: i32")).build();
    let meant = "#[breaks(C014, reason = \"Shelves end.\")] ".to_string() + &field("1, max = 9", "stock: i32");
    let (reported, lines) = project.define("v1", &meant).build();
    assert_eq!(reported, codes(&[]));
    assert!(lines.contains(&"v1 break C014 ProductSpec.stock Shelves end.".to_string()), "{lines:?}");
    assert_eq!(project.build(), (codes(&[]), lines), "the attribute may stay");
}

#[test]
fn intended_removal_of_value_may_keep_reason() {
    let project = Project::new("value-meant");
    let with = |values: &str, breaks: &str| {
        let shelf = format!("/// Where.\n{breaks}\npub enum Shelf {{ {values} }}\n");
        let path = project.root.join("api-defs/shop.example.com/shelf.rs");
        project.define("v1", &field("1", "shelf: Shelf"));
        fs::write(path, shelf).unwrap();
        project.build()
    };
    assert_eq!(with("/// Up.\nTop, /// Down.\nLow", "").0, codes(&[]));
    let breaks = "#[breaks(C008, value = \"Low\", reason = \"It was wet.\")]";
    let (reported, lines) = with("/// Up.\nTop", breaks);
    assert_eq!(reported, codes(&[]));
    assert!(lines.contains(&"v1 break C008 Shelf \"Low\" It was wet.".to_string()), "{lines:?}");
    assert_eq!(with("/// Up.\nTop", breaks), (codes(&[]), lines), "the attribute may stay");
}

#[test]
fn old_format_ledger_has_no_constraints() {
    let project = Project::new("format-1");
    project.define("v1", &field("1, max = 9", "stock: i32"));
    let folder = project.root.join("generated/ledger");
    fs::create_dir_all(&folder).unwrap();
    let before = "# What shop.example.com has published. Written by the build.\n\
                  v1 field ProductSpec.stock 1 i32 optional\nv1 struct ProductSpec\n";
    fs::write(folder.join("shop.example.com.txt"), before).unwrap();
    let (reported, lines) = project.build();
    assert_eq!(reported, codes(&[]));
    assert!(lines.contains(&"v1 limit ProductSpec.stock max 9".to_string()), "{lines:?}");
}
