//! Writes the documents of a catalog: `documents CATALOG.json FOLDER` makes `FOLDER/v2.json` and `FOLDER/v3/<path>.json`,
//! as `openapi_digest.py` of the conformance suite compares them.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use openapi::{Catalog, Options};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(catalog), Some(folder)) = (args.next(), args.next()) else {
        return Err("usage: documents CATALOG.json FOLDER".into());
    };
    let mut catalog: Catalog = serde_json::from_slice(&fs::read(catalog)?)?;
    catalog.retain_defaults();
    let folder = PathBuf::from(folder);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("v2.json"), catalog.v2(&Options::default()).to_string())?;
    for (path, document) in catalog.v3(&Options::default()) {
        let file = folder.join("v3").join(path + ".json");
        fs::create_dir_all(file.with_file_name(""))?;
        fs::write(file, document.to_string())?;
    }
    Ok(())
}
