//! One of the two compared servers, and its responses.

use std::collections::BTreeSet;
use std::sync::Arc;

use differential::client::Remote;
use differential::play::{Exchange, Server};
use serde_json::{Value, json};
use storage::{Store, Txn};

use crate::case::{Case, Op, Step};
use crate::error::{Error, Result};
use crate::form::{self, Zero};
use crate::kinds::{GROUP, Kind, Kinds};

/// How a server serves the kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// As declared kinds.
    Natively,
    /// As custom resources.
    ByDefinition,
}

/// A server.
pub struct Side {
    pub name: &'static str,
    pub served: Served,
    pub remotes: Vec<Remote>,
    /// The server's store, when it is in this process.
    pub store: Option<Arc<dyn Store>>,
}

/// The outcome of a write or a read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    pub code: u16,
    /// The rejected fields.
    pub paths: BTreeSet<String>,
    /// Whether validation rules may have been skipped because of other errors.
    pub partial: bool,
    /// The object in canonical form.
    pub object: Value,
    pub message: String,
}

impl Outcome {
    /// Reports whether the write or read succeeded.
    pub fn accepted(&self) -> bool {
        (200..300).contains(&self.code)
    }

    /// Reports whether the document could not be decoded as an object of its type.
    ///
    /// Decoding ends at the first error, and native kinds and custom resources accept different
    /// documents.
    fn is_unreadable(&self) -> bool {
        let of_apply = ["failed to convert new object", "failed to create typed patch object"];
        let is_patch = self.code == 422 && self.paths.iter().all(|path| path == "patch") && !self.paths.is_empty();
        self.code == 400 || is_patch || (self.code == 500 && of_apply.iter().any(|text| self.message.starts_with(text)))
    }

    /// Reports whether another server agrees.
    pub fn agrees(&self, other: &Outcome) -> bool {
        if self.accepted() || other.accepted() {
            return self.accepted() && other.accepted() && self.object == other.object;
        }
        if self.is_unreadable() || other.is_unreadable() {
            return true;
        }
        self.code == other.code
            && match (self.partial, other.partial) {
                (false, true) => other.paths.is_subset(&self.paths),
                (true, false) => self.paths.is_subset(&other.paths),
                _ => self.paths == other.paths,
            }
    }
}

impl Side {
    /// Sends a request with a document; returns the code and the document of the response.
    ///
    /// # Errors
    ///
    /// Fails when the server cannot be reached, or when the response is not JSON.
    pub async fn send(&self, worker: usize, method: &str, path: &str, body: &Value) -> Result<(u16, Value)> {
        let content_type = match (method, path.contains("merge=1")) {
            ("PATCH", true) => "application/merge-patch+json",
            ("PATCH", false) => "application/apply-patch+yaml",
            _ => "application/json",
        };
        let exchange = Exchange {
            method: method.into(),
            path: path.into(),
            headers: vec![("Content-Type".into(), content_type.into()), ("Accept".into(), "application/json".into())],
            body: (!body.is_null()).then(|| body.to_string().into_bytes()),
            ..Exchange::default()
        };
        let answer = self.remotes[worker].send(&exchange).await?;
        Ok((answer.status, serde_json::from_slice(&answer.body)?))
    }

