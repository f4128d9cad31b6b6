//! Makes the messages of signers of tokens and of collectors of traces from their `.proto` files.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    prost_build::compile_protos(&["proto/signer.proto", "proto/trace.proto"], &["proto"])?;
    Ok(())
}
