//! Tests controllers in Rust and Go that use the types which `export` writes for the shop.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use apiserver::{InProcess, Server};
use codegen::Project;
use codegen::export::{ExportFormat, export};
use futures_util::StreamExt;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::api::{Api, ObjectMeta, Patch, PatchParams, PostParams};
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::{wait, watcher};
use kube::{Client, ResourceExt};
use needs::needs;
use serde_json::json;

#[path = "../clients/rust/shop/mod.rs"]
mod exported;

use exported::v1::{Product, ProductSpec};

/// Timeout of a wait for a controller.
const TIMEOUT: Duration = Duration::from_secs(60);

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn start() -> InProcess {
    Server::delegating("shop-apiserver", shop::groups()).start().unwrap()
}

async fn connect(server: &InProcess) -> Client {
    let kubeconfig = Kubeconfig::read_from(server.kubeconfig()).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

fn lamp(stock: i32) -> Product {
    let metadata = ObjectMeta { name: Some("lamp".into()), ..ObjectMeta::default() };
    let price = Quantity("12500m".into());
    let spec =
        ProductSpec { stock: Some(stock), price, supplier: "works.example.com".into(), ..ProductSpec::default() };
    Product { metadata, spec, ..Product::default() }
}

/// Waits until the controller has set `status.available` to `count`.
async fn available(products: &Api<Product>, count: i32) {
    let is_so = move |product: Option<&Product>| product.is_some_and(|product| product.status.available == count);
    let seen = wait::await_condition(products.clone(), "lamp", is_so);
    tokio::time::timeout(TIMEOUT, seen).await.expect("the controller reconciles in time").unwrap();
}

/// Creates and changes a product, and waits for the controller each time.
async fn follows(products: &Api<Product>) {
    let made = products.create(&PostParams::default(), &lamp(3)).await.unwrap();
    assert_eq!((made.spec.stock, made.spec.price.0.as_str()), (Some(3), "12500m"));
    available(products, 3).await;
    let mut changed = products.get("lamp").await.unwrap();
    changed.spec.stock = Some(7);
    products.replace("lamp", &PostParams::default(), &changed).await.unwrap();
    available(products, 7).await;
}

/// Checks that `export` writes the files in the repository. `BLESS=1` writes them there.
#[test]
fn exported_types_match_repository() {
    let model = codegen::load_project(&Project::at(package())).unwrap_or_else(|errors| panic!("{errors}"));
    for (name, format) in
        [("rust", ExportFormat::Rust), ("go", ExportFormat::Go), ("typescript", ExportFormat::TypeScript)]
    {
        let folder = package().join("clients").join(name);
        for file in export(&model, format, None).unwrap() {
            let path = folder.join(&file.path);
            if std::env::var_os("BLESS").is_some() {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, &file.bytes).unwrap();
            }
            let kept = fs::read(&path).unwrap_or_default();
            assert!(kept == file.bytes, "{} is out of date; BLESS=1 writes it", path.display());
        }
    }
}

#[tokio::test]
async fn a_controller_in_rust_reconciles() {
    let server = start();
    let products: Api<Product> = Api::namespaced(connect(&server).await, "default");
    let reconcile = |product: Arc<Product>, products: Arc<Api<Product>>| async move {
        let status = json!({"status": {"available": product.spec.stock.unwrap_or(0)}});
        products.patch_status(&product.name_any(), &PatchParams::default(), &Patch::Merge(&status)).await?;
        Ok::<_, kube::Error>(Action::await_change())
    };
    let controller = Controller::new(products.clone(), watcher::Config::default());
    let again = |_: Arc<Product>, _: &kube::Error, _: Arc<Api<Product>>| Action::requeue(Duration::from_millis(100));
    let running = controller.run(reconcile, again, Arc::new(products.clone())).for_each(|_| async {});
    tokio::select! {
        () = running => panic!("the controller ended"),
        () = follows(&products) => {}
    }
}

/// A process that is killed on drop.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Builds the Go controller. Its module caches are kept below the target folder, so that later runs are
/// fast.
fn go_controller() -> PathBuf {
    let module = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shop-controller");
    fs::create_dir_all(module.join("shop/v1")).unwrap();
    for file in fs::read_dir(package().join("clients/go/shop/v1")).unwrap().flatten() {
        fs::copy(file.path(), module.join("shop/v1").join(file.file_name())).unwrap();
    }
    for file in ["main.go", "go.mod", "go.sum"] {
        fs::copy(package().join("clients/controller").join(file), module.join(file)).unwrap();
    }
    let go = |arguments: &[&str]| {
        let done = Command::new("go").args(arguments).current_dir(&module).output().unwrap();
        assert!(done.status.success(), "go {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    // Uses the build flags of `.ci/tools`, so that packages are built once.
    go(&["build", "-trimpath", "-o", "controller", "."]);
    go(&["vet", "-trimpath", "./..."]);
    let gofmt = Command::new("gofmt").args(["-l", "."]).current_dir(&module).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&gofmt.stdout), "", "files that gofmt would lay out otherwise");
    module.join("controller")
}

#[needs(go)]
#[tokio::test]
async fn a_controller_in_go_reconciles() {
    let program = tokio::task::spawn_blocking(go_controller).await.unwrap();
    let server = start();
    let products: Api<Product> = Api::namespaced(connect(&server).await, "default");
    let mut command = Command::new(program);
    command.env("KUBECONFIG", server.kubeconfig()).stdin(Stdio::null()).stderr(Stdio::null());
    let _running = Running(command.spawn().unwrap());
    follows(&products).await;
}
