//! Updates a generated package: writes files that differ and removes files that are no longer rendered.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use std::process::ExitCode;

use crate::Error;
use crate::emit::{self, File};
use crate::examine::{Examined, examine_project};
use crate::model::{Group, Model, Package};
use crate::project::{DEFINITIONS, Project};

/// Folders of a generated package that only the generator writes to.
const OWNED: [&str; 3] = ["openapi", "proto", "src"];

/// Build script of a package that declares its own groups in `api-defs/`.
///
/// Generates their sources into `generated/` of the package. With the environment variable `CI`, writes
/// nothing and fails if a file would change.
///
/// ```no_run
/// // build.rs
/// fn main() -> std::process::ExitCode {
///     codegen::build()
/// }
/// ```
pub fn build() -> ExitCode {
    println!("cargo::rerun-if-env-changed=CI");
    let project = Project::external(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let target = project.root.join("generated");
    match refresh(&project, &target, Package::Own, std::env::var_os("CI").is_some()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(report) => {
            eprintln!("{report}");
            ExitCode::FAILURE
        }
    }
}

/// Renders `package` from the definitions of a project into `target`.
///
/// Prints `cargo::` lines for a build script. With `check`, writes nothing.
///
/// # Errors
/// If the definitions have errors, if a file cannot be read or written, or, with `check`, if a file
/// would change.
///
/// # Examples
/// ```no_run
/// use codegen::model::Package;
/// use codegen::{Project, refresh};
///
/// # fn main() -> Result<(), codegen::Error> {
/// let project = Project::external("widgets");
/// refresh(&project, &project.root.join("generated"), Package::Own, false)?;
/// # Ok(())
/// # }
/// ```
pub fn refresh(project: &Project, target: &Path, package: Package, check: bool) -> Result<(), Error> {
    let root = &project.root;
    let Examined { model, diagnostics, ledger } = examine_project(project);
    for input in inputs(project, &model, package, diagnostics.has_errors()) {
        println!("cargo::rerun-if-changed={}", root.join(input).display());
    }
    if diagnostics.has_errors() {
        return Err(diagnostics.into());
    }
    for warning in diagnostics.iter() {
        println!("cargo::warning={}: {}:{}", warning.message, warning.span.file.display(), warning.span.line);
    }
    crate::ledger::settle(root, &ledger, check)?;
    if let Some(group) = unknown(project.library(), &model).filter(|_| package == Package::Own) {
        return Err(Error::NewGroup(group.name.clone()));
    }
    let files = emit::render(&model, package, project.functions_from_sources());
    bring_up_to_date(target, &files, &OWNED, check)
}

/// Writes `generated/registration.rs` of the crate that owns functions of a package.
///
/// [`Package::owner`] is this crate; `target` is its folder. With `check`, writes nothing.
///
/// # Errors
/// As [`refresh`].
pub fn refresh_registration(project: &Project, target: &Path, package: Package, check: bool) -> Result<(), Error> {
    let Examined { model, diagnostics, .. } = examine_project(project);
    for input in inputs(project, &model, package, diagnostics.has_errors()) {
        println!("cargo::rerun-if-changed={}", project.root.join(input).display());
    }
    if diagnostics.has_errors() {
        return Err(diagnostics.into());
    }
    bring_up_to_date(target, &[emit::functions::registration(&model, package)], &["generated"], check)
}

/// Makes the files below `target` equal the rendered ones. `owned` lists folders that contain only
/// rendered files.
fn bring_up_to_date(target: &Path, files: &[File], owned: &[&str], check: bool) -> Result<(), Error> {
    let stale = differences(target, files, owned)
        .map_err(|source| Error::ReadGenerated { target: target.to_path_buf(), source })?;
    if stale.is_empty() {
        return Ok(());
    }
    if check {
        return Err(Error::Stale(stale.iter().map(|file| target.join(file.path())).collect()));
    }
    let written = stale.iter().try_for_each(|file| file.apply(target));
    written.map_err(|source| Error::WriteGenerated { target: target.to_path_buf(), source })
}

/// Paths that the build of a package depends on.
///
/// The folders of a Kubernetes package are listed one by one, because other packages' groups do not
/// affect the package. `apimachinery` refers only to its own groups, and a change of its sources
/// recompiles most of the server. The package of custom groups, and a build with errors, watch all of
/// `api-defs/`, so that new groups and corrections are noticed.
fn inputs(project: &Project, model: &Model, package: Package, has_errors: bool) -> Vec<PathBuf> {
    let mut paths = project.definitions();
    if package != Package::Own && !has_errors {
        paths = model.groups.iter().filter(|group| group.package <= package).map(folder).collect();
    }
    // Cargo treats a missing path as changed, so that the script would run in every build.
    paths.retain(|path| project.root.join(path).exists());
    paths
}

/// A Kubernetes group that no generated package includes yet; those packages watch only the folders of
/// the groups that they include.
fn unknown<'m>(root: &Path, model: &'m Model) -> Option<&'m Group> {
    model.groups.iter().find(|group| {
        let sources = match group.package {
            Package::Apimachinery => "generated/apimachinery/src",
            Package::Generated => "generated/src",
            Package::Own => return false,
        };
        !root.join(sources).join(&group.module).is_dir()
    })
}

fn folder(group: &Group) -> PathBuf {
    group.span.file.parent().map_or_else(|| DEFINITIONS.into(), Path::to_path_buf)
}

/// A file that differs from its rendered content.
enum Stale<'f> {
    Differs(&'f File),
    Gone(PathBuf),
}

impl Stale<'_> {
    fn path(&self) -> &Path {
        match self {
            Stale::Differs(file) => Path::new(&file.path),
            Stale::Gone(path) => path,
        }
    }

    /// Writes to a temporary file and renames it, so that readers never see a partial file.
    fn apply(&self, target: &Path) -> io::Result<()> {
        match self {
            Stale::Gone(path) => fs::remove_file(target.join(path)),
            Stale::Differs(file) => {
                let path = target.join(&file.path);
                if let Some(parent) = path.parent() {
                    fs::create_dir_all(parent)?;
                }
                let temporary = path.with_extension("tmp");
                fs::write(&temporary, &file.bytes)?;
                fs::rename(&temporary, &path)
            }
        }
    }
}

fn differences<'f>(target: &Path, files: &'f [File], owned: &[&str]) -> io::Result<Vec<Stale<'f>>> {
    let mut stale = Vec::new();
    let wanted: BTreeSet<&Path> = files.iter().map(|f| Path::new(&f.path)).collect();
    for file in files {
        match fs::read(target.join(&file.path)) {
            Ok(bytes) if bytes == file.bytes => {}
            Ok(_) => stale.push(Stale::Differs(file)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => stale.push(Stale::Differs(file)),
            Err(e) => return Err(e),
        }
    }
    for folder in owned {
        let mut found = Vec::new();
        list(&target.join(folder), &mut found)?;
        for path in found {
            let relative = path.strip_prefix(target).unwrap_or(&path).to_path_buf();
            if !wanted.contains(relative.as_path()) {
                stale.push(Stale::Gone(relative));
            }
        }
    }
    Ok(stale)
}

/// Every file below `folder`; none when it does not exist.
fn list(folder: &Path, out: &mut Vec<PathBuf>) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() { list(&path, out)? } else { out.push(path) }
    }
    Ok(())
}
