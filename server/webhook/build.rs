//! Generates the konnectivity messages from their `.proto` file.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    prost_build::Config::new().bytes(["."]).compile_protos(&["proto/konnectivity.proto"], &["proto"])?;
    Ok(())
}
