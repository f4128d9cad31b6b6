//! A recorded conversation: requests in order, the answers of kube-apiserver, and what is compared.
//!
//! `tests/conformance/README.md` specifies the format. An option that it does not have is an error.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::paths::Path;

/// Several requests that belong together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Scenario {
    /// Unique within the area.
    pub name: String,
    /// One sentence for readers.
    #[serde(default)]
    pub about: String,
    /// What the scenario is a test of.
    pub area: String,
    /// Whether the scenario runs in a namespace of its own, `${ns}`.
    #[serde(default)]
    pub namespace: bool,
    /// Labels of that namespace.
    #[serde(default)]
    pub namespace_labels: Map<String, Value>,
    /// Whether the namespace gets the service account `default`.
    #[serde(default = "yes")]
    pub service_account: bool,
    /// Flags of the server on which the answers were recorded, besides the usual ones.
    #[serde(default)]
    pub requires: Vec<String>,
    /// Paths in the bodies of all steps that are not compared.
    #[serde(default)]
    pub ignore: Vec<Path>,
    /// Paths that are deleted at the end.
    #[serde(default)]
    pub cleanup: Vec<String>,
    /// Bodies that steps refer to with `$of`.
    #[serde(default)]
    pub bodies: Map<String, Value>,
    /// The requests.
    pub steps: Vec<Step>,
}

/// One request, or the end of a watch that an earlier step began.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Names the step for `${id.body...}` and in reports.
    pub id: String,
    /// What is sent.
    #[serde(default)]
    pub request: Option<Request>,
    /// The step whose watch in the background ends here; stands in place of a request.
    #[serde(default)]
    pub join: Option<String>,
    /// What kube-apiserver answered, normalised.
    #[serde(default)]
    pub response: Option<Value>,
    /// A user of the command line, or a token; `""` sends no credentials.
    #[serde(default, rename = "as")]
    pub user: Option<String>,
    /// Seconds to wait before the request.
    #[serde(default)]
    pub pause: f64,
    /// Headers of the answer that are compared besides the usual ones.
    #[serde(default)]
    pub headers: Vec<String>,
    /// A condition until which the request is repeated.
    #[serde(default)]
    pub repeat_until: Option<Until>,
    /// How much of the answer is compared.
    #[serde(default)]
    pub compare: Extent,
    /// Paths in the body that are not compared; `$warning` and `$headers` leave out these.
    #[serde(default)]
    pub ignore: Vec<Path>,
    /// Paths in the body that alone are compared.
    #[serde(default)]
    pub only: Option<Vec<Path>>,
    /// Lists that are sorted before they are compared.
    #[serde(default)]
    pub sort: Vec<Path>,
    /// How the stream of a watch is read.
    #[serde(default)]
    pub watch: Option<Stream>,
    /// Whether later steps run while the stream is read.
    #[serde(default)]
    pub background: bool,
}

/// A request as it is written in a step.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Any token; upper and lower case as it is sent.
    pub method: String,
    /// Path and query, unescaped.
    pub path: String,
    /// In place of and besides the usual headers; null: not sent, a list: sent repeatedly.
    #[serde(default)]
    pub headers: Map<String, Value>,
    /// JSON, `$text`, `$base64`, or `$of` with changes.
    #[serde(default)]
    pub body: Value,
}

/// What a repeated request waits for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Until {
    /// The status of the answer.
    #[serde(default)]
    pub status: Option<u16>,
    /// Values in the answer, by path; null: there is no such field.
    #[serde(default, rename = "where")]
    pub places: Map<String, Value>,
    /// How long the request is repeated; 10 s by default.
    #[serde(default)]
    pub seconds: Option<f64>,
}

/// How much of an answer is compared.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Extent {
    /// Status, content type, body, warnings and headers.
    #[default]
    Full,
    /// The same, of the body keys and types only.
    Shape,
    /// Status and the headers that the step names.
    Status,
}

/// When the stream of a watch counts as read.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// After how many events; without it, when nothing has come for `seconds`.
    #[serde(default)]
    pub events: Option<Events>,
    /// 10 s by default with `events`, else 2 s.
    #[serde(default)]
    pub seconds: Option<f64>,
}

/// What ends a stream.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub enum Events {
    /// So many events.
    Number(usize),
    /// The server closes it.
    Close(Close),
}

/// The word `close`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Close {
    /// The server closes the stream.
    Close,
}

impl Stream {
    /// The same with what a later step gives in place of it.
    pub fn with(self, other: Option<Stream>) -> Self {
        let other = other.unwrap_or_default();
        Stream { events: other.events.or(self.events), seconds: other.seconds.or(self.seconds) }
    }
}

fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Value) -> Result<Scenario, serde_json::Error> {
        serde_json::from_value(value)
    }

    #[test]
    fn all_options_are_read() {
        let step = json!({"id": "w", "as": "", "request": {"method": "GET", "path": "/", "headers": {"Accept": null}},
            "watch": {"events": "close", "seconds": 3}, "background": true, "compare": "shape", "pause": 0.5,
            "headers": ["ETag"], "only": ["a"], "sort": ["b"], "ignore": ["$warning", ["a", "b.c"]],
            "repeat_until": {"status": 200, "where": {"body.a": null}, "seconds": 1}, "response": {"status": 200}});
        let scenario = read(json!({"name": "n", "about": "x", "area": "a", "namespace": true,
            "namespaceLabels": {"a": "b"}, "serviceAccount": false, "requires": ["--x"], "cleanup": ["/y"],
            "ignore": ["m"], "bodies": {"base": {}}, "steps": [step, {"id": "j", "join": "w"}]}))
        .unwrap();
        assert!(scenario.namespace && !scenario.service_account);
        let step = &scenario.steps[0];
        assert_eq!(step.compare, Extent::Shape);
        assert_eq!(step.watch, Some(Stream { events: Some(Events::Close(Close::Close)), seconds: Some(3.0) }));
        assert_eq!(step.repeat_until.as_ref().unwrap().places["body.a"], Value::Null);
        assert_eq!(scenario.steps[1].join.as_deref(), Some("w"));
    }

    #[test]
    fn unknown_options_are_errors() {
        let scenario = |step: Value| read(json!({"name": "n", "area": "a", "steps": [step]}));
        assert!(scenario(json!({"id": "a", "ignored": []})).unwrap_err().to_string().contains("ignored"));
        assert!(scenario(json!({"id": "a", "compare": "some"})).is_err());
        assert!(scenario(json!({"id": "a", "watch": {"events": "open"}})).is_err());
        assert!(read(json!({"name": "n", "area": "a", "steps": [], "namespaced": true})).is_err());
    }

    #[test]
    fn a_join_changes_how_a_stream_is_read() {
        let begun = Stream { events: Some(Events::Number(2)), seconds: Some(1.0) };
        let joined = begun.with(Some(Stream { events: Some(Events::Number(3)), seconds: None }));
        assert_eq!(joined, Stream { events: Some(Events::Number(3)), seconds: Some(1.0) });
        assert_eq!(begun.with(None), begun);
    }
}
