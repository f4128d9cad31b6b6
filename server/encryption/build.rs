//! Generates the messages of KMS plugins from their `.proto` file.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    prost_build::Config::new().btree_map(["."]).compile_protos(&["proto/kms.proto"], &["proto"])?;
    Ok(())
}
