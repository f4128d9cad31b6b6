//! Build script of the generated packages, and of the crate that owns their functions: reads `api-defs/`, renders what belongs to the
//! package that cargo is building, and writes the files that differ. It watches its inputs only, so that a build with nothing changed
//! runs nothing, and one in which only a group of your own changed compiles that group.

use std::path::Path;
use std::process::ExitCode;

use codegen::model::Package;

fn main() -> ExitCode {
    let manifest_dir = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let target = Path::new(&manifest_dir);
    let (package, root) = match std::env::var("CARGO_PKG_NAME").as_deref() {
        Ok("apimachinery") => (Some(Package::Apimachinery), target.join("../..")),
        Ok("own") => (Some(Package::Own), target.join("../..")),
        Ok("kubernetes") => (None, target.join("../..")),
        _ => (Some(Package::Generated), target.join("..")),
    };
    println!("cargo::rerun-if-env-changed=CI");
    let (project, check) = (codegen::Project::whole(root), std::env::var_os("CI").is_some());
    let done = match package {
        Some(package) => codegen::refresh(&project, target, package, check),
        None => codegen::refresh_registration(&project, target, check),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(report) => {
            eprintln!("{report}");
            ExitCode::FAILURE
        }
    }
}
