//! Generates etcd's messages from their `.proto` files.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    prost_build::Config::new().bytes(["."]).compile_protos(&["proto/etcdserverpb.proto"], &["proto"])?;
    Ok(())
}
