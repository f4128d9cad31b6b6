//! The files of recordings, packed and unpacked.
//!
//! | packed, as in `tests/conformance` | unpacked |
//! |---|---|
//! | `cases/AREA.jsonl.gz`, a scenario each line | `cases/AREA/NAME.json`, a step each line |
//! | `fixtures.jsonl.gz`, an object each line | `fixtures/NAME.json`, `.yaml` and `.pb` |
//! | `openapi-v2-digest.json.gz`, `openapi-v3-digest.json.gz` | the same without `.gz` |
//!
//! Packed bytes are a function of the contents: lines are in the order of their names, keys are sorted, and the gzip
//! header has no time.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::MultiGzDecoder;
use flate2::{Compression, GzBuilder};
use serde_json::{Map, Value, json};

use crate::error::{Error, Result};
use crate::scenario::Scenario;
use crate::text;

const CASES: &str = "cases";
const PACKED: &str = ".jsonl.gz";
const FIXTURES: &str = "fixtures";
/// Digests of OpenAPI documents, by the version of OpenAPI.
const DIGESTS: [&str; 2] = ["openapi-v2-digest.json", "openapi-v3-digest.json"];

/// An object in several encodings.
#[derive(Clone, Debug, PartialEq)]
pub struct Fixture {
    /// `group.version.Kind`; the core group is called `core`.
    pub name: String,
    /// Bytes by the extension of the file: `json`, `yaml`, `pb`.
    pub forms: BTreeMap<String, Vec<u8>>,
}

/// The recordings of this repository.
pub fn recordings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance")
}

/// The areas of packed recordings, in order.
///
/// # Errors
/// A folder that cannot be read.
pub fn areas(packed: &Path) -> Result<Vec<String>> {
    let names = files(&packed.join(CASES))?;
    Ok(names.iter().filter_map(|path| Some(file_name(path).strip_suffix(PACKED)?.to_string())).collect())
}

/// The scenarios of an area as they are written.
///
/// # Errors
/// A file that cannot be read.
pub fn documents(packed: &Path, area: &str) -> Result<Vec<Value>> {
    let path = packed.join(CASES).join(format!("{area}{PACKED}"));
    lines(&path)
}

/// The scenarios of these areas, or of all when none is named, by area and name.
///
/// # Errors
/// A file that cannot be read, or a scenario that is not in the format.
pub fn scenarios(packed: &Path, areas: &[String]) -> Result<Vec<Scenario>> {
    let all = if areas.is_empty() { self::areas(packed)? } else { areas.to_vec() };
    let mut scenarios = Vec::new();
    for area in all {
        for document in documents(packed, &area)? {
            scenarios.push(scenario(&document, &packed.join(CASES).join(format!("{area}{PACKED}")))?);
        }
    }
    Ok(scenarios)
}

/// The scenario of an unpacked file.
///
/// # Errors
/// A file that cannot be read, or a scenario that is not in the format.
pub fn scenario_of_file(path: &Path) -> Result<(Value, Scenario)> {
    let document = read_json(path)?;
    let scenario = scenario(&document, path)?;
    Ok((document, scenario))
}

/// The JSON of a file.
///
/// # Errors
/// A file that cannot be read, or that is not JSON.
pub fn read_json(path: &Path) -> Result<Value> {
    parsed(path, &fs::read(path).map_err(Error::file(path))?)
}

/// The fixtures of packed recordings, by name.
///
/// # Errors
/// A file that cannot be read.
pub fn fixtures(packed: &Path) -> Result<Vec<Fixture>> {
    let path = packed.join(format!("{FIXTURES}{PACKED}"));
    let wrong = |why: &str| Error::format(&path, why);
    let mut fixtures = Vec::new();
    for line in lines(&path)? {
        let word = |key: &str| line[key].as_str().ok_or_else(|| wrong(&format!("a fixture without {key}")));
        let protobuf = STANDARD.decode(word("pb")?).map_err(|error| wrong(&error.to_string()))?;
        let forms = [("json", word("json")?.into()), ("yaml", word("yaml")?.into()), ("pb", protobuf)];
        let forms = forms.into_iter().map(|(form, bytes)| (form.to_string(), bytes)).collect();
        fixtures.push(Fixture { name: word("name")?.into(), forms });
    }
    Ok(fixtures)
}

/// The digest of `/openapi/v2` or of `/openapi/v3` and its documents.
///
/// # Errors
/// A file that cannot be read.
pub fn digest(packed: &Path, version: u8) -> Result<Value> {
    let path = packed.join(format!("openapi-v{version}-digest.json.gz"));
    parsed(&path, &decompressed(&path)?)
}

