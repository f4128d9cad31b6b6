//! Tests with upstream's serialization fixtures: every encoding of a fixture decodes to the same object
//! and encodes to the same bytes.
//!
//! The fixtures are in a folder beside the checkout (`GOLDENS` sets another folder).

use std::fs;
use std::path::{Path, PathBuf};

use apiserver::convert::{self, Form};
use needs::needs;

fn folder() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/goldens");
    std::env::var_os("GOLDENS").map_or(beside, PathBuf::from)
}

/// `apps.v1.Deployment` as (`apps/v1`, `Deployment`); fixtures call the core group `core`.
fn kind_of(stem: &str) -> Option<(String, String)> {
    let (rest, kind) = stem.rsplit_once('.')?;
    let (group, version) = rest.rsplit_once('.')?;
    let api_version = if group == "core" { version.to_string() } else { format!("{group}/{version}") };
    Some((api_version, kind.to_string()))
}

fn check(path: &Path, api_version: &str, kind: &str) -> Result<(), String> {
    let read = |extension: &str| fs::read(path.with_extension(extension)).map_err(|e| e.to_string());
    let forms = [(Form::Json, read("json")?), (Form::Yaml, read("yaml")?), (Form::Protobuf, read("pb")?)];
    for (from, bytes) in &forms {
        let mut object = convert::decode(kubernetes::catalog(), bytes, Some((api_version, kind)))
            .map_err(|e| format!("from {from:?}: {e}"))?;
        for (to, want) in &forms {
            let got = convert::encode(&mut object, *to).map_err(|e| format!("to {to:?}: {e}"))?;
            if trim(&got) != trim(want) {
                return Err(format!("from {from:?} to {to:?}: {}", first_difference(&got, want)));
            }
        }
    }
    Ok(())
}

fn trim(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(b"\n").unwrap_or(bytes)
}

fn first_difference(got: &[u8], want: &[u8]) -> String {
    let at = got.iter().zip(want).position(|(a, b)| a != b).unwrap_or(got.len().min(want.len()));
    let around =
        |bytes: &[u8]| String::from_utf8_lossy(&bytes[at.saturating_sub(60)..(at + 60).min(bytes.len())]).into_owned();
    format!("byte {at}: got …{:?}, want …{:?}", around(got), around(want))
}

#[needs(goldens)]
#[test]
fn every_fixture_round_trips_in_every_encoding() {
    let mut failures = Vec::new();
    let mut count = 0;
    for entry in fs::read_dir(folder()).expect("the fixtures can be listed") {
        let path = entry.expect("a fixture").path();
        if path.extension().is_none_or(|e| e != "json") {
            continue;
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let Some((api_version, kind)) = kind_of(&stem) else { continue };
        count += 1;
        if let Err(why) = check(&path, &api_version, &kind) {
            failures.push(format!("{stem}: {why}"));
        }
    }
    failures.sort();
    assert!(failures.is_empty(), "{} of {count} fixtures differ:\n{}", failures.len(), failures.join("\n"));
}
