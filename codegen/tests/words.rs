//! Checks that every word of the definition language has an effect.
//!
//! `words/cases.txt` has a case for each word of [`codegen::VOCABULARY`]: the group of
//! `words/group.txt` and `words/types.txt`, once with the word and once without it. The test compares
//! the outputs of the two: generated code, exported definitions, OpenAPI, `.proto` files, the reference
//! manual. `docs/api-defs-words.md` lists the outputs that differ, and a test of the word's behaviour
//! in a server. `BLESS=1 cargo test -p codegen --test words` writes that table.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use codegen::export::{ExportFormat, export};
use codegen::model::Package;
use codegen::{Project, VOCABULARY, emit};

const GROUP: &str = include_str!("words/group.txt");
const TYPES: &str = include_str!("words/types.txt");
const CASES: &str = include_str!("words/cases.txt");

/// A group of Kubernetes that the definitions refer to.
const CORE: &str = "//! Core.\n\n#![group(\"\", module = core, package = generated)]\n#![version(v1)]\n";
const POD: &str = "//! Pods.\n\nuse crate::meta::ObjectMeta;\n\n/// A pod.\n#[kind(plural = \"pods\", scope = Namespaced)]\n\
                   #[versions(v1)]\npub struct Pod {\n    /// Metadata.\n    #[field(1)]\n    pub metadata: ObjectMeta,\n}\n";

/// Default text of each place.
const DEFAULTS: &[(&str, &str)] = &[
    ("allow", "#![allow(L001, L003, L004, L007, L010, L015, L016, L017, L018, L019, L020, L021)]"),
    ("parts_list", ", list = atomic"),
    ("name_docs", "/// A name."),
    ("enum_docs", "/// A colour."),
    ("crown_docs", "/// A crown."),
    ("red_name", "Red,"),
];

/// Outputs of the generator, in the order of the table's columns. The first is whether the definitions
/// are accepted.
const PRODUCTS: [&str; 6] = ["accepted", "code", "CRD", "OpenAPI", "`.proto`", "reference"];

/// Texts by place.
type Places = BTreeMap<String, String>;

/// A word, and the definitions that show its effect.
struct Case {
    /// The owner of the word in the vocabulary.
    of: String,
    word: String,
    with: Places,
    without: Places,
    /// Tests of the word's behaviour in a server, or in a build.
    tests: Vec<String>,
}

/// Reads `cases.txt`; the head of that file documents its format.
fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut sections = CASES.split("\n== ");
    let _ = sections.next();
    for section in sections {
        let (title, body) = section.split_once('\n').unwrap_or((section, ""));
        let (of, word) = title.split_once(" / ").unwrap();
        let mut case =
            Case { of: of.into(), word: word.into(), with: Places::new(), without: Places::new(), tests: vec![] };
        let mut open: Option<(bool, String)> = None;
        for line in body.lines() {
            if let Some(test) = line.strip_prefix("= ") {
                case.tests.push(test.into());
            } else if let Some(place) = line.strip_prefix("+ ").or(line.strip_prefix("* ")) {
                let (name, text) = place.split_once(':').unwrap_or((place, ""));
                let is_word = line.starts_with('+');
                fill(&mut case, is_word, name, text.trim_start_matches(' '));
                open = (!place.contains(':')).then(|| (is_word, name.to_string()));
            } else if let Some((is_word, name)) = &open {
                fill(&mut case, *is_word, name, line);
            }
        }
        cases.push(case);
    }
    cases
}

/// Adds a line to a place: of the definitions with the word, or of both if the word does not fill the
/// place itself.
fn fill(case: &mut Case, is_word: bool, place: &str, text: &str) {
    let add = |places: &mut Places| {
        let filled = places.entry(place.to_string()).or_default();
        if !filled.is_empty() {
            filled.push('\n');
        }
        filled.push_str(text);
    };
    if is_word { add(&mut case.with) } else { add(&mut case.without) }
}

/// A template with its places filled in.
fn filled(template: &str, places: &Places) -> String {
    let mut text = template.to_string();
    let names: BTreeSet<&str> = template
        .split('$')
        .skip(1)
        .map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap())
        .collect();
    // The longest first, because one name may be a prefix of another.
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    for name in names {
        let default = DEFAULTS.iter().find(|(place, _)| *place == name).map_or("", |(_, text)| text);
        let value = places.get(name).map_or(default, String::as_str);
        text = text.replace(&format!("${name}"), value);
    }
    text
}