/// Packs the recordings of a folder; what is absent there stays as it is in `to`.
///
/// # Errors
/// A file that cannot be read or written, or a scenario that is not in the format.
pub fn pack(from: &Path, to: &Path) -> Result<()> {
    let cases = from.join(CASES);
    if cases.is_dir() {
        fs::create_dir_all(to.join(CASES)).map_err(Error::file(to))?;
        for area in files(&cases)? {
            let documents = files(&area)?.iter().map(|path| packed_scenario(path)).collect::<Result<Vec<_>>>()?;
            write_lines(&to.join(CASES).join(format!("{}{PACKED}", file_name(&area))), &documents)?;
        }
    }
    if from.join(FIXTURES).is_dir() {
        write_lines(&to.join(format!("{FIXTURES}{PACKED}")), &packed_fixtures(&from.join(FIXTURES))?)?;
    }
    for digest in DIGESTS {
        let path = from.join(digest);
        if path.exists() {
            let bytes = fs::read(&path).map_err(Error::file(&path))?;
            write_compressed(&to.join(format!("{digest}.gz")), &bytes)?;
        }
    }
    Ok(())
}

/// Unpacks recordings into a folder.
///
/// # Errors
/// A file that cannot be read or written.
pub fn unpack(from: &Path, to: &Path) -> Result<()> {
    for area in areas(from)? {
        let folder = to.join(CASES).join(&area);
        fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
        for document in documents(from, &area)? {
            write(
                &folder.join(format!("{}.json", document["name"].as_str().unwrap_or_default())),
                &unpacked(&document),
            )?;
        }
    }
    fs::create_dir_all(to.join(FIXTURES)).map_err(Error::file(to))?;
    for fixture in fixtures(from)? {
        for (form, bytes) in &fixture.forms {
            let path = to.join(FIXTURES).join(format!("{}.{form}", fixture.name));
            fs::write(&path, bytes).map_err(Error::file(&path))?;
        }
    }
    for digest in DIGESTS {
        let bytes = decompressed(&from.join(format!("{digest}.gz")))?;
        fs::write(to.join(digest), bytes).map_err(Error::file(&to.join(digest)))?;
    }
    Ok(())
}

/// The text of an unpacked scenario: a line for each step.
pub fn unpacked(document: &Value) -> String {
    let mut head = document.clone();
    let steps = head.as_object_mut().and_then(|object| object.shift_remove("steps")).unwrap_or(Value::Null);
    let steps: Vec<String> = steps.as_array().into_iter().flatten().map(text::file).collect();
    let head = text::file(&head);
    format!("{},\n\"steps\": [\n{}\n]}}\n", head.strip_suffix('}').unwrap_or(&head), steps.join(",\n"))
}

/// Writes the text of an unpacked scenario.
///
/// # Errors
/// A file that cannot be written.
pub fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(Error::file(path))
}

fn packed_scenario(path: &Path) -> Result<Value> {
    let (mut document, scenario) = scenario_of_file(path)?;
    let (area, name) = (path.parent().map(file_name).unwrap_or_default(), path.file_stem().and_then(OsStr::to_str));
    if area != scenario.area || name != Some(scenario.name.as_str()) {
        let why = format!("the scenario is called {}/{}", scenario.area, scenario.name);
        return Err(Error::format(path, why));
    }
    for step in document["steps"].as_array_mut().into_iter().flatten() {
        if let Some(response) = step.get_mut("response") {
            remove_descriptions(response);
        }
    }
    Ok(text::with_sorted_keys(&document))
}

/// Empties the descriptions of columns: they are sentences of upstream's documentation, and are not compared.
pub fn remove_descriptions(value: &mut Value) {
    match value {
        Value::Object(object) => {
            let columns = object.get_mut("columnDefinitions").and_then(Value::as_array_mut);
            for column in columns.into_iter().flatten() {
                if let Some(Value::String(description)) = column.get_mut("description") {
                    description.clear();
                }
            }
            object.values_mut().for_each(remove_descriptions);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_descriptions),
        _ => {}
    }
}

fn packed_fixtures(folder: &Path) -> Result<Vec<Value>> {
    let mut fixtures: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for path in files(folder)? {
        let (Some(name), Some(form)) = (path.file_stem(), path.extension()) else { continue };
        let (name, form) = (name.to_string_lossy().into_owned(), form.to_string_lossy().into_owned());
        let bytes = fs::read(&path).map_err(Error::file(&path))?;
        let text = match form.as_str() {
            "pb" => STANDARD.encode(bytes),
            "json" | "yaml" => String::from_utf8(bytes).map_err(|error| Error::format(&path, error))?,
            _ => continue,
        };
        fixtures.entry(name).or_default().insert(form, text.into());
    }
    let line = |(name, forms): (String, Map<String, Value>)| {
        let mut line = json!({"name": name});
        forms.into_iter().for_each(|(form, text)| line[form] = text);
        text::with_sorted_keys(&line)
    };
    Ok(fixtures.into_iter().map(line).collect())
}

