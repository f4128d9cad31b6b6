//! Prints `json<TAB>rust<TAB>json again` for each JSON field name on standard input. If the last column
//! differs from the first, a definition has to state `json = ".."`.
//!
//! Usage: `cargo run -q -p codegen --example names < names.txt`.

use std::io::BufRead;

fn main() -> std::io::Result<()> {
    for line in std::io::stdin().lock().lines() {
        let json = line?;
        let rust = codegen::names::rust_name(&json);
        println!("{json}\t{rust}\t{}", codegen::names::json_name(&rust));
    }
    Ok(())
}
