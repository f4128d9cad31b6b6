//! Emitters: each is a pure function of the model and renders one product.

mod catalog;
mod checks;
mod conversions;
mod descriptor;
mod facts;
mod file;
pub mod functions;
mod imports;
mod internal;
pub mod openapi;
mod package;
mod print;
pub mod proto;
mod rust;
mod types;

use crate::model::{Model, Package};
pub use file::File;

/// All files of a generated package, sorted by path.
///
/// `folder` is the folder of the functions of custom groups, relative to the package's sources.
pub fn render(model: &Model, package: Package, folder: &str) -> Vec<File> {
    let facts = facts::Facts::new(model);
    let mut files = types::files(model, &facts, package);
    files.extend(conversions::files(model, package));
    files.extend(internal::files(model, package));
    files.push(package::lib(model, package));
    files.extend(functions::files(model, package));
    files.extend(functions::custom_functions(model, package, folder));
    if package != Package::Apimachinery {
        files.push(catalog::file(model, package));
        files.extend(package::openapi(model, package));
        files.extend(proto::files(model, package));
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}