fn scenario(document: &Value, path: &Path) -> Result<Scenario> {
    let wrong = |error| Error::format(path, format!("{}: {error}", document["name"]));
    serde_json::from_value(document.clone()).map_err(wrong)
}

fn parsed(path: &Path, bytes: &[u8]) -> Result<Value> {
    serde_json::from_slice(bytes).map_err(|error| Error::format(path, error))
}

/// What a folder holds, in order.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(Error::file(folder))?;
    let mut files =
        entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>().map_err(Error::file(folder))?;
    files.sort();
    Ok(files)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn lines(path: &Path) -> Result<Vec<Value>> {
    let text = decompressed(path)?;
    let lines = text.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
    let value = |(at, line)| {
        serde_json::from_slice(line).map_err(|error| Error::format(path, format!("line {}: {error}", at + 1)))
    };
    lines.map(value).collect()
}

fn write_lines(path: &Path, lines: &[Value]) -> Result<()> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    write_compressed(path, text.as_bytes())
}

fn decompressed(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = fs::read(path).map_err(Error::file(path))?;
    MultiGzDecoder::new(file.as_slice()).read_to_end(&mut bytes).map_err(Error::file(path))?;
    Ok(bytes)
}

fn write_compressed(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    encoder
        .write_all(bytes)
        .and_then(|()| encoder.finish())
        .and_then(|bytes| fs::write(path, bytes))
        .map_err(Error::file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENARIO: &str = r#"{"about": "é", "area": "list", "name": "one",
"steps": [
{"id": "a", "join": "b", "response": {"body": {"columnDefinitions": [{"description": ""}]}}},
{"id": "b", "request": {"method": "GET", "path": "/"}}
]}
"#;

    fn bytes(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        for path in files(folder).unwrap() {
            if path.is_dir() {
                found.extend(bytes(&path));
            } else {
                let read = fs::read(&path).unwrap();
                found.insert(path, read);
            }
        }
        found
    }

    fn relative(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        bytes(folder).into_iter().map(|(path, bytes)| (path.strip_prefix(folder).unwrap().into(), bytes)).collect()
    }

    #[test]
    fn packing_what_was_unpacked_gives_the_same_bytes() {
        let (loose, packed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        unpack(&recordings(), loose.path()).unwrap();
        pack(loose.path(), packed.path()).unwrap();
        let wanted = relative(&recordings()).into_iter().filter(|(path, _)| path.extension() == Some(OsStr::new("gz")));
        let (wanted, got): (Vec<_>, _) = (wanted.collect(), relative(packed.path()));
        assert!(wanted.len() > 20);
        assert_eq!(
            wanted.iter().map(|(path, _)| path).collect::<Vec<_>>(),
            got.iter().map(|(path, _)| path).collect::<Vec<_>>()
        );
        let differing = wanted.iter().zip(&got).filter(|(a, b)| a != b).map(|(a, _)| a.0.display().to_string());
        assert_eq!(differing.collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn no_recording_has_descriptions_of_columns() {
        for area in areas(&recordings()).unwrap() {
            for document in documents(&recordings(), &area).unwrap() {
                let mut without = document.clone();
                for step in without["steps"].as_array_mut().unwrap() {
                    remove_descriptions(&mut step["response"]);
                }
                assert_eq!(without, document, "{area}/{}", document["name"]);
            }
        }
    }

    #[test]
    fn scenarios_are_packed_and_unpacked() {
        let (loose, packed, again) =
            (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folder = loose.path().join("cases/list");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("one.json"), SCENARIO.replace(r#""description": """#, r#""description": "Text.""#))
            .unwrap();
        pack(loose.path(), packed.path()).unwrap();
        let found = scenarios(packed.path(), &[]).unwrap();
        assert_eq!((found.len(), found[0].name.as_str(), found[0].steps.len()), (1, "one", 2));
        assert_eq!(areas(packed.path()).unwrap(), ["list"]);
        assert_eq!(unpacked(&documents(packed.path(), "list").unwrap()[0]), SCENARIO);
        assert!(unpack(packed.path(), again.path()).is_err(), "there are no fixtures");
    }

    #[test]
    fn files_and_scenarios_have_one_name() {
        let (loose, packed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folder = loose.path().join("cases/list");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("two.json"), SCENARIO).unwrap();
        assert!(pack(loose.path(), packed.path()).unwrap_err().to_string().contains("list/one"));
    }
}
