//! Tests of arguments, names and generated files of `new`.

use std::collections::BTreeMap;

use tempfile::TempDir;

use super::*;

/// Creates a folder that is recognized as a checkout.
fn checkout() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for part in ["Cargo.lock", "api-defs/meta/group.rs", "codegen/Cargo.toml", "generated/Cargo.toml"] {
        put(folder.path(), part, "of the checkout");
    }
    put(folder.path(), "server/apiserver/Cargo.toml", "");
    put(folder.path(), "api-defs/apps/group.rs", "");
    folder
}

fn put(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn request(words: &[&str]) -> Result<Request, NewError> {
    parse(&words.iter().map(OsString::from).collect::<Vec<_>>())
}

/// Runs the command with these arguments and the checkout's path.
fn new(folder: &Path, checkout: &TempDir, words: &[&str]) -> Result<String, NewError> {
    let name = folder.to_str().unwrap();
    let path = format!("--path={}", checkout.path().display());
    create(&request(&[&[name, &path], words].concat())?)
}

#[track_caller]
fn refused(words: &[&str], expect: &str) {
    let (place, checkout) = (tempfile::tempdir().unwrap(), checkout());
    let [name, rest @ ..] = words else { panic!("no name") };
    let folder = place.path().join(name);
    let why = new(&folder, &checkout, rest).unwrap_err().to_string();
    assert!(why.contains(expect), "{why}");
    assert!(!folder.exists(), "nothing is written");
}

/// Reads all files below a folder.
fn texts(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(one) = folders.pop() {
        for path in fs::read_dir(one).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                    found.insert(name, fs::read_to_string(path).unwrap());
                }
            }
        }
    }
    found
}

#[test]
fn parses_option_values() {
    let expect = Request {
        folder: "../shop".into(),
        group: Some("shop.example.org".into()),
        kind: Some("Product".into()),
        checkout: Some("kube".into()),
    };
    let words = ["../shop", "--group", "shop.example.org", "--kind=Product", "--path", "kube"];
    assert_eq!(request(&words).unwrap(), expect);
    for (words, expect) in [
        (&[][..], "NAME is missing"),
        (&["a", "b"], "unexpected argument \"b\""),
        (&["a", "--groups=b"], "unknown option --groups"),
        (&["a", "--kind"], "--kind needs a value"),
    ] {
        let why = request(words).unwrap_err().to_string();
        assert!(why.starts_with(expect) && why.contains("usage: kube-apiserver new NAME"), "{why}");
    }
}

#[test]
fn rejects_names_that_do_not_compile() {
    for name in ["9lives", "Shop", "shop-", "a b", "-", "ünder"] {
        refused(&[name], "invalid crate name");
    }
    refused(&["match"], "`match` is a keyword of Rust");
    refused(&["serde-json"], "a crate or module `serde_json` exists already");
    let dns = "a group is a DNS subdomain with a dot";
    for group in ["shop", "Shop.example.com", "shop..com", "-a.b", ""] {
        refused(&["shop", "--group", group], dns);
    }
    refused(&["shop", "--group=shop.k8s.io"], "groups below k8s.io and kubernetes.io are Kubernetes' own");
    refused(&["shop", "--group=9.example.com"], "its first label names a module, which begins with a letter");
    refused(&["shop", "--group=type.example.com"], "`type` is a keyword of Rust");
    refused(&["shop", "--group=cel.example.com"], "a crate or module `cel` exists already");
    refused(
        &["apps"],
        "--group \"apps.example.com\": its first label names a module, and `apps` is one of Kubernetes'",
    );
    for kind in ["product", "Pro duct", "", "Été"] {
        refused(&["shop", "--kind", kind], "a kind is called in CamelCase");
    }
    refused(&["shop", "--kind=Condition"], "a type of this name is in scope of every definition");
    refused(&["shop", "--kind=Group"], "the file `group.rs` declares the group");
}

#[test]
fn guesses_plurals_like_upstream() {
    for (kind, plural) in [("Widget", "widgets"), ("Policy", "policies"), ("Gateway", "gateways"), ("Box", "boxes")] {
        assert_eq!(names::plural(kind), plural);
    }
    assert_eq!(["Class", "Branch", "Bush"].map(names::plural), ["classes", "branches", "bushes"]);
}

#[test]
fn does_not_overwrite_existing_folder() {
    let (place, checkout) = (tempfile::tempdir().unwrap(), checkout());
    put(place.path(), "shop/Cargo.toml", "mine");
    let why = new(&place.path().join("shop"), &checkout, &[]).unwrap_err().to_string();
    assert!(why.ends_with("shop exists already; nothing is written"), "{why}");
    let is_left = BTreeMap::from([("shop/Cargo.toml".to_owned(), "mine".to_owned())]);
    assert_eq!(texts(place.path()), is_left);
    let why = new(&place.path().join("absent/shop"), &checkout, &[]).unwrap_err().to_string();
    assert!(why.starts_with("cannot make the folder "), "{why}");
}

#[test]
fn rejects_folder_without_checkout() {
    let (place, checkout) = (tempfile::tempdir().unwrap(), checkout());
    fs::remove_file(checkout.path().join("codegen/Cargo.toml")).unwrap();
    let why = new(&place.path().join("shop"), &checkout, &[]).unwrap_err().to_string();
    assert!(why.ends_with("no checkout of kube-apiserver, because it has no codegen/Cargo.toml"), "{why}");
    assert!(!place.path().join("shop").exists());
}

#[test]
fn fills_templates() {
    let (place, checkout) = (tempfile::tempdir().unwrap(), checkout());
    let folder = place.path().join("my-shop");
    let next = new(&folder, &checkout, &["--group=sales.example.org", "--kind=Product"]).unwrap();
    assert!(next.contains("my-shop: a crate for an API server of the group sales.example.org."), "{next}");
    let files = texts(&folder);
    for (path, text) in &files {
        assert!(!text.contains('@') && !path.contains('@'), "{path}: {text}");
    }
    let has = |path: &str, expect: &str| assert!(files[path].contains(expect), "{path}: {}", files[path]);
    assert_eq!(files["Cargo.lock"], "of the checkout");
    has("api-defs/sales.example.org/group.rs", "#![group(\"sales.example.org\")]");
    has("api-defs/sales.example.org/product.rs", "pub spec: ProductSpec,");
    has("main.rs", "Server::delegating(\"my-shop\", my_shop::groups()).run()");
    has("tests/server.rs", "\"/apis/sales.example.org/v1/namespaces/default/products\"");
    has("deploy/apiservice.yaml", "name: v1.sales.example.org");
    has("Cargo.toml", &format!("rust-version = \"{}\"", env!("CARGO_PKG_RUST_VERSION")));
}

#[test]
fn computes_relative_path_of_checkout() {
    let at = |path: &str| Checkout { path: path.into() };
    let from = |path: &str, folder: &str| at(path).relative_to(Path::new(folder));
    assert_eq!(from("/home/me/kube-apiserver", "/home/me/shop"), "../kube-apiserver");
    assert_eq!(from("/home/me/kube-apiserver", "/home/me/kube-apiserver/shop/.cargo"), "../..");
    assert_eq!(from("/src/kube-apiserver", "/home/me/shop"), "/src/kube-apiserver");
}
