//! Writes the OpenAPI documents of `api-defs/`: `cargo run -p codegen --example openapi FOLDER`.
//!
//! Creates `FOLDER/bundle.json` (which the server reads at start-up), `FOLDER/v2.json` and
//! `FOLDER/v3/<path>.json` of the versions that are served by default, and their protobuf forms.
//! `conversations openapi --document FOLDER/v2.json` compares `v2.json` with the recorded document.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use codegen::emit::openapi::{bundle, v2, v3};
use openapi::protobuf;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("usage: openapi FOLDER")?);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let model = codegen::load(&root).map_err(|diagnostics| diagnostics.to_string())?;
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("bundle.json"), bundle(&model, &|_| true).to_string())?;
    let v2 = v2(&model);
    fs::write(folder.join("v2.json"), v2.to_string())?;
    fs::write(folder.join("v2.pb"), protobuf::v2(&v2))?;
    for (path, document) in v3(&model) {
        let file = folder.join("v3").join(path);
        fs::create_dir_all(file.with_file_name(""))?;
        fs::write(file.with_added_extension("json"), document.to_string())?;
        fs::write(file.with_added_extension("pb"), protobuf::v3(&document))?;
    }
    Ok(())
}
