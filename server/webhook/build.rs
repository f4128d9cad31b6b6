//! Generates the konnectivity messages from their `.proto` file.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    let files = protox::compile(["konnectivity.proto"], ["proto"])?;
    prost_build::Config::new().bytes(["."]).compile_fds(files)?;
    Ok(())
}
