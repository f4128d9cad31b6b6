//! Generates the messages of token signers from their `.proto` file.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    prost_build::compile_protos(&["proto/signer.proto"], &["proto"])?;
    Ok(())
}
