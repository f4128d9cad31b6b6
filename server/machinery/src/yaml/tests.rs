//! Each expectation is what `sigs.k8s.io/yaml` 1.6 gives.

use super::*;

fn json(text: &str) -> String {
    match to_json(text.as_bytes(), &mut Issues::ignore()) {
        Ok(json) => String::from_utf8(json).unwrap(),
        Err(error) => error.to_string(),
    }
}

fn yaml(text: &str) -> String {
    let mut out = Vec::new();
    from_json(text.as_bytes(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}
