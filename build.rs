//! Build script of the generated packages, and of the crates that own their hand-written functions.
//!
//! Reads `api-defs/`, renders the files of the package that cargo is building, and writes those that
//! differ. It watches only its inputs: a build without changes runs nothing, and a change of a custom
//! group recompiles only that group.

use std::path::Path;
use std::process::ExitCode;

use codegen::model::Package;

fn main() -> ExitCode {
    let manifest_dir = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let target = Path::new(&manifest_dir);
    let name = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let (package, root) = match name.as_str() {
        "apimachinery" | "meta" => (Package::Apimachinery, target.join("../..")),
        "kubernetes" => (Package::Generated, target.join("../..")),
        "own" => (Package::Own, target.join("../..")),
        _ => (Package::Generated, target.join("..")),
    };
    println!("cargo::rerun-if-env-changed=CI");
    let (project, check) = (codegen::Project::whole(root), std::env::var_os("CI").is_some());
    let done = match name.as_str() {
        "kubernetes" | "meta" => codegen::refresh_registration(&project, target, package, check),
        _ => codegen::refresh(&project, target, package, check),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(report) => {
            eprintln!("{report}");
            ExitCode::FAILURE
        }
    }
}
