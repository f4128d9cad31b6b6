//! Upstream's serialisation fixtures: every form of a fixture decodes to the same object and
//! encodes back to the same bytes.
//!
//! The fixtures stand in `tests/conformance`.

use std::error::Error;

use apiserver::convert::{self, ObjectEncoding};
use conversations::archive::{self, Fixture};

/// `apps.v1.Deployment` as (`apps/v1`, `Deployment`); the core group is called `core` there.
fn kind_of(stem: &str) -> Option<(String, String)> {
    let (rest, kind) = stem.rsplit_once('.')?;
    let (group, version) = rest.rsplit_once('.')?;
    let api_version = if group == "core" { version.to_string() } else { format!("{group}/{version}") };
    Some((api_version, kind.to_string()))
}

fn check(fixture: &Fixture, api_version: &str, kind: &str) -> Result<(), Box<dyn Error>> {
    let read = |form: &str| fixture.forms.get(form).ok_or_else(|| format!("there is no {form}"));
    let forms = [
        (ObjectEncoding::Json, read("json")?),
        (ObjectEncoding::Yaml, read("yaml")?),
        (ObjectEncoding::Protobuf, read("pb")?),
    ];
    for (from, bytes) in &forms {
        let mut object = convert::decode(kubernetes::catalog(), bytes, Some((api_version, kind)))
            .map_err(|e| format!("from {from:?}: {e}"))?;
        for (to, want) in &forms {
            let got = convert::encode(&mut object, *to).map_err(|e| format!("to {to:?}: {e}"))?;
            if trim(&got) != trim(want) {
                return Err(format!("from {from:?} to {to:?}: {}", first_difference(&got, want)).into());
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

#[test]
fn every_fixture_round_trips_in_every_encoding() {
    let fixtures = archive::fixtures(&archive::recordings()).expect("the fixtures can be read");
    assert!(fixtures.len() > 80, "only {} fixtures", fixtures.len());
    let mut failures = Vec::new();
    for fixture in &fixtures {
        let (api_version, kind) = kind_of(&fixture.name).expect("group.version.Kind");
        if let Err(why) = check(fixture, &api_version, &kind) {
            failures.push(format!("{}: {why}", fixture.name));
        }
    }
    assert!(failures.is_empty(), "{} of {} fixtures differ:\n{}", failures.len(), fixtures.len(), failures.join("\n"));
}
