//! Counts how Kubernetes' groups are validated: `cargo run -p codegen --bin validation`.
//!
//! For each group it prints the assertions that are declared (`#[check(..)]`), the tags of upstream's declarative
//! validation that are in force, and the lines of Rust in its validation written by hand, tests and comments included.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use codegen::model::{Assertion, Group, Model};

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let model = match codegen::load(&root) {
        Ok(model) => model,
        Err(diagnostics) => {
            eprintln!("{diagnostics}");
            return ExitCode::FAILURE;
        }
    };
    println!("{:<36} {:>8} {:>8} {:>8}", "group", "checks", "tags", "lines");
    let mut total = [0; 3];
    for group in model.groups.iter().filter(|group| group.tagged_validation) {
        let counts = [checks(&model, group), tags(&model, group), lines(&root, group)];
        total.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
        if counts != [0; 3] {
            print_row(if group.name.is_empty() { "core" } else { &group.name }, counts);
        }
    }
    print_row("all", total);
    ExitCode::SUCCESS
}

fn print_row(name: &str, [checks, tags, lines]: [usize; 3]) {
    println!("{name:<36} {checks:>8} {tags:>8} {lines:>8}");
}

/// Counts the assertions of a group, without those that only control which checks run.
fn checks(model: &Model, group: &Group) -> usize {
    let structs = model.structs.iter().filter(|one| one.module == group.module);
    structs.flat_map(|one| &one.checks).map(|check| count(&check.assertions)).sum()
}

fn count(assertions: &[Assertion]) -> usize {
    let of = |assertion: &Assertion| match assertion {
        Assertion::Optional
        | Assertion::Valid
        | Assertion::Ratchet
        | Assertion::Choose(..)
        | Assertion::ChooseText(_) => 0,
        Assertion::Open(_) | Assertion::Note(..) => 0,
        Assertion::Below(_) | Assertion::Inlined | Assertion::ByHand(_) => 0,
        other if other.inner().is_empty() => 1,
        other => count(other.inner()),
    };
    assertions.iter().map(of).sum()
}

fn tags(model: &Model, group: &Group) -> usize {
    let structs = model.structs.iter().filter(|one| one.module == group.module);
    let fields = structs.flat_map(|one| &one.fields);
    fields.flat_map(|field| &field.tags).filter(|tag| !tag.starts_with("k8s:alpha(")).count()
}

/// Counts the lines of `<module>/validation.rs` and of the files below `<module>/validation/` in the
/// crate that owns the functions.
fn lines(root: &Path, group: &Group) -> usize {
    let Some(owner) = group.package.owner() else { return 0 };
    let folder = root.join("server").join(owner).join("src").join(&group.module);
    let below = fs::read_dir(folder.join("validation")).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = below.chain([folder.join("validation.rs")]);
    files.filter_map(|file| fs::read_to_string(file).ok()).map(|text| text.lines().count()).sum()
}
