//! A KMS plugin in its own process: this test program, started again. It can be restarted, with the
//! same or another key.
//!
//! A test program that uses it has a test named [`ENTRY`] that calls [`serve_if_requested`].

#![allow(dead_code, reason = "each test program uses a part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod messages;
#[path = "../../../grpc/tests/program/mod.rs"]
mod program;
mod service;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The test that serves as the plugin in the child process.
pub const ENTRY: &str = "serve_kms_plugin";
const SOCKET: &str = "TEST_KMS_SOCKET";
const KEY_ID: &str = "TEST_KMS_KEY_ID";

/// A running plugin; dropping it kills the process.
pub struct Plugin {
    process: Child,
    socket: PathBuf,
}

impl Plugin {
    /// Starts a plugin with this key ID, and waits until it listens.
    pub fn start(folder: &Path, key_id: &str) -> Plugin {
        let socket = folder.join("kms.sock");
        let _ = std::fs::remove_file(&socket);
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args([ENTRY, "--exact", "--nocapture", "--include-ignored"])
            .env(SOCKET, &socket)
            .env(KEY_ID, key_id)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        while std::os::unix::net::UnixStream::connect(&socket).is_err() {
            assert!(process.try_wait().unwrap().is_none(), "the plugin ended");
            std::thread::sleep(Duration::from_millis(10));
        }
        Plugin { process, socket }
    }

    /// Returns the endpoint for configurations.
    pub fn endpoint(folder: &Path) -> String {
        format!("unix://{}", folder.join("kms.sock").display())
    }
}

impl Drop for Plugin {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_file(&self.socket);
    }
}

/// Serves for ever in a plugin process; otherwise does nothing.
pub fn serve_if_requested() {
    let (Some(socket), Ok(key_id)) = (std::env::var_os(SOCKET), std::env::var(KEY_ID)) else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(service::serve(Path::new(&socket), &key_id));
}
