//! `ConversionReview`: encoding of requests and decoding of responses.

use bytes::Bytes;
use machinery::json::{self, Issues};
use serde_json::{Value, json};

use crate::error::{Error, Result};

const GROUP: &str = "apiextensions.k8s.io";

/// Versions of `ConversionReview` that this server supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewVersion {
    V1,
    V1Beta1,
}

impl ReviewVersion {
    /// Returns the first supported version of a list.
    pub fn first_known(names: &[String]) -> Option<Self> {
        names.iter().find_map(|name| match name.as_str() {
            "v1" => Some(ReviewVersion::V1),
            "v1beta1" => Some(ReviewVersion::V1Beta1),
            _ => None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            ReviewVersion::V1 => "v1",
            ReviewVersion::V1Beta1 => "v1beta1",
        }
    }

    /// Encodes a request to convert objects to a version.
    pub fn request(self, uid: &str, objects: &[Value], api_version: &str) -> Bytes {
        let review = json!({
            "kind": "ConversionReview",
            "apiVersion": format!("{GROUP}/{}", self.name()),
            "request": {"uid": uid, "desiredAPIVersion": api_version, "objects": objects},
        });
        review.to_string().into()
    }

    /// Decodes the objects of a response (`getConvertedObjectsFromResponse`).
    ///
    /// # Errors
    /// Returns an error if the response is not for this request, or the webhook rejects the conversion.
    pub fn objects(self, uid: &str, answer: &[u8]) -> Result<Vec<Value>> {
        let parsed = json::parse(answer, &mut Issues::ignore());
        let mut review = parsed.map_err(Error::Review)?;
        if self == ReviewVersion::V1 {
            check_kind(&review)?;
        }
        let response = &mut review["response"];
        if !response.is_object() {
            return Err(Error::NoResponse);
        }
        let received = response["uid"].as_str().unwrap_or_default();
        if self == ReviewVersion::V1 && received != uid {
            return Err(Error::Uid { expected: uid.to_owned(), received: received.to_owned() });
        }
        match response["result"]["status"].as_str().unwrap_or_default() {
            "Success" => {}
            other => {
                let message = response["result"]["message"].as_str().filter(|message| !message.is_empty());
                let unexplained = || Error::NotSuccess { status: other.to_owned() };
                return Err(message.map_or_else(unexplained, |message| Error::Rejected { message: message.to_owned() }));
            }
        }
        match response["convertedObjects"].take() {
            Value::Array(objects) => Ok(objects),
            _ => Ok(Vec::new()),
        }
    }
}

fn check_kind(review: &Value) -> Result<()> {
    let text = |key: &str| review[key].as_str().unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    match (api_version, kind) {
        ("apiextensions.k8s.io/v1", "ConversionReview") => Ok(()),
        _ => Err(Error::ReviewKind { api_version: api_version.to_owned(), kind: kind.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_responses() {
        let answer = |response: Value| {
            json!({"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1", "response": response})
                .to_string()
        };
        let success = json!({"status": "Success"});
        for (text, expect) in [
            (answer(json!({"uid": "u", "result": success, "convertedObjects": [{"a": 1}]})), Ok(1)),
            (answer(json!({"uid": "u", "result": success})), Ok(0)),
            (answer(json!({"uid": "x", "result": success})), Err(r#"expected response.uid="u", got "x""#)),
            (
                answer(json!({"uid": "u", "result": {"status": "Failure", "message": "no such colour"}})),
                Err("no such colour"),
            ),
            (answer(json!({"uid": "u"})), Err("response.result.status was '', not 'Success'")),
            (answer(Value::Null), Err("no response provided")),
            (
                r#"{"kind":"Other","apiVersion":"v1"}"#.into(),
                Err("expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got v1, Kind=Other"),
            ),
            (
                "garbage".into(),
                Err(
                    "couldn't get version/kind; json parse error: invalid character 'g' looking for beginning of value",
                ),
            ),
        ] {
            let got = ReviewVersion::V1
                .objects("u", text.as_bytes())
                .map(|objects| objects.len())
                .map_err(|error| error.to_string());
            assert_eq!(got, expect.map_err(str::to_owned), "{text}");
        }
    }

    #[test]
    fn selects_first_supported_version() {
        for (names, expect) in [
            (&["v1", "v1beta1"][..], Some(ReviewVersion::V1)),
            (&["v2", "v1beta1", "v1"], Some(ReviewVersion::V1Beta1)),
            (&["v2"], None),
        ] {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(ReviewVersion::first_known(&names), expect);
        }
    }
}