    /// Installs the definitions, and waits until they are established.
    ///
    /// # Errors
    ///
    /// Fails when the server rejects the definitions.
    pub async fn install(&self, kinds: &Kinds) -> Result<()> {
        for definition in &kinds.definitions {
            let name = definition["metadata"]["name"].as_str().unwrap_or_default();
            let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}");
            let (code, answer) = self.send(0, "PATCH", &format!("{path}?fieldManager=verdict"), definition).await?;
            if code > 201 {
                return Err(Error::Other(format!("{} refuses {name}: {}", self.name, answer["message"])));
            }
            loop {
                let (_, found) = self.send(0, "GET", &path, &Value::Null).await?;
                let conditions = found["status"]["conditions"].as_array().cloned().unwrap_or_default();
                let is = |kind: &str| conditions.iter().any(|one| one["type"] == kind && one["status"] == "True");
                if is("NonStructuralSchema") {
                    return Err(Error::Other(format!("{name}: {}", found["status"]["conditions"])));
                }
                if is("Established") {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        Ok(())
    }

    /// Waits until the resource of a kind is served.
    ///
    /// # Errors
    ///
    /// Fails when the server cannot be reached.
    pub async fn wait_for(&self, kinds: &Kinds) -> Result<()> {
        for kind in &kinds.kinds {
            for (version, _) in &kind.versions {
                let path = collection(kind, version);
                while self.send(0, "GET", &format!("{path}?limit=1"), &Value::Null).await.map_or(404, |(code, _)| code)
                    != 200
                {
                    tokio::task::yield_now().await;
                }
            }
        }
        Ok(())
    }

    /// Runs the steps of a case with an object of this name; stops when the object could not be
    /// created.
    ///
    /// # Errors
    ///
    /// Fails when the server cannot be reached.
    pub async fn play(&self, worker: usize, kinds: &Kinds, case: &Case, name: &str) -> Result<Vec<Outcome>> {
        let mut outcomes = Vec::new();
        let mut version_of_object = Value::Null;
        for step in &case.steps {
            let (outcome, metadata) = self.step(worker, kinds, case, step, name, &version_of_object).await?;
            if outcome.accepted() && step.op != Op::Seed {
                version_of_object = metadata;
            }
            let is_over = !outcome.accepted() && version_of_object.is_null() && step.op != Op::Seed;
            outcomes.push(outcome);
            if is_over {
                break;
            }
        }
        Ok(outcomes)
    }

    async fn step(
        &self,
        worker: usize,
        kinds: &Kinds,
        case: &Case,
        step: &Step,
        name: &str,
        resource_version: &Value,
    ) -> Result<(Outcome, Value)> {
        let kind = &kinds.kinds[case.kind];
        let (version, id) = &kind.versions[step.version];
        let mut body = self.body(kinds, kind, step, name, version, *id);
        if step.op == Op::Seed {
            self.seed(kind, name, &mut body).await?;
            return Ok((Outcome { code: 200, ..Outcome::default() }, Value::Null));
        }
        let path = collection(kind, version);
        let query = if step.strict { "fieldValidation=Strict" } else { "fieldValidation=Ignore" };
        let (method, path) = match step.op {
            Op::Create => ("POST", format!("{path}?{query}")),
            Op::Replace => ("PUT", format!("{path}/{name}?{query}")),
            Op::Status => ("PUT", format!("{path}/{name}/status?{query}")),
            Op::Merge => ("PATCH", format!("{path}/{name}?{query}&merge=1")),
            Op::Apply => ("PATCH", format!("{path}/{name}?{query}&fieldManager=applier&force=true")),
            Op::Read | Op::Seed => ("GET", format!("{path}/{name}")),
        };
        match step.op {
            Op::Read => body = Value::Null,
            Op::Replace | Op::Status => body["metadata"]["resourceVersion"] = resource_version.clone(),
            _ => {}
        }
        let (code, answer) = self.send(worker, method, &path, &body).await?;
        let outcome = outcome(kinds, self.served, *id, code, &answer);
        Ok((outcome, answer["metadata"]["resourceVersion"].clone()))
    }

    /// Returns the document of a step.
    fn body(
        &self,
        kinds: &Kinds,
        kind: &Kind,
        step: &Step,
        name: &str,
        version: &str,
        id: codegen::model::StructId,
    ) -> Value {
        let as_is = self.served == Served::Natively && !matches!(step.op, Op::Merge | Op::Apply);
        let zero = match step.op {
            Op::Merge => Zero::Null,
            Op::Apply => Zero::Applied,
            _ => Zero::Absent,
        };
        let mut body = match as_is {
            true => step.body.clone(),
            false => form::canonical(&kinds.model, id, &step.body, zero),
        };
        body["apiVersion"] = format!("{GROUP}/{version}").into();
        body["kind"] = kind.name.clone().into();
        body["metadata"] = json!({"name": name});
        if kind.namespaced {
            body["metadata"]["namespace"] = "default".into();
        }
        body
    }

    /// Writes an object to the store that the server would reject.
    async fn seed(&self, kind: &Kind, name: &str, body: &mut Value) -> Result<()> {
        let Some(store) = &self.store else { return Err(Error::Other(format!("{} has no store", self.name))) };
        body["metadata"]["uid"] = "123e4567-e89b-12d3-a456-426614174000".into();
        body["metadata"]["creationTimestamp"] = "2026-01-02T03:04:05Z".into();
        body["metadata"]["generation"] = 1.into();
        let space = if kind.namespaced { "default/" } else { "" };
        let group = if self.served == Served::Natively { String::new() } else { format!("{GROUP}/") };
        let key = format!("/registry/{group}{}/{space}{name}", kind.plural);
        store.commit(Txn::put(key.into_bytes(), body.to_string().into_bytes())).await?;
        Ok(())
    }
}

fn collection(kind: &Kind, version: &str) -> String {
    let space = if kind.namespaced { "namespaces/default/" } else { "" };
    format!("/apis/{GROUP}/{version}/{space}{}", kind.plural)
}

fn outcome(kinds: &Kinds, served: Served, id: codegen::model::StructId, code: u16, answer: &Value) -> Outcome {
    let mut outcome = Outcome { code, ..Outcome::default() };
    if outcome.accepted() {
        outcome.object = form::stored(&kinds.model, id, answer);
        return outcome;
    }
    outcome.message = answer["message"].as_str().unwrap_or_default().to_owned();
    for cause in answer["details"]["causes"].as_array().into_iter().flatten() {
        let message = cause["message"].as_str().unwrap_or_default();
        if message.contains("some validation rules were not checked") {
            outcome.partial = true;
            continue;
        }
        // For an update with unchanged items and a duplicate key, rules are not evaluated again.
        outcome.partial |= served == Served::ByDefinition && message.starts_with("Duplicate value");
        let field = cause["field"].as_str().unwrap_or_default();
        outcome.paths.insert(canonical_path(field));
    }
    outcome
}

/// Unifies field paths: `spec.labels[a]` is `spec.labels.a`, and `<nil>` is the empty path.
fn canonical_path(field: &str) -> String {
    let field = field.replace('[', ".").replace(']', "");
    if field == "<nil>" { String::new() } else { field.trim_start_matches('.').to_owned() }
}
