//! Errors of `kube-apiserver new`.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// Maximum length of a crate name. Objects of the deployment append a suffix to it.
pub(crate) const MAX_LENGTH: usize = 50;

pub(crate) const USAGE: &str = "usage: kube-apiserver new NAME [--group GROUP] [--kind KIND] [--path CHECKOUT]
Writes a crate for an API server of a group of its own, behind kube-apiserver, into the folder NAME.
NAME             the crate's name, or a path that ends with the name; the folder must not exist
--group GROUP    the group [default: NAME.example.com]
--kind KIND      the group's first kind [default: Widget]
--path CHECKOUT  the folder of a checkout of kube-apiserver, which the crate depends on
                 [default: the one that holds this folder, or this program]";

/// The reason why no crate is written.
#[derive(Debug, thiserror::Error)]
pub enum NewError {
    #[error("{} is no UTF-8", argument.display())]
    NotUtf8 { argument: OsString },
    #[error("unknown option --{option}\n{USAGE}")]
    UnknownOption { option: String },
    #[error("--{option} needs a value\n{USAGE}")]
    NoValue { option: String },
    #[error("NAME is missing\n{USAGE}")]
    NoName,
    #[error("unexpected argument {argument:?}\n{USAGE}")]
    UnexpectedArgument { argument: String },

    #[error(
        "invalid crate name {name:?}: small letters, digits, `-` and `_`, first a letter, last a letter or a digit, at most {MAX_LENGTH}"
    )]
    CrateName { name: String },
    #[error("the crate cannot be called {name:?}: {source}")]
    CrateTaken { name: String, source: NameError },
    #[error("--group {group:?}: {source}")]
    Group { group: String, source: GroupError },
    #[error("--kind {kind:?}: {source}")]
    Kind { kind: String, source: KindError },

    /// The option names no folder.
    #[error("--path {}: {source}", path.display())]
    NoFolder { path: PathBuf, source: io::Error },
    #[error("--path {}: no checkout of kube-apiserver, because it has no {part}", path.display())]
    NoCheckout { path: PathBuf, part: &'static str },
    #[error("{}: the path of the checkout cannot be written into Cargo.toml", path.display())]
    CheckoutPath { path: PathBuf },
    #[error("neither this folder nor this program is in a checkout of kube-apiserver; name one: --path CHECKOUT")]
    Outside,

    #[error("{} exists already; nothing is written", folder.display())]
    Exists { folder: PathBuf },
    #[error("cannot make the folder {}: {source}", folder.display())]
    MakeFolder { folder: PathBuf, source: io::Error },
    #[error("cannot find the folder {}: {source}", folder.display())]
    FindFolder { folder: PathBuf, source: io::Error },
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// The reason why a name cannot be that of a crate or a module.
#[derive(Debug, thiserror::Error)]
pub enum NameError {
    #[error("`{module}` is a keyword of Rust")]
    Keyword { module: String },
    #[error("a crate or module `{module}` exists already")]
    Exists { module: String },
}

/// The reason why a group cannot have a name.
#[derive(Debug, thiserror::Error)]
pub enum GroupError {
    #[error("a group is a DNS subdomain with a dot, such as `shop.example.com`")]
    NoSubdomain,
    #[error("groups below k8s.io and kubernetes.io are Kubernetes' own")]
    OfKubernetes,
    #[error("its first label names a module, which begins with a letter")]
    Digit,
    #[error("its first label names a module, and `{module}` is one of Kubernetes' groups")]
    ModuleOfKubernetes { module: String },
    #[error("its first label names a module: {0}")]
    Module(#[from] NameError),
}

/// The reason why a kind cannot have a name.
#[derive(Debug, thiserror::Error)]
pub enum KindError {
    #[error("a kind is called in CamelCase: letters and digits, first a capital letter")]
    NotCamelCase,
    #[error("a type of this name is in scope of every definition")]
    InScope,
    #[error("the file `group.rs` declares the group")]
    Group,
}
