//! Generates the messages of trace collectors from their `.proto` file.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    prost_build::compile_protos(&["proto/trace.proto"], &["proto"])?;
    Ok(())
}
