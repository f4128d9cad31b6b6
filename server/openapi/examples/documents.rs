//! Writes the OpenAPI documents of a catalog.
//!
//! `documents CATALOG.json FOLDER` writes `FOLDER/v2.json` and `FOLDER/v3/<path>.json`, and their
//! protobuf encodings next to them. `conversations openapi --document FOLDER/v2.json` compares
//! `v2.json` with the recorded document.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use openapi::{Catalog, OpenApiOptions, protobuf};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(catalog), Some(folder)) = (args.next(), args.next()) else {
        return Err("usage: documents CATALOG.json FOLDER".into());
    };
    let mut catalog: Catalog = serde_json::from_slice(&fs::read(catalog)?)?;
    catalog.retain_defaults();
    let folder = PathBuf::from(folder);
    fs::create_dir_all(&folder)?;
    let v2 = catalog.v2(&OpenApiOptions::default());
    fs::write(folder.join("v2.json"), v2.to_string())?;
    fs::write(folder.join("v2.pb"), protobuf::v2(&v2))?;
    for (path, document) in catalog.v3(&OpenApiOptions::default()) {
        let file = folder.join("v3").join(path);
        fs::create_dir_all(file.with_file_name(""))?;
        fs::write(file.with_added_extension("json"), document.to_string())?;
        fs::write(file.with_added_extension("pb"), protobuf::v3(&document))?;
    }
    Ok(())
}
