//! Build script of the generated packages: reads `api-defs/`, renders the package that cargo is building, and writes the files that
//! differ. It watches its inputs only, so that a build with nothing changed runs nothing, and one in which only a group of your own
//! changed compiles that group.

use std::path::Path;
use std::process::ExitCode;

use codegen::model::Package;

fn main() -> ExitCode {
    let manifest_dir = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let (package, root) = match std::env::var("CARGO_PKG_NAME").as_deref() {
        Ok("apimachinery") => (Package::Apimachinery, Path::new(&manifest_dir).join("../..")),
        Ok("own") => (Package::Own, Path::new(&manifest_dir).join("../..")),
        _ => (Package::Generated, Path::new(&manifest_dir).join("..")),
    };
    println!("cargo::rerun-if-env-changed=CI");
    match codegen::refresh(
        &codegen::Project::whole(root),
        Path::new(&manifest_dir),
        package,
        std::env::var_os("CI").is_some(),
    ) {
        Ok(()) => ExitCode::SUCCESS,
        Err(report) => {
            eprintln!("{report}");
            ExitCode::FAILURE
        }
    }
}
