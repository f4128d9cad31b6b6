//! Tests of imports: of exported definitions, and of definitions that use every keyword.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use codegen::export::{ExportFormat, export};
use codegen::import::{Imported, import};
use codegen::{Project, load_project};
use machinery::json::Issues;
use serde_json::Value;

/// The folder of the definitions that were exported from the shop and imported.
const SHOP: &str = "import----examples-shop";

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// An empty folder for one test.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The definitions that a package exports, one text per file.
fn exported(package: &Path) -> Vec<(String, String)> {
    let model = load_project(&Project::external(package)).unwrap_or_else(|errors| panic!("{errors}"));
    let files = export(&model, ExportFormat::Crd, None).unwrap();
    files.into_iter().map(|file| (file.path, String::from_utf8(file.bytes).unwrap())).collect()
}

fn write(imported: &Imported, package: &Path) {
    for file in &imported.files {
        let path = package.join(&file.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &file.bytes).unwrap();
    }
}

/// A definition with sorted rules: an import moves rules of immutable fields after the others.
fn document(yaml: &str) -> Value {
    let json = machinery::yaml::to_json(yaml.as_bytes(), &mut Issues::ignore()).unwrap();
    let mut value = serde_json::from_slice(&json).unwrap();
    sort_rules(&mut value);
    value
}

fn sort_rules(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(sort_rules),
        Value::Object(members) => {
            members.values_mut().for_each(sort_rules);
            let rules = members.get_mut("x-kubernetes-validations").and_then(Value::as_array_mut);
            rules.into_iter().for_each(|rules| rules.sort_by_key(Value::to_string));
        }
        _ => {}
    }
}

/// Imports what a package exports, exports it again, and compares. Returns the warnings.
#[track_caller]
fn check_round_trip(package: &str, but_for: &[&str]) -> Vec<String> {
    let before = exported(&here().join(package));
    let text: String = before.iter().map(|(_, text)| format!("---\n{text}")).collect();
    let imported = import(&text).unwrap();
    let folder = scratch(&format!("import-{}", package.replace(['.', '/'], "-")));
    write(&imported, &folder);
    let after = exported(&folder);
    let names = |all: &[(String, String)]| all.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
    let (mut one, mut other) = (names(&before), names(&after));
    one.sort();
    other.sort();
    assert_eq!(one, other);
    for (path, text) in before.iter().filter(|(path, _)| !but_for.contains(&path.as_str())) {
        let again = &after.iter().find(|(other, _)| other == path).unwrap().1;
        assert!(document(text) == document(again), "{path}:\n{text}\n{again}");
    }
    imported.warnings
}

#[test]
fn export_and_import_round_trip() {
    assert_eq!(check_round_trip("../examples/shop", &[]), [""; 0]);
    let product = Path::new(env!("CARGO_TARGET_TMPDIR")).join(SHOP).join("api-defs/shop.example.com/product.rs");
    assert!(fs::read_to_string(product).unwrap().contains("pub conditions: Vec<Condition>,"), "a known type");
    assert_eq!(check_round_trip("../tests/verdict/kinds", &[]), [""; 0]);
    // The language cannot express a kind without lists, and conversion functions are not exported.
    let warnings = check_round_trip("../tests/authored", &["seeds.garden.example.com.yaml"]);
    let functions = warnings.iter().filter(|line| line.contains("hatches/ci.rs")).count();
    assert_eq!((warnings.len(), functions), (2, 2), "{warnings:#?}");
}

/// With `BLESS=1`, writes the output of the import.
#[test]
fn every_keyword_is_imported_or_reported() {
    let folder = here().join("tests/import");
    let imported = import(&fs::read_to_string(folder.join("every-keyword.yaml")).unwrap()).unwrap();
    let mut text = String::new();
    for file in &imported.files {
        text += &format!("=== {}\n{}", file.path, String::from_utf8_lossy(&file.bytes));
    }
    text += &format!("=== warnings\n{}\n", imported.warnings.join("\n"));
    let snapshot = folder.join("every-keyword.txt");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&snapshot, &text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(snapshot).unwrap());
    let package = scratch("import-every-keyword");
    write(&imported, &package);
    let again: String = exported(&package).iter().map(|(_, text)| format!("---\n{text}")).collect();
    let differs = import(&again).unwrap().warnings;
    let reported = differs.iter().filter(|line| !line.contains("hatches/tools.rs")).count();
    assert_eq!(reported, 0, "the import lost something that the language can express: {differs:#?}");
}

#[test]
fn import_overwrites_nothing_and_reports_unreadable_input() {
    let folder = scratch("import-program");
    let run = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_import")).current_dir(&folder).args(words).output().unwrap();
        let [text, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (output.status.success(), text + &errors)
    };
    let (_, crd) = &exported(&here().join("../examples/shop"))[0];
    fs::write(folder.join("crd.yaml"), crd).unwrap();
    assert_eq!(run(&["crd.yaml", "out"]), (true, "2 files in out, 0 warnings\n".to_owned()));
    let group = "api-defs/shop.example.com/group.rs";
    fs::write(folder.join("out").join(group), "mine").unwrap();
    let (_, text) = run(&["crd.yaml", "out"]);
    assert!(text.contains("exists already; nothing is written"), "{text}");
    assert_eq!(fs::read_to_string(folder.join("out").join(group)).unwrap(), "mine");
    for (text, expect) in [
        ("a: [", "document 1: "),
        ("kind: Pod", "the input has no CustomResourceDefinition of apiextensions.k8s.io/v1"),
        ("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: {}", "spec.group is missing"),
    ] {
        fs::write(folder.join("wrong.yaml"), text).unwrap();
        let (done, text) = run(&["wrong.yaml", "nowhere"]);
        assert!(!done && text.contains(expect), "{text}");
    }
    assert!(!folder.join("nowhere").exists());
    assert!(run(&["crd.yaml"]).1.contains("usage: import FILE.yaml .. PACKAGE"));
}
