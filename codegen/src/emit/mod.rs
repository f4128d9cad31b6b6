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
    // No crate can be compiled before the files are there, so the two halves are rendered concurrently.
    let mut files = std::thread::scope(|scope| {
        let types = scope.spawn(|| types::files(model, &facts::Facts::new(model), package));
        let mut files = all_but_types(model, package, folder);
        files.extend(types.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        files
    });
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// Conversions, functions, tables, documents and `.proto` files.
fn all_but_types(model: &Model, package: Package, folder: &str) -> Vec<File> {
    let mut files = conversions::files(model, package);
    files.extend(internal::files(model, package));
    files.push(package::lib(model, package));
    files.extend(functions::files(model, package));
    files.extend(functions::custom_functions(model, package, folder));
    if package != Package::Apimachinery {
        files.push(catalog::file(model, package));
        files.extend(package::openapi(model, package));
        files.extend(proto::files(model, package));
    }
    files
}
