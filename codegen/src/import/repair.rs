//! Repairs imported definitions so that a build accepts them. Violated conventions are allowed by code,
//! and rejected words are removed. The comparison reports what was removed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::layout;
use crate::Error;
use crate::diagnostics::{Diagnostics, Severity};
use crate::examine::{Examined, examine_project};
use crate::model::Model;
use crate::project::{DEFINITIONS, Project};

/// Maximum number of repair rounds; each round removes something from at least one line.
const ROUNDS: usize = 20;
/// Attributes of a kind or struct that can be removed.
const OPTIONAL: [&str; 6] = ["#[rule(", "#[structure(", "#[column(", "#[selectable(", "#[subresource(", "#[value("];
/// Words of a field that can be removed.
const CONSTRAINTS: [&str; 12] = [
    "default",
    "format",
    "immutable",
    "list",
    "map",
    "max",
    "max_items",
    "max_length",
    "min",
    "min_items",
    "min_length",
    "pattern",
];

/// The model of the definitions, which are repaired in place.
pub fn check(files: &mut BTreeMap<String, String>) -> Result<Model, Error> {
    let folder = Scratch::new()?;
    for _ in 0..ROUNDS {
        folder.write(files)?;
        let Examined { model, diagnostics, .. } = examine_project(&Project::external(&folder.0));
        if !diagnostics.has_errors() {
            return Ok(model);
        }
        if !repair(files, &diagnostics) {
            return Err(Error::Unrepairable(diagnostics));
        }
    }
    Err(Error::TooManyRepairs)
}

/// Repairs the definitions; returns whether anything changed.
fn repair(files: &mut BTreeMap<String, String>, diagnostics: &Diagnostics) -> bool {
    let mut broken: BTreeMap<String, BTreeSet<(usize, usize)>> = BTreeMap::new();
    let mut allowed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for diagnostic in diagnostics.iter().filter(|one| one.level == Severity::Error) {
        let file = diagnostic.span.file.display().to_string();
        match diagnostic.code.0 {
            code if code.starts_with('L') => drop(allowed.entry(group(&file)).or_default().insert(code.to_owned())),
            _ => drop(broken.entry(file).or_default().insert((diagnostic.span.line, diagnostic.span.column))),
        }
    }
    let mut changed = false;
    for (path, codes) in allowed {
        if let Some(text) = files.get_mut(&path) {
            changed |= allow(text, codes);
        }
    }
    for (path, places) in broken {
        let Some(text) = files.get_mut(&path) else { continue };
        let before = text.clone();
        let lines = text.lines().enumerate().map(|(index, line)| {
            // In descending order, so that columns remain valid.
            let here = places.iter().rev().filter(|(number, _)| *number == index + 1);
            here.fold(format!("{line}\n"), |line, (_, column)| without(&line, *column))
        });
        *text = lines.collect();
        changed |= *text != before;
    }
    changed
}

/// The `group.rs` in the folder of a file.
fn group(file: &str) -> String {
    Path::new(file).with_file_name("group.rs").display().to_string()
}

/// Adds codes to the `#![allow(..)]` of a group; returns whether any is new.
fn allow(text: &mut String, mut codes: BTreeSet<String>) -> bool {
    const START: &str = "#![allow(";
    let present = text.lines().find_map(|line| line.strip_prefix(START)?.strip_suffix(")]")).map(str::to_owned);
    let before: BTreeSet<String> = present.iter().flat_map(|codes| codes.split(", ")).map(str::to_owned).collect();
    codes.extend(before.clone());
    if codes == before {
        return false;
    }
    let line = format!("{START}{})]\n", codes.into_iter().collect::<Vec<_>>().join(", "));
    match present {
        Some(present) => *text = text.replace(&format!("{START}{present})]\n"), &line),
        None => text.push_str(&line),
    }
    true
}

/// A line without an optional part: an attribute, or a word of a field at a column.
fn without(line: &str, column: usize) -> String {
    let attribute = line.trim_start();
    if OPTIONAL.iter().any(|start| attribute.starts_with(start)) {
        return String::new();
    }
    let words = line.trim_end().strip_suffix(")]").and_then(|line| line.split_once("#[field("));
    let Some((indent, words)) = words else { return line.to_owned() };
    let at = line.char_indices().nth(column.saturating_sub(1)).map_or(0, |(at, _)| at);
    let mut start = line.len() - line.trim_start().len() + "#[field(".len();
    let mut out = Vec::new();
    for word in layout::split(words) {
        let is_here = (start..=start + word.len()).contains(&at);
        start += word.len() + 1;
        let can_go = CONSTRAINTS.iter().any(|constraint| word.trim_start().starts_with(constraint));
        if !(is_here && can_go) {
            out.push(word);
        }
    }
    format!("{indent}#[field({})]\n", out.join(","))
}

/// A temporary folder that is removed on drop.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch, Error> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("codegen-import-{}-{number}", std::process::id()));
        match fs::create_dir(&folder) {
            Ok(()) => Ok(Scratch(folder)),
            Err(source) => Err(Error::CreateFolder { path: folder, source }),
        }
    }

    fn write(&self, files: &BTreeMap<String, String>) -> Result<(), Error> {
        for (path, text) in files.iter().filter(|(path, _)| path.starts_with(DEFINITIONS)) {
            let path = self.0.join(path);
            let written = fs::create_dir_all(path.with_file_name("")).and_then(|()| fs::write(&path, text));
            written.map_err(Error::write(&path))?;
        }
        Ok(())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0); // a leftover is in the system's temporary folder
    }
}
