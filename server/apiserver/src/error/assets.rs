//! Errors of `kube-apiserver assets`.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

pub(crate) const USAGE: &str = "usage: kube-apiserver assets DIR
Makes the folder DIR, or updates one that this command made, and prints its absolute path:
  KUBEBUILDER_ASSETS=$(kube-apiserver assets DIR) go test ./...
In DIR, kube-apiserver and etcd are copies of this program, and kubectl is a link to the one in PATH, if there is one.
The kube-apiserver in DIR runs with --test-server: objects are deleted with their owners, and namespaces with their
content. To run without controllers, pass --controllers=-* to it, or remove DIR/kube-apiserver-assets.txt.";

/// The reason why a folder of assets is not made.
#[derive(Debug, thiserror::Error)]
pub enum AssetsError {
    #[error("DIR is missing\n{USAGE}")]
    NoFolder,
    #[error("unexpected argument {argument:?}\n{USAGE}")]
    UnexpectedArgument { argument: OsString },
    /// The folder has programs, perhaps upstream's.
    #[error("{} was not made by this command, and is kept; name another folder, or remove it", path.display())]
    Foreign { path: PathBuf },
    #[error("cannot find the file of this program: {0}")]
    Program(#[source] io::Error),
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
}