/// The outputs for some definitions: a text for each output, or the diagnostics.
fn products(folder: &Path, places: &Places) -> [String; 6] {
    let _ = fs::remove_dir_all(folder);
    let (meta, trees) = (folder.join("api-defs/meta"), folder.join("api-defs/trees.example.com"));
    fs::create_dir_all(&meta).unwrap();
    fs::create_dir_all(&trees).unwrap();
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../api-defs/meta");
    for file in fs::read_dir(library).unwrap().flatten() {
        let _ = fs::copy(file.path(), meta.join(file.file_name())).unwrap();
    }
    let core = folder.join("api-defs/core");
    fs::create_dir_all(&core).unwrap();
    fs::write(core.join("group.rs"), CORE).unwrap();
    fs::write(core.join("pod.rs"), POD).unwrap();
    fs::write(trees.join("group.rs"), filled(GROUP, places)).unwrap();
    fs::write(trees.join("tree.rs"), filled(TYPES, places)).unwrap();
    let model = match codegen::load_project(&Project::whole(folder)) {
        Ok(model) => model,
        Err(diagnostics) => return [diagnostics.to_string(), "".into(), "".into(), "".into(), "".into(), "".into()],
    };
    let code = emit::render(&model, Package::Own, "hatches");
    let code = code.iter().filter(|file| file.path.starts_with("src/"));
    let of = |format, group| match export(&model, format, group) {
        Ok(files) => text(files.iter()),
        Err(why) => why.to_string(),
    };
    let exported = |format| of(format, Some("trees.example.com"));
    // Documents of other groups contain names of versions of the group.
    let every = |format| of(format, None);
    [
        String::new(),
        text(code),
        exported(ExportFormat::Crd),
        every(ExportFormat::OpenApi),
        exported(ExportFormat::Proto),
        exported(ExportFormat::Markdown),
    ]
}

fn text<'f>(files: impl Iterator<Item = &'f emit::File>) -> String {
    files.fold(String::new(), |mut all, file| {
        let _ = writeln!(all, "{}\n{}", file.path, String::from_utf8_lossy(&file.bytes));
        all
    })
}

/// A word, and the outputs that differ without it.
struct Effect {
    case: Case,
    differs: [bool; 6],
}

/// The effects of all words, and the errors in the cases.
static EFFECTS: LazyLock<(Vec<Effect>, Vec<String>)> = LazyLock::new(|| {
    let (mut effects, mut wrong) = (Vec::new(), Vec::new());
    for (index, case) in cases().into_iter().enumerate() {
        let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("words").join(index.to_string());
        let mut with = case.without.clone();
        with.extend(case.with.clone());
        let (with, without) = if case.with.is_empty() {
            (Default::default(), Default::default())
        } else {
            (products(&root.join("with"), &with), products(&root.join("without"), &case.without))
        };
        if !with[0].is_empty() {
            wrong.push(format!("{} / {}: {}", case.of, case.word, with[0]));
        }
        let differs = std::array::from_fn(|product| with[product] != without[product]);
        effects.push(Effect { case, differs });
    }
    (effects, wrong)
});

#[test]
fn every_word_has_a_case() {
    let written: Vec<(String, String)> = cases().into_iter().map(|case| (case.of, case.word)).collect();
    let words: Vec<(String, String)> =
        VOCABULARY.iter().flat_map(|(of, words)| words.iter().map(|word| (of.to_string(), word.to_string()))).collect();
    assert_eq!(written, words, "cases.txt, in the order of the vocabulary");
}

#[test]
fn every_word_changes_generator_output() {
    let (effects, wrong) = &*EFFECTS;
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let without = effects.iter().filter(|effect| !effect.case.with.is_empty() && !effect.differs.contains(&true));
    let without: Vec<String> = without.map(|effect| format!("{} / {}", effect.case.of, effect.case.word)).collect();
    assert!(without.is_empty(), "no effect: {without:?}");
}

#[test]
fn every_word_has_behaviour_test() {
    let untested = EFFECTS.0.iter().filter(|effect| effect.case.tests.is_empty());
    let untested: Vec<String> = untested.map(|effect| format!("{} / {}", effect.case.of, effect.case.word)).collect();
    assert!(untested.is_empty(), "{untested:?}");
}

/// The row of a word: the outputs that differ without it, and its tests.
fn row(Effect { case, differs }: &Effect) -> String {
    // Rejected definitions have no outputs.
    let [is_refused, ..] = *differs;
    let mark = |(at, differs): (usize, &bool)| if *differs && (at == 0 || !is_refused) { "x" } else { "" };
    let marks: Vec<&str> = differs.iter().enumerate().map(mark).collect();
    let tests: Vec<String> = case.tests.iter().map(|test| format!("`{test}`")).collect();
    format!("| {} | `{}` | {} | {} |", case.of, case.word, marks.join(" | "), tests.join(", "))
}

#[test]
fn documented_table_matches_cases() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/api-defs-words.md");
    let documented = fs::read_to_string(&page).unwrap();
    let (before, _) = documented.split_once("<!-- words -->\n").expect("the place of the table");
    let mut table = format!("| of | word | {} | what it does |\n", PRODUCTS.join(" | "));
    table.push_str(&format!("|{}\n", "---|".repeat(PRODUCTS.len() + 3)));
    for effect in &EFFECTS.0 {
        let _ = writeln!(table, "{}", row(effect));
    }
    let found = format!("{before}<!-- words -->\n{table}");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&page, found).unwrap();
    } else {
        assert!(documented == found, "{} is out of date; BLESS=1 writes it", page.display());
    }
}
