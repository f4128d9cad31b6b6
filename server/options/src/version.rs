//! The Kubernetes version of the server.

use serde_json::{Value, json};

/// The Kubernetes release that is served.
pub const GIT_VERSION: &str = "v1.36.2";
pub const MAJOR: &str = "1";
pub const MINOR: &str = "36";

/// The release without the patch version: `1.36`.
pub fn release() -> String {
    format!("{MAJOR}.{MINOR}")
}

/// The version info. `goVersion` is empty because the program is not written in Go.
pub fn info() -> Value {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    json!({
        "major": MAJOR,
        "minor": MINOR,
        "emulationMajor": MAJOR,
        "emulationMinor": MINOR,
        "minCompatibilityMajor": MAJOR,
        "minCompatibilityMinor": "35",
        "gitVersion": GIT_VERSION,
        "gitCommit": option_env!("GIT_COMMIT").unwrap_or(""),
        "gitTreeState": "",
        "buildDate": option_env!("BUILD_DATE").unwrap_or("1970-01-01T00:00:00Z"),
        "goVersion": "",
        "compiler": "rustc",
        "platform": format!("{}/{architecture}", std::env::consts::OS),
    })
}
