//! `kube-apiserver assets`: makes a folder for `KUBEBUILDER_ASSETS` in which `etcd` and
//! `kube-apiserver` are this program.
//!
//! The program is copied. A link would break when the program is moved or a build folder is cleaned,
//! and a write through a hard link would change the original.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf, absolute};

use tempfile::Builder;

use crate::error::{ASSETS_USAGE, AssetsError, CommandError};
use crate::standard_output;

/// The file that marks a folder. Its content is for readers.
const MARKER: &str = "kube-apiserver-assets.txt";
const MARKER_TEXT: &str = "`kube-apiserver assets` made this folder, for KUBEBUILDER_ASSETS.
While this file exists, the kube-apiserver of the folder runs with --test-server, unless a flag disables it.
Without the file, it runs no controllers with --etcd-servers, as upstream's.
";
/// The copies of this program. envtest finds programs by these names.
const PROGRAMS: [&str; 2] = ["kube-apiserver", "etcd"];
const KUBECTL: &str = "kubectl";

/// Runs the command.
///
/// # Errors
/// The arguments are invalid, the folder has other contents, or it cannot be written.
pub fn run(args: &[OsString]) -> Result<(), CommandError> {
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        return standard_output::print_line(ASSETS_USAGE);
    }
    let folder = match args {
        [folder] if !folder.is_empty() && !folder.to_string_lossy().starts_with('-') => folder,
        [] => return Err(AssetsError::NoFolder.into()),
        [_, other, ..] | [other] => return Err(AssetsError::UnexpectedArgument { argument: other.clone() }.into()),
    };
    let folder = make(Path::new(folder))?;
    standard_output::print_line(folder.display())
}

/// The flag of a server that runs as the program of such a folder.
pub fn default_flag(program: &OsStr) -> Option<&'static str> {
    let path = Path::new(program);
    // A name without a folder was found in PATH.
    let path = if path.components().nth(1).is_some() { path.to_owned() } else { env::current_exe().ok()? };
    path.with_file_name(MARKER).is_file().then_some("--test-server")
}

/// Makes or updates the folder, and returns its absolute path.
fn make(folder: &Path) -> Result<PathBuf, AssetsError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| AssetsError::Write { path, source }
    };
    let folder = absolute(folder).map_err(failed(folder))?;
    let marker = folder.join(MARKER);
    let others = PROGRAMS.iter().map(|name| folder.join(name)).find(|path| path.symlink_metadata().is_ok());
    if let Some(path) = others.filter(|_| !marker.is_file()) {
        return Err(AssetsError::Foreign { path });
    }
    let program = env::current_exe().map_err(AssetsError::Program)?;
    fs::create_dir_all(&folder).map_err(failed(&folder))?;
    // The marker is first: a folder without it would be taken for that of another program.
    fs::write(&marker, MARKER_TEXT).map_err(failed(&marker))?;
    let [server, etcd] = PROGRAMS.map(|name| folder.join(name));
    replace(&server, |path| fs::copy(&program, path).map(drop)).map_err(failed(&server))?;
    // Some file systems have no hard links.
    let share = |path: &Path| fs::hard_link(&server, path).or_else(|_| fs::copy(&server, path).map(drop));
    replace(&etcd, share).map_err(failed(&etcd))?;
    link_kubectl(&folder)?;
    Ok(folder)
}

/// Links the kubectl of `PATH`. A kubectl that is no link stays.
fn link_kubectl(folder: &Path) -> Result<(), AssetsError> {
    let link = folder.join(KUBECTL);
    let is_other = link.symlink_metadata().is_ok_and(|found| !found.is_symlink());
    match find_kubectl(folder) {
        _ if is_other => Ok(()),
        Some(kubectl) => replace(&link, |path| symlink(&kubectl, path))
            .map_err(|source| AssetsError::Write { path: link.clone(), source }),
        None => {
            eprintln!("no kubectl in PATH: {} has none, which only tests that call it notice", folder.display());
            Ok(())
        }
    }
}

/// Returns the first kubectl in `PATH` that is not in the folder.
fn find_kubectl(folder: &Path) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let real = folder.canonicalize().ok()?;
    let folders = env::split_paths(&path).filter(|other| other.canonicalize().is_ok_and(|other| other != real));
    let candidates = folders.filter_map(|other| absolute(other.join(KUBECTL)).ok());
    let is_program = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    candidates.into_iter().find(is_program)
}

/// Makes a file beside its place, then moves it there: a running program keeps its old file.
fn replace(path: &Path, make: impl Fn(&Path) -> io::Result<()>) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let beside = Builder::new().prefix(".new-").tempdir_in(folder)?;
    let new = beside.path().join("file");
    make(&new)?;
    if !new.is_symlink() {
        fs::set_permissions(&new, Permissions::from_mode(0o755))?;
    }
    fs::rename(&new, path)
}
