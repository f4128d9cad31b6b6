//! Brings `generated/` up to date with `api-defs/`.

fn main() -> std::process::ExitCode {
    codegen::build()
}
