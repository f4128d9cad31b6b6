//! Disks that are full, hang or fail.
//!
//! Health checks report the state, reads continue, deletes work on a full disk. A server whose disk
//! fails exits.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use needs::needs;
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{ADMIN, Answer, JSON, MERGE_PATCH, Target};

/// How long the server may take to report a state on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn config_map(name: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"text": "x".repeat(2000)}})
}

async fn create(target: &Target, name: &str) -> Answer {
    target.send(ADMIN, Method::POST, CONFIG_MAPS, JSON, config_map(name).to_string()).await
}

async fn code(target: &Target, path: &str) -> u16 {
    target.get(ADMIN, path).await.code
}

/// Waits until the health endpoints respond with this code.
async fn health_becomes(target: &Target, expect: u16) {
    let begin = Instant::now();
    for path in ["/readyz", "/livez"] {
        loop {
            let found = code(target, path).await;
            if found == expect {
                break;
            }
            assert!(begin.elapsed() < TIMEOUT, "{path} still answers {found}, not {expect}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

/// Returns the verbose text of a health endpoint, with a line for each check.
async fn verbose(target: &Target, path: &str) -> String {
    let response = target.request(ADMIN, Method::GET, &format!("{path}?verbose")).send().await.unwrap();
    response.text().await.unwrap()
}

/// A small file system in memory.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(path: &Path, megabytes: u32) -> SmallDisk {
        fs::create_dir(path).unwrap();
        let size = format!("size={megabytes}m,mode=0700");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(path).status();
        assert!(mounted.unwrap().success(), "this process may not mount a file system");
        SmallDisk(path.to_owned())
    }

    fn ballast(&self) -> PathBuf {
        self.0.join("ballast")
    }

    /// Writes a file until at most `leave` bytes are free.
    fn fill(&self, leave: u64) {
        let mut file = File::options().create(true).append(true).open(self.ballast()).unwrap();
        let piece = vec![1; 64 << 10];
        while self.free() > leave && file.write_all(&piece).is_ok() {}
    }

    fn free(&self) -> u64 {
        let shown = Command::new("df").args(["--output=avail", "-B1"]).arg(&self.0).output().unwrap();
        String::from_utf8(shown.stdout).unwrap().lines().nth(1).unwrap().trim().parse().unwrap()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Finding B16.
#[needs(mount)]
#[tokio::test(flavor = "multi_thread")]
async fn full_disk_is_reported_and_allows_deletes() {
    let folder = tempfile::tempdir().unwrap();
    let disk = SmallDisk::mount(&folder.path().join("data"), 200);
    let target = Target::start_in(folder, &[], &[]);
    for name in ["one", "two", "three"] {
        target.create(CONFIG_MAPS, &config_map(name)).await;
    }
    health_becomes(&target, 200).await;

    // Nearly full: writes that grow objects are rejected, finalizer removals and deletes succeed.
    disk.fill(44 << 20);
    health_becomes(&target, 500).await;
    assert_eq!(create(&target, "four").await.code, 507);
    let held = json!({"metadata": {"finalizers": ["example.org/held"]}}).to_string();
    let path = format!("{CONFIG_MAPS}/one");
    assert_eq!(target.send(ADMIN, Method::PATCH, &path, MERGE_PATCH, held).await.code, 200);
    assert_eq!(target.send(ADMIN, Method::DELETE, &path, JSON, "").await.code, 200);
    let free = json!({"metadata": {"finalizers": null}}).to_string();
    assert_eq!(target.send(ADMIN, Method::PATCH, &path, MERGE_PATCH, free).await.code, 200);
    assert_eq!(code(&target, &path).await, 404);

    // Full.
    disk.fill(0);
    let refused = create(&target, "four").await;
    assert_eq!((refused.code, &refused.body["reason"]), (507, &json!("InsufficientStorage")), "{}", refused.body);
    for endpoint in ["/readyz", "/livez"] {
        let text = verbose(&target, endpoint).await;
        assert!(text.contains("[-]etcd failed"), "{endpoint}: {text}");
    }
    assert_eq!(code(&target, &format!("{CONFIG_MAPS}/two")).await, 200, "a read");
    assert_eq!(code(&target, CONFIG_MAPS).await, 200, "a list");
    for name in ["two", "three"] {
        let path = format!("{CONFIG_MAPS}/{name}");
        let deleted = target.send(ADMIN, Method::DELETE, &path, JSON, "").await;
        assert_eq!(deleted.code, 200, "a delete on a full disk: {}", deleted.body);
        assert_eq!(code(&target, &path).await, 404);
    }

    // Free space again: the server recovers without a restart.
    fs::remove_file(disk.ballast()).unwrap();
    health_becomes(&target, 200).await;
    assert_eq!(create(&target, "four").await.code, 201);
    target.assert_alive().await;
}

/// A server with fault injection for its disk.
struct Faulty {
    target: Target,
    fault: PathBuf,
    _shim: TempDir,
}

impl Faulty {
    fn start() -> Faulty {
        let shim = tempfile::tempdir().unwrap();
        let library = shim.path().join("faults.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/attacks/store_faults.c");
        let compiled =
            Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).args([source, "-ldl"]).status();
        assert!(compiled.unwrap().success(), "the C compiler fails");
        let fault = shim.path().join("fault");
        fs::write(&fault, "-").unwrap();
        let environment = [("LD_PRELOAD", library.as_os_str()), ("STORE_FAULT", fault.as_os_str())];
        let target = Target::start_in(tempfile::tempdir().unwrap(), &[], &environment);
        Faulty { target, fault, _shim: shim }
    }

    fn set(&self, fault: &str) {
        // Renamed into place, so that the server never reads an empty file.
        let new = self.fault.with_extension("new");
        fs::write(&new, fault).unwrap();
        fs::rename(new, &self.fault).unwrap();
    }
}

/// Finding B16, for a disk that fails.
#[needs(cc)]
#[tokio::test(flavor = "multi_thread")]
async fn server_exits_on_disk_failure() {
    let mut faulty = Faulty::start();
    faulty.target.create(CONFIG_MAPS, &config_map("one")).await;
    faulty.set("e");
    // The response may be lost with the process, but must not be a success.
    let request = faulty.target.request(ADMIN, Method::POST, CONFIG_MAPS).header("Content-Type", JSON);
    if let Ok(response) = request.body(config_map("two").to_string()).send().await {
        assert!(response.status().is_server_error(), "{}", response.status());
    }
    let status = faulty.target.server.ended_within(TIMEOUT).expect("the server ends");
    assert!(!status.success(), "{status}");
}

/// Finding B16, for a disk that hangs.
#[needs(cc)]
#[tokio::test(flavor = "multi_thread")]
async fn hanging_disk_is_reported_and_allows_reads() {
    let faulty = Faulty::start();
    let target = &faulty.target;
    target.create(CONFIG_MAPS, &config_map("one")).await;
    health_becomes(target, 200).await;
    faulty.set("h");
    let (written, ()) = tokio::join!(create(target, "two"), async {
        health_becomes(target, 500).await;
        let text = verbose(target, "/readyz").await;
        assert!(text.contains("[-]etcd failed"), "{text}");
        assert_eq!(code(target, &format!("{CONFIG_MAPS}/one")).await, 200, "a read");
        faulty.set("-");
    });
    assert_eq!(written.code, 201);
    health_becomes(target, 200).await;
    target.assert_alive().await;
}
