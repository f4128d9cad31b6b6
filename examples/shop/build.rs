//! Generates `generated/` from `api-defs/`.

fn main() -> std::process::ExitCode {
    codegen::build()
}
