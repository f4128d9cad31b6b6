//! Limits on wording and size that CONTRIBUTING.md states: words, line widths, lengths of files and
//! functions.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::fs;
use std::path::{Path, PathBuf};

/// Words that this repository does not use: pronouns in place of the technical noun, and verbs of
/// persons with a program as their subject.
const WORDS: [&str; 17] = [
    "anew",
    "anybody",
    "asked",
    "asks",
    "believe",
    "believed",
    "believes",
    "everybody",
    "nobody",
    "said",
    "says",
    "somebody",
    "tell",
    "tells",
    "told",
    "whoever",
    "hatch",
];

/// Text that may have one of the words: upstream's messages and users, and words of the definition
/// language.
const QUOTED: [&str; 7] = [
    "the server has asked for the client to provide credentials",
    "has received too many requests and has asked us to try again later",
    "says_kind",
    "`tell`",
    "`tell = OPTION`",
    "\"tell\"",
    "tell = ",
];

/// Widest comment line, in columns.
const MAX_COMMENT_WIDTH: usize = 120;
/// Widest line of prose in documents, in columns.
const MAX_PROSE_WIDTH: usize = 100;
/// Longest file, in lines.
const MAX_FILE: usize = 700;
/// Longest function outside tests, in lines.
const MAX_FUNCTION: usize = 100;

/// A file with its path below the root of the repository.
struct File {
    path: String,
    text: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the files with an extension that are written by hand.
fn files(extension: &str) -> Vec<File> {
    let start = ["api-defs", "benches", "codegen", "docs", "examples", "server", "tests"].map(|name| root().join(name));
    let (mut folders, mut paths): (Vec<PathBuf>, Vec<PathBuf>) = (start.into(), Vec::new());
    paths.extend(fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()));
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let is_skipped =
                ["generated", "target", "node_modules", "perf-log", "clients"].iter().any(|name| path.ends_with(name));
            match path.is_dir() {
                true if !is_skipped => folders.push(path),
                true => {}
                false => paths.push(path),
            }
        }
    }
    paths.retain(|path| path.extension().is_some_and(|found| found == extension) && !path.ends_with("tests/style.rs"));
    paths.sort();
    assert!(!paths.is_empty(), "no file with the extension {extension}");
    let relative = |path: &Path| path.strip_prefix(root()).unwrap().display().to_string();
    paths.iter().map(|path| File { path: relative(path), text: fs::read_to_string(path).unwrap() }).collect()
}

/// Fails with all complaints at once.
fn assert_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn words_are_technical_terms() {
    let mut complaints = Vec::new();
    for file in files("rs").into_iter().chain(files("md")) {
        for (number, line) in file.text.lines().enumerate() {
            let line = QUOTED.iter().fold(line.to_lowercase(), |line, quoted| line.replace(quoted, ""));
            let words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let found = words.flat_map(|word| word.split('_')).find(|word| WORDS.contains(word));
            complaints.extend(found.map(|word| format!("{}:{}: the word `{word}`", file.path, number + 1)));
        }
    }
    assert_none(&complaints);
}

#[test]
fn lines_are_not_too_wide() {
    let mut complaints = Vec::new();
    for file in files("rs") {
        for (number, line) in file.text.lines().enumerate() {
            // rustfmt wraps code, but neither string literals nor the bodies of macros.
            let is_comment = line.trim_start().starts_with("//") && !line.contains("//! |");
            if line.chars().count() > MAX_COMMENT_WIDTH && is_comment && !line.ends_with("\\n\";") {
                complaints.push(format!("{}:{}: wider than {MAX_COMMENT_WIDTH} columns", file.path, number + 1));
            }
        }
    }
    for file in files("md") {
        let mut is_code = false;
        for (number, line) in file.text.lines().enumerate() {
            is_code ^= line.trim_start().starts_with("```");
            let is_prose = !is_code && !line.starts_with('|') && !line.contains("](") && !line.contains("://");
            if is_prose && line.chars().count() > MAX_PROSE_WIDTH {
                complaints.push(format!("{}:{}: wider than {MAX_PROSE_WIDTH} columns", file.path, number + 1));
            }
        }
    }
    assert_none(&complaints);
}

#[test]
fn files_are_not_too_long() {
    // A file of definitions holds a kind with all structs that only this kind has.
    let is_code = |file: &File| !file.path.contains("api-defs/");
    let long = files("rs").into_iter().filter(is_code).filter(|file| file.text.lines().count() > MAX_FILE);
    assert_none(&long.map(|file| format!("{}: longer than {MAX_FILE} lines", file.path)).collect::<Vec<_>>());
}

#[test]
fn functions_are_not_too_long() {
    let is_test = |path: &str| path.split('/').any(|part| part.starts_with("tests"));
    let mut complaints = Vec::new();
    for file in files("rs").into_iter().filter(|file| !is_test(&file.path)) {
        let lines: Vec<&str> = file.text.lines().take_while(|line| !line.starts_with("mod tests {")).collect();
        for (number, line) in lines.iter().enumerate() {
            let indentation = &line[..line.len() - line.trim_start().len()];
            let begins = line.split_whitespace().take(5).any(|word| word == "fn");
            if line.trim_start().starts_with("//") || !begins || !line.ends_with('{') {
                continue;
            }
            let end = format!("{indentation}}}");
            let length = lines[number..].iter().position(|line| *line == end).map_or(0, |last| last + 1);
            if length > MAX_FUNCTION {
                complaints.push(format!("{}:{}: a function of {length} lines", file.path, number + 1));
            }
        }
    }
    assert_none(&complaints);
}
