//! Emits `lib.rs` and the OpenAPI bundle of a generated package.

use std::fmt::Write;
use std::io::Write as _;

use flate2::{Compression, GzBuilder};

use super::functions::has_functions;
use super::rust::{HEADER, docs, ident};
use super::{File, conversions, openapi};
use crate::model::{Group, Model, Package};

/// `src/lib.rs`.
pub fn lib(model: &Model, package: Package) -> File {
    let mut text = HEADER.to_string();
    text.push_str(match package {
        Package::Generated => {
            "//! Types and tables of Kubernetes' groups; [`CATALOG`] has them all.\n\n"
        }
        Package::Apimachinery => {
            "//! Types that the server core itself speaks: meta, discovery, CRDs and APIServices.\n\n"
        }
        Package::Own => {
            "//! Types and tables of groups of your own; [`catalog()`] is everything declared, which the server is given,\n\
             //! and [`groups()`] what a server is given that serves nothing else.\n\n"
        }
    });
    text.push_str("// Checked where it is declared, not where it is written out.\n");
    // Descriptions are plain text for `kubectl explain`, not Markdown: rustdoc's lints do not apply.
    text.push_str("#![allow(clippy::all, clippy::pedantic, rustdoc::all, unused_imports)]\n\n");
    // rustfmt of an external package must not reformat generated files.
    let skip = if package == Package::Own { "#[rustfmt::skip]\n" } else { "" };
    if package != Package::Apimachinery {
        let _ = writeln!(text, "{skip}mod catalog;");
    }
    if package.owner().is_some() {
        text.push_str("pub mod functions;\n");
    } else if model.groups.iter().any(|g| g.package == package && has_functions(model, g)) {
        text.push_str("pub mod hatches;\n");
    }
    for group in model.groups.iter().filter(|g| g.package == package) {
        let _ = writeln!(text, "{skip}pub mod {};", ident(&group.module));
    }
    match package {
        Package::Apimachinery => {}
        Package::Generated => {
            let others: Vec<String> =
                model.groups.iter().filter(|g| g.package == Package::Apimachinery).map(|g| ident(&g.module)).collect();
            let _ = writeln!(text, "\npub use apimachinery::{{{}}};\npub use catalog::CATALOG;", others.join(", "));
        }
        Package::Own => text.push_str(EVERYTHING),
    }
    File { path: "src/lib.rs".into(), bytes: text.into_bytes() }
}

/// Items of the package of custom groups that include Kubernetes' groups. Without `no_inline`, rustdoc
/// writes the pages of Kubernetes' groups (70 MB) again for each such package.
const EVERYTHING: &str = "
use std::sync::LazyLock;

use machinery::catalog::Catalog;

#[doc(no_inline)]
pub use generated::*;

/// Everything declared: Kubernetes' groups and those of your own.
pub fn catalog() -> &'static Catalog {
    static ALL: LazyLock<Catalog> = LazyLock::new(|| kubernetes::catalog().with(&catalog::CATALOG));
    &ALL
}

/// The groups of your own; Kubernetes' kinds are known beside them, and not served.
pub fn groups() -> &'static Catalog {
    static OWN: LazyLock<Catalog> = LazyLock::new(|| kubernetes::catalog().unserved().with(&catalog::CATALOG));
    &OWN
}
";

/// `openapi/bundle.json.gz`: the server assembles its OpenAPI documents for the groups of the package
/// from it.
pub fn openapi(model: &Model, package: Package) -> Option<File> {
    let is_own = package == Package::Own;
    if is_own && !model.groups.iter().any(|group| group.package == Package::Own) {
        return None;
    }
    let bundle = openapi::bundle(model, &|group| (group.package == Package::Own) == is_own).to_string();
    // No time stamp and no file name, so that equal input gives equal bytes.
    let mut gzip = GzBuilder::new().mtime(0).write(Vec::new(), Compression::new(6));
    let bytes = gzip.write_all(bundle.as_bytes()).and_then(|()| gzip.finish()).unwrap_or_default();
    Some(File { path: "openapi/bundle.json.gz".into(), bytes })
}

/// Appends the modules that `types.rs` does not emit to a group's `mod.rs`.
pub fn extra_modules(model: &Model, group: &Group) -> String {
    let mut text = docs("", "");
    if conversions::exist(model, &group.module) {
        text.push_str("pub mod conversions;\n");
    }
    if !group.kinds.is_empty() {
        text.push_str("pub mod internal;\n");
    }
    text.push_str(&names_of_gates(group));
    text
}

/// A constant for the name of each feature gate that a group declares.
fn names_of_gates(group: &Group) -> String {
    if group.gates.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\n/// Names of the feature gates of the group.\n#[allow(non_upper_case_globals)]\npub mod gates {\n",
    );
    for gate in &group.gates {
        let _ = writeln!(text, "    pub const {}: &str = {:?};", gate.name, gate.name);
    }
    text.push_str("}\n");
    text
}
