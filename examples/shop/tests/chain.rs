//! Tests the shop behind a main server with kubectl.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use apiserver::InProcess;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kube_apiserver::TestServer;
use needs::needs;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Timeout of every wait.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Path of the OpenAPI document of the shop's group.
const OPENAPI: &str = "/openapi/v3/apis/shop.example.com/v1";

/// A main server and its kubectl configuration.
struct Main {
    server: InProcess,
    folder: TempDir,
}

impl Main {
    fn kubectl(&self, args: &[&str]) -> Command {
        let mut command = Command::new("kubectl");
        let config = ["--kubeconfig".as_ref(), self.server.kubeconfig().as_os_str()];
        command.args(config).arg("--cache-dir").arg(self.folder.path().join("cache")).args(args);
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.kubectl(args).output().unwrap()
    }

    /// Standard output of kubectl, which has to succeed.
    #[track_caller]
    fn stdout(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Standard error of kubectl, which has to fail.
    #[track_caller]
    fn stderr(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(!output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stderr).unwrap()
    }

    /// Repeats a kubectl command until its output contains a text; returns the time that this took.
    #[track_caller]
    fn wait_for_output(&self, args: &[&str], expect: &str) -> Duration {
        let begin = Instant::now();
        loop {
            let output = self.run(args);
            if output.status.success() && String::from_utf8_lossy(&output.stdout).contains(expect) {
                return begin.elapsed();
            }
            let found = String::from_utf8_lossy(if output.stdout.is_empty() { &output.stderr } else { &output.stdout });
            assert!(begin.elapsed() < TIMEOUT, "{args:?} does not print {expect:?}: {found}");
        }
    }

    /// Writes a document to a file and applies it.
    #[track_caller]
    fn apply(&self, name: &str, text: &str) -> String {
        self.stdout(&["apply", "-f", &self.file(name, text)])
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

/// The shop's process; killed on drop.
struct Shop {
    process: Child,
    port: u16,
}

impl Shop {
    fn start(main: &Main, data: &Path, port: u16) -> Shop {
        let mut process = Command::new(env!("CARGO_BIN_EXE_shop-apiserver"))
            .arg(format!("--kubeconfig={}", main.server.kubeconfig().display()))
            .arg(format!("--data-dir={}", data.display()))
            .arg(format!("--secure-port={port}"))
            .arg("--external-hostname=shop.default.svc")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map_while(Result::ok);
        let ready = lines.find(|line| line.contains("Serving the Kubernetes API on ")).expect("an address");
        // The process would block on a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let address = ready.split("https://127.0.0.1:").nth(1).unwrap().split('.').next().unwrap();
        Shop { process, port: address.parse().unwrap() }
    }

    fn register(&self, main: &Main, data: &Path) {
        let authority = STANDARD.encode(std::fs::read(data.join("pki/ca.crt")).unwrap());
        let text = include_str!("../apiservice.yaml").replace("CA_BUNDLE\n", &format!("{authority}\n"));
        main.apply("apiservice.yaml", &text.replace("7443}", &format!("{}}}", self.port)));
        main.stdout(&["wait", "--for=condition=Available", "--timeout=60s", "apiservice/v1.shop.example.com"]);
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn product(name: &str, spec: &str) -> String {
    format!("apiVersion: shop.example.com/v1\nkind: Product\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n")
}

/// Fails unless the text contains all parts.
#[track_caller]
fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[needs(kubectl)]
#[test]
fn kubectl_uses_shop_through_main_server() {
    let main = Main { server: TestServer::start().unwrap(), folder: tempfile::tempdir().unwrap() };
    let data = main.folder.path().join("shop");
    let shop = Shop::start(&main, &data, 0);
    shop.register(&main, &data);
    let resources = ["api-resources", "--api-group=shop.example.com", "--cached=false"];
    main.wait_for_output(&resources, "products");
    assert_has(&main.stdout(&resources), &["prod", "shop.example.com/v1", "true", "Product"]);

    // Defaults, the shop's own admission, tables, field ownership.
    assert_has(&main.apply("lamp.yaml", &product("lamp", "price: '12.5'")), &["product.shop.example.com/lamp created"]);
    assert_has(
        &main.stdout(&["get", "prod", "-o", "wide"]),
        &["PRICE", "STOCK", "SUPPLIER", "lamp", "workshop.example.com"],
    );
    let applied = ["apply", "--server-side", "--field-manager=clerk", "-f"];
    let path = main.file("chair.yaml", &product("chair", "price: '40', stock: 3"));
    assert_has(
        &main.stdout(&[&applied[..], &[&path]].concat()),
        &["product.shop.example.com/chair serverside-applied"],
    );
    let managers =
        main.stdout(&["get", "prod", "chair", "-o", "jsonpath={.metadata.managedFields[*].manager} {.spec.stock}"]);
    assert_has(&managers, &["clerk", "3"]);
    assert_has(
        &main.stdout(&["explain", "products.spec", "--api-version=shop.example.com/v1"]),
        &["Desired state of the product.", "price"],
    );
    for (spec, expect) in [
        ("price: '-1'", "spec.price must not be negative"),
        ("price: '1', stock: 5000", "spec.stock: Invalid value: 5000"),
        (
            "price: '1', stock: 101, supplier: workshop",
            "spec.stock: Invalid value: the workshop makes 100 units, not 101",
        ),
        ("price: '1', colour: red", "unknown field \"spec.colour\""),
    ] {
        let path = main.file("refused.yaml", &product("refused", spec));
        assert_has(&main.stderr(&["create", "-f", &path]), &[expect]);
    }

    // The documentation shows deprecations and the bounds of fields.
    let path = main.file("stool.yaml", &product("stool", "price: '1', maker: jo"));
    for (args, is_warned) in [(["create", "-f"], true), (["apply", "-f"], false)] {
        let output = main.run(&[&args[..], &[&path]].concat());
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert_eq!(complaint.contains("Warning: spec.maker: deprecated"), is_warned, "{args:?}: {complaint}");
    }
    assert_has(
        &main.stdout(&["explain", "products.spec.maker", "--api-version=shop.example.com/v1"]),
        &["Deprecated: Maker of the product"],
    );
    let document: Value = serde_json::from_str(&main.stdout(&["get", "--raw", OPENAPI])).unwrap();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let (_, spec) = schemas.iter().find(|(name, _)| name.ends_with(".v1.ProductSpec")).unwrap();
    let (maker, stock) = (&spec["properties"]["maker"], &spec["properties"]["stock"]);
    assert_eq!(maker["deprecated"], json!(true), "{spec}");
    assert_eq!((&stock["minimum"], &stock["maximum"]), (&json!(0), &json!(1000)), "{spec}");

    let path = main.file("lost.yaml", &product("lost", "price: '1'"));
    assert_has(&main.stderr(&["create", "-n", "nowhere", "-f", &path]), &["namespaces \"nowhere\" not found"]);

    // The main server authorizes requests to the shop.
    assert_has(
        &main.stderr(&["get", "prod", "--as=jane"]),
        &["(Forbidden)", "User \"jane\" cannot list resource \"products\""],
    );
    main.stdout(&["create", "clusterrole", "clerk", "--verb=get,list", "--resource=products.shop.example.com"]);
    main.stdout(&["create", "clusterrolebinding", "clerk", "--clusterrole=clerk", "--user=june"]);
    main.wait_for_output(&["get", "prod", "--as=june"], "lamp");

    let mut watch = main.kubectl(&["get", "prod", "-w", "-o", "name"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut seen = BufReader::new(watch.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert_eq!(
        [seen.next(), seen.next(), seen.next()].map(Option::unwrap),
        ["chair", "lamp", "stool"].map(|name| format!("product.shop.example.com/{name}"))
    );
    main.apply("table.yaml", &product("table", "price: '99'"));
    assert_eq!(seen.next().unwrap(), "product.shop.example.com/table");
    watch.kill().unwrap();
    watch.wait().unwrap();

    let port = shop.port;
    drop(shop);
    assert_has(&main.stderr(&["get", "prod"]), &["the server is currently unable to handle the request"]);
    assert_has(&main.stdout(&["get", "--raw", "/apis"]), &["shop.example.com"]);
    main.stdout(&["get", "pods"]);
    let shop = Shop::start(&main, &data, port);
    let took = main.wait_for_output(&["get", "prod"], "table");
    assert!(took < Duration::from_secs(5), "{took:?}");
    drop(shop);
}
