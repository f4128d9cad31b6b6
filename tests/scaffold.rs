//! `kube-apiserver new`: the generator takes what it writes, a server takes its manifests, and its test passes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use codegen::model::Package;
use codegen::{Project, examine_project, refresh};
use http::{Method, StatusCode};
use kube_apiserver::TestServer;
use machinery::json::{Issues, encode_value};
use serde_json::{Value, json};
use tempfile::TempDir;

/// What is running here.
const PROGRAM: &str = env!("CARGO_BIN_EXE_kube-apiserver");

/// A crate that `new` wrote.
struct Scaffold {
    folder: PathBuf,
    _place: TempDir,
}

impl Scaffold {
    fn new(words: &[&str]) -> Scaffold {
        let place = tempfile::tempdir().unwrap();
        let mut command = Command::new(PROGRAM);
        // The checkout is found by the current folder, the one of the package that is tested.
        command.current_dir(env!("CARGO_MANIFEST_DIR")).arg("new").arg(place.path().join("sold-things")).args(words);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Scaffold { folder: place.path().join("sold-things"), _place: place }
    }

    /// The documents of a manifest.
    fn manifests(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.folder.join("deploy").join(name)).unwrap();
        text.split("\n---\n").map(document).collect()
    }
}

fn document(yaml: &str) -> Value {
    let mut issues = Issues::collect();
    let (value, mut text) = (machinery::yaml::to_value(yaml.as_bytes(), &mut issues).unwrap(), Vec::new());
    encode_value(&value, &mut text);
    serde_json::from_slice(&text).unwrap()
}

fn names(folder: &Path) -> BTreeSet<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn the_generator_takes_the_definitions() {
    for words in [&[][..], &["--group=shop.example.org", "--kind=Policy"]] {
        let scaffold = Scaffold::new(words);
        let project = Project::external(&scaffold.folder);
        let examined = examine_project(&project);
        assert_eq!(examined.diagnostics.iter().count(), 0, "{}", examined.diagnostics);
        let own = examined.model.groups.iter().filter(|group| group.package == Package::Own);
        let own: Vec<&str> = own.map(|group| group.name.as_str()).collect();
        let (group, module, kind) = match words {
            [] => ("sold-things.example.com", "sold_things", "Widget"),
            _ => ("shop.example.org", "shop", "Policy"),
        };
        assert_eq!(own, [group], "no other group is in it");
        let generated = scaffold.folder.join("generated");
        refresh(&project, &generated, Package::Own, false).unwrap();
        let modules = BTreeSet::from(["catalog.rs", "lib.rs", module].map(str::to_owned));
        assert_eq!(names(&generated.join("src")), modules);
        let file = generated.join("src").join(module).join("v1").join(kind.to_lowercase()).with_extension("rs");
        let text = fs::read_to_string(file).unwrap();
        assert!(text.contains(&format!("pub struct {kind}Spec {{")), "{text}");
    }
}

#[tokio::test]
async fn a_server_takes_the_manifests() {
    let scaffold = Scaffold::new(&["--group=shop.example.org"]);
    let server = TestServer::start().unwrap();
    let client = server.client().unwrap();
    let mut manifests = scaffold.manifests("deployment.yaml");
    let [mut service] = <[Value; 1]>::try_from(scaffold.manifests("apiservice.yaml")).unwrap();
    assert_eq!(service["spec"]["caBundle"], "CA_BUNDLE", "the command in README.md replaces it");
    service["spec"].as_object_mut().unwrap().remove("caBundle");
    manifests.push(service);
    for manifest in &manifests {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (kind, group) = (text(&manifest["kind"]), text(&manifest["apiVersion"]));
        let root = if group == "v1" { "/api/v1".to_owned() } else { format!("/apis/{group}") };
        let space = match text(&manifest["metadata"]["namespace"]) {
            none if none.is_empty() => none,
            some => format!("/namespaces/{some}"),
        };
        let path = format!("{root}{space}/{}s?fieldValidation=Strict", kind.to_lowercase());
        let (status, answer) = client.send(Method::POST, &path, manifest).await.unwrap();
        assert_eq!(status, StatusCode::CREATED, "{path}: {answer}");
    }
    let path = "/apis/apps/v1/namespaces/sold-things/deployments/sold-things";
    let (_, deployment) = client.send(Method::GET, path, &Value::Null).await.unwrap();
    assert_eq!(deployment["spec"]["template"]["spec"]["serviceAccountName"], json!("sold-things"));
}

/// Takes two minutes of processor time at first. The crate has imported definitions beside its own, which compile.
#[test]
#[ignore = "builds a crate and what it uses: cargo test --test scaffold -- --ignored"]
fn the_test_of_the_crate_passes_as_it_comes() {
    let scaffold = Scaffold::new(&[]);
    let definitions = Path::new(env!("CARGO_MANIFEST_DIR")).join("codegen/tests/import/every-keyword.yaml");
    for file in codegen::import::import(&fs::read_to_string(definitions).unwrap()).unwrap().files {
        let path = scaffold.folder.join(file.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file.bytes).unwrap();
    }
    let target = Path::new(PROGRAM).ancestors().nth(2).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    // In CI the generator writes nothing: a crate's first build is an author's.
    let output = cargo.arg("test").current_dir(&scaffold.folder).env("CARGO_TARGET_DIR", target).env_remove("CI");
    let output = output.output().unwrap();
    let printed = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success(), "{printed}");
    for test in ["objects_are_created_read_and_listed", "a_value_out_of_bounds_is_refused"] {
        assert!(printed.contains(&format!("test {test} ... ok")), "{printed}");
    }
}
