//! Gets, lists, pages and watches.

use serde_json::json;

use super::{Generator, ODD_NAMES, request};
use crate::catalog::Kind;
use crate::conversation::Step;

/// Seconds without data after which the stream of a watch counts as read.
const QUIET: f64 = 0.4;

impl<'c> Generator<'c> {
    /// Objects, and lists of them in several formats.
    pub(super) fn reads(&mut self) {
        let mut subject = self.subject();
        let kind = subject.kind;
        if kind.namespaced {
            for name in ["a", "b", "c.d"].into_iter().take(1 + self.random.below(3)) {
                subject.name = name.into();
                subject.object["metadata"]["name"] = json!(name);
                subject.object["metadata"]["labels"] = json!({"app": name});
                self.create(&subject);
            }
        } else {
            self.create(&subject);
        }
        while self.steps.len() < 3 || (self.steps.len() < 8 && self.random.percent(70)) {
            match self.random.below(10) {
                0..=3 => self.list(kind),
                4 if self.steps.len() < 7 => self.pages(kind),
                5..=6 => self.watch(kind),
                7 => self.read_one(&subject),
                8 => self.patch_step(&subject),
                _ => {
                    let step = request("GET", format!("{}/{}", kind.collection(), self.odd_name()));
                    self.push(step);
                }
            }
        }
    }

    fn odd_name(&mut self) -> String {
        self.random.pick(ODD_NAMES).to_string()
    }

    /// A list: of the namespace, or of objects with the conversation's name.
    fn list(&mut self, kind: &Kind) {
        let query = self.read_query(3);
        let (path, query) = self.narrowed(kind, query);
        let method = if self.random.percent(4) { "HEAD" } else { "GET" };
        let step = request(method, path + &query);
        let accept = self.accept(70);
        self.push(match accept {
            Some(accept) => step.header("Accept", accept),
            None => step,
        });
    }

    fn narrowed(&mut self, kind: &Kind, query: String) -> (String, String) {
        let path = kind.collection();
        if kind.namespaced && self.random.percent(90) {
            return (path, query);
        }
        let selector = if kind.namespaced { "metadata.namespace=${ns}" } else { "metadata.name=${rand}" };
        let path = format!("/{}/{}", kind.root(), kind.resource);
        let joint = if query.is_empty() { '?' } else { '&' };
        // A second selector would be ignored.
        match query.contains("fieldSelector") {
            true => (kind.collection(), query),
            false => (path, format!("{query}{joint}fieldSelector={selector}")),
        }
    }

    fn pages(&mut self, kind: &Kind) {
        let path = kind.collection();
        let step = request("GET", format!("{path}?limit=1"));
        let first = self.push(step);
        let more = ["", "&limit=1", "&resourceVersion=0", "&labelSelector=app=b"];
        let more = *self.random.pick(&more);
        let step = request("GET", format!("{path}?continue=${{{first}.body.metadata.continue}}{more}"));
        self.push(step);
    }

    fn watch(&mut self, kind: &Kind) {
        let query = self.read_query(2);
        let (path, query) = self.narrowed(kind, query);
        let joint = if query.is_empty() { '?' } else { '&' };
        let initial = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
        let form = *self.random.pick(&["", "", initial, "&sendInitialEvents=true", "&resourceVersion=0"]);
        let word = *self.random.pick(&["true", "true", "1", "TRUE"]);
        let step = request("GET", format!("{path}{query}{joint}watch={word}{form}"));
        let step = match self.accept(70) {
            // Streams are read as lines of JSON.
            Some(accept) if !accept.contains("protobuf") && !accept.contains("cbor") && !accept.contains("yaml") => {
                step.header("Accept", accept)
            }
            _ => step,
        };
        self.push(Step { watch: Some(json!({"seconds": QUIET})), ..step });
    }

    /// Returns a media type to accept; none in `none` percent of the cases.
    pub(super) fn accept(&mut self, none: usize) -> Option<&'static str> {
        const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
        if self.random.percent(none) {
            return None;
        }
        let types = [
            TABLE,
            TABLE,
            "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
            "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
            "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json",
            "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
            "application/json;as=Table;v=v2;g=meta.k8s.io,application/json",
            "application/json;as=Table",
            "application/json;as=Nothing;v=v1;g=meta.k8s.io",
            "application/yaml",
            "application/yaml;as=Table;v=v1;g=meta.k8s.io",
            "application/vnd.kubernetes.protobuf",
            "application/vnd.kubernetes.protobuf,application/json",
            "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io",
            "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
            "application/cbor",
            "application/json;stream=watch",
            "application/json;v=v1",
            "application/json;profile=a",
            "application/json; q=0.1, application/yaml; q=0.9",
            "application/json;q=0",
            "application/*",
            "*/*",
            "text/html",
            "text/*",
            "json",
            "",
            ",",
            "application/json;",
            "APPLICATION/JSON",
            "application/json;pretty=1",
            "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io",
        ];
        Some(*self.random.pick(&types))
    }
}
