//! Parsed CustomResourceDefinitions.

use std::collections::BTreeMap;

use machinery::json::Issues;
use machinery::yaml;
use serde_json::Value;

use super::names::text;
use crate::Error;
use crate::names::version_rank;

/// The annotation that renames fields between versions.
const FIELD_MOVES: &str = "conversion.kube-apiserver/field-moves";

/// The parts of a CustomResourceDefinition that an import reads.
pub struct Crd {
    pub group: String,
    pub kind: String,
    pub plural: String,
    /// Name of the storage version.
    pub storage: String,
    pub versions: Vec<CrdVersion>,
    /// Paths of each renamed field, by version.
    pub moves: Vec<BTreeMap<String, String>>,
    /// The document.
    pub whole: Value,
}

/// A version of a definition.
pub struct CrdVersion {
    pub name: String,
    /// The entry of `spec.versions`.
    pub entry: Value,
}

impl Crd {
    /// The name of the definition in messages.
    pub fn name(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }

    /// A version by its name.
    pub fn version(&self, name: &str) -> Option<&CrdVersion> {
        self.versions.iter().find(|version| version.name == name)
    }
}

/// The CustomResourceDefinitions among the documents of a text.
pub fn read(stream: &str, warnings: &mut Vec<String>) -> Result<Vec<Crd>, Error> {
    let mut crds: Vec<Crd> = Vec::new();
    for (index, document) in documents(stream).iter().enumerate() {
        let value = parse(document).map_err(|why| Error::Document { number: index + 1, source: Box::new(why) })?;
        let items = value["items"].as_array().cloned();
        for value in items.filter(|_| text(&value["kind"]).ends_with("List")).unwrap_or_else(|| vec![value]) {
            let kind = (text(&value["apiVersion"]), text(&value["kind"]));
            match kind {
                _ if value.is_null() => {}
                ("apiextensions.k8s.io/v1", "CustomResourceDefinition") => crds.push(definition(value, warnings)?),
                (version, kind) => warnings.push(format!(
                    "document {}: {kind:?} of {version:?} is no CustomResourceDefinition of apiextensions.k8s.io/v1",
                    index + 1
                )),
            }
        }
    }
    if crds.is_empty() {
        return Err(Error::NoDefinitions);
    }
    for (index, crd) in crds.iter().enumerate() {
        if crds[..index].iter().any(|other| other.name() == crd.name()) {
            return Err(Error::Twice(crd.name()));
        }
    }
    Ok(crds)
}

/// Documents of a stream, separated by lines that begin with `---`.
fn documents(stream: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    for line in stream.lines() {
        match line.strip_prefix("---") {
            Some(rest) if rest.trim_start().is_empty() || rest.trim_start().starts_with('#') => out.push(String::new()),
            _ => out.iter_mut().last().into_iter().for_each(|text| *text += &format!("{line}\n")),
        }
    }
    out.retain(|text| text.lines().any(|line| !line.trim().is_empty() && !line.starts_with('#')));
    out
}

/// One document as JSON.
pub fn parse(document: &str) -> Result<Value, Error> {
    let json = yaml::to_json(document.as_bytes(), &mut Issues::ignore())?;
    Ok(serde_json::from_slice(&json)?)
}

fn definition(whole: Value, warnings: &mut Vec<String>) -> Result<Crd, Error> {
    let spec = &whole["spec"];
    let of = |value: &Value, part: &'static str| match value.as_str() {
        Some(text) if !text.is_empty() => Ok(text.to_owned()),
        _ => Err(Error::MissingPart { definition: text(&whole["metadata"]["name"]).to_owned(), part }),
    };
    let (group, plural) = (of(&spec["group"], "spec.group")?, of(&spec["names"]["plural"], "spec.names.plural")?);
    let kind = of(&spec["names"]["kind"], "spec.names.kind")?;
    let mut versions = Vec::new();
    for entry in spec["versions"].as_array().into_iter().flatten() {
        let name = of(&entry["name"], "the name of a version")?;
        match version_rank(&name) {
            Some(_) => versions.push(CrdVersion { name, entry: entry.clone() }),
            None => warnings.push(format!(
                "{plural}.{group}: spec.versions[{name}]: is dropped, because the language has no such version name"
            )),
        }
    }
    let stored = versions.iter().find(|version| version.entry["storage"] == true).or(versions.first());
    let storage = stored.ok_or_else(|| Error::NoVersions(format!("{plural}.{group}")))?.name.clone();
    let moves = whole["metadata"]["annotations"][FIELD_MOVES].as_str().and_then(|text| serde_json::from_str(text).ok());
    Ok(Crd { group, kind, plural, storage, versions, moves: moves.unwrap_or_default(), whole })
}
