//! Sends a scenario to a server and compares the answers.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rand::Rng;
use serde_json::{Map, Value, json};

use crate::body::{self, Headers};
use crate::client::Pieces;
use crate::compare::Comparison;
use crate::error::{Error, Result};
use crate::normalise::Normaliser;
use crate::paths::{self, Path};
use crate::request::{self, Outgoing, fill, fill_object, fill_text};
use crate::scenario::{Events, Extent, Request, Scenario, Step, Stream, Until};
use crate::stream::Watch;

/// Headers of an answer that are always compared where they are present.
const KEPT: [&str; 4] = ["location", "retry-after", "www-authenticate", "allow"];

/// Seconds after which a request is no longer repeated, unless the step has others.
const REPEATED: f64 = 10.0;

/// What scenarios are sent to.
pub trait Server: Sync {
    /// Sends one request; `stream`: a body of status 200 is read piece by piece.
    fn send(&self, request: &Outgoing, stream: bool) -> impl Future<Output = Result<Answer>> + Send;
}

/// An answer whose body may still be coming.
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// All headers.
    pub headers: Headers,
    /// The body.
    pub content: Content,
}

/// The body of an answer.
pub enum Content {
    /// All of it.
    Whole(Vec<u8>),
    /// Pieces as they come.
    Stream(Pieces),
}

/// What became of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    /// The step.
    pub id: String,
    /// What differs, a line each; empty when the answer matches.
    pub differences: Vec<String>,
    /// The normalised answer, if there was one.
    pub answer: Option<Value>,
    /// How many events a watch without `events` had.
    pub events: Option<usize>,
}

/// Plays a scenario; what became of each step.
pub async fn play(server: &impl Server, scenario: &Scenario) -> Vec<Played> {
    let mut play = Play::new(server, scenario);
    let steps = match play.begin().await {
        Ok(()) => play.steps().await,
        Err(error) => {
            let failed = |step: &Step| Played::failed(step, format!("no namespace: {error}"));
            return scenario.steps.iter().map(failed).collect();
        }
    };
    play.end().await;
    steps
}

impl Played {
    fn failed(step: &Step, why: String) -> Self {
        Played { id: step.id.clone(), differences: vec![why], answer: None, events: None }
    }
}

/// A scenario that is being played.
struct Play<'s, S> {
    server: &'s S,
    scenario: &'s Scenario,
    namespace: Option<String>,
    /// What earlier steps were answered, and the words `ns` and `rand`.
    answers: Map<String, Value>,
    normaliser: Normaliser,
    comparison: Comparison,
    watches: HashMap<String, Watch>,
}

impl<'s, S: Server> Play<'s, S> {
    fn new(server: &'s S, scenario: &'s Scenario) -> Self {
        let mut random = rand::rng();
        let namespace = scenario.namespace.then(|| format!("t-{:010x}", random.random::<u64>() & 0xff_ffff_ffff));
        let rand = format!("r{:07x}", random.random::<u32>() & 0xfff_ffff);
        let normaliser = Normaliser::new(&[(namespace.as_deref().unwrap_or_default(), "<ns>"), (&rand, "<rand>")]);
        let mut answers = Map::new();
        answers.insert("rand".into(), rand.into());
        answers.insert("ns".into(), namespace.clone().into());
        let comparison = Comparison::default();
        Play { server, scenario, namespace, answers, normaliser, comparison, watches: HashMap::new() }
    }

    async fn begin(&self) -> Result<()> {
        let Some(name) = &self.namespace else { return Ok(()) };
        let labels = fill_object(&self.scenario.namespace_labels, &self.answers)?;
        let metadata = json!({"name": name, "labels": labels});
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata});
        let created = self.server.send(&Outgoing::new("POST", "/api/v1/namespaces", Some(namespace)), false).await?;
        if created.status != 201 {
            return Err(Error::Status { path: "/api/v1/namespaces".into(), status: created.status });
        }
        if self.scenario.service_account {
            let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}});
            let path = format!("/api/v1/namespaces/{name}/serviceaccounts");
            // The server may have made it already.
            let _ = self.server.send(&Outgoing::new("POST", &path, Some(account)), false).await;
        }
        Ok(())
    }

    async fn steps(&mut self) -> Vec<Played> {
        let mut played = Vec::new();
        for step in &self.scenario.steps {
            played.push(match self.step(step).await {
                Ok((answer, events)) => {
                    let ignored: Vec<Path> = step.ignore.iter().chain(&self.scenario.ignore).cloned().collect();
                    let found = step.response.as_ref().map(|want| self.comparison.answers(want, &answer, &ignored));
                    let differences = found.unwrap_or_default().iter().map(|found| found.text()).collect();
                    Played { id: step.id.clone(), differences, answer: Some(answer), events }
                }
                Err(error @ Error::Reference(_)) => Played::failed(step, error.to_string()),
                Err(error) => Played::failed(step, format!("no answer: {error}")),
            });
        }
        played
    }

    async fn step(&mut self, step: &Step) -> Result<(Value, Option<usize>)> {
        tokio::time::sleep(Duration::from_secs_f64(step.pause)).await;
        if let Some(id) = &step.join {
            let mut watch = self.watches.remove(id).ok_or_else(|| Error::Reference(format!("the watch {id}")))?;
            watch.wanted = watch.wanted.with(step.watch);
            let counts = watch.wanted.events.is_none();
            let body = watch.finish().await;
            self.answers.insert(step.id.clone(), json!({"body": body}));
            return Ok((json!({"body": self.body(step, &body)}), counts.then(|| number_of_events(&body))));
        }
        let request = self.outgoing(step)?;
        let begin = Instant::now();
        let (status, headers, body) = loop {
            let (status, headers, body) = self.exchange(&request, step).await?;
            let Some(until) = &step.repeat_until else { break (status, headers, body) };
            let late = begin.elapsed() > Duration::from_secs_f64(until.seconds.unwrap_or(REPEATED));
            if late || (until.status.is_none_or(|wanted| wanted == status) && self.has_reached(until, &body)) {
                break (status, headers, body);
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        };
        let named: Map<String, Value> = headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        self.answers.insert(step.id.clone(), json!({"status": status, "headers": named, "body": body}));
        let counts = step.watch.is_some_and(|watch| watch.events.is_none()) && body.get("$watch").is_some();
        Ok((self.normalised(step, status, &headers, &body), counts.then(|| number_of_events(&body))))
    }

    fn outgoing(&self, step: &Step) -> Result<Outgoing> {
        let nothing = || Error::Reference("the step has neither a request nor a watch to join".into());
        let request = step.request.as_ref().ok_or_else(nothing)?;
        let text = |text: &str| Ok::<_, Error>(request::display(&fill_text(text, &self.answers)?));
        let request = Request {
            method: text(&request.method)?,
            path: text(&request.path)?,
            headers: fill_object(&request.headers, &self.answers)?,
            body: fill(&request::changed(&request.body, &self.scenario.bodies)?, &self.answers)?,
        };
        Ok(Outgoing::from_request(&request, &text(step.user.as_deref().unwrap_or("admin"))?))
    }

    async fn exchange(&mut self, request: &Outgoing, step: &Step) -> Result<(u16, Headers, Value)> {
        let Answer { status, headers, content } = self.server.send(request, step.watch.is_some()).await?;
        let body = match content {
            Content::Whole(bytes) => body::read(&headers, &bytes)?,
            Content::Stream(pieces) => {
                let watch = Watch::new(pieces, step.watch.unwrap_or_default());
                if step.background {
                    self.watches.insert(step.id.clone(), watch);
                    Value::Null
                } else {
                    watch.finish().await
                }
            }
        };
        Ok((status, headers, body))
    }

    fn has_reached(&self, until: &Until, body: &Value) -> bool {
        let Ok(wanted) = fill_object(&until.places, &self.answers) else { return false };
        let answer = json!({"body": body});
        let answer = answer.as_object().cloned().unwrap_or_default();
        wanted.iter().all(|(path, value)| request::lookup(&answer, path).unwrap_or(&Value::Null) == value)
    }

    /// The parts of an answer that the step compares.
    fn normalised(&mut self, step: &Step, status: u16, headers: &Headers, body: &Value) -> Value {
        // Of a header that is sent repeatedly, the last.
        let last = |name: &str| headers.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value);
        let mut out = json!({"status": status});
        let mut compared: Vec<String> = step.headers.iter().map(|name| name.to_lowercase()).collect();
        if step.compare != Extent::Status {
            out["contentType"] = last("content-type").map_or(String::new(), |value| value.replace(' ', "")).into();
            out["body"] = self.body(step, body);
            if let Some(encoding) = last("content-encoding") {
                out["contentEncoding"] = json!(encoding);
            }
            let warnings = headers.iter().filter(|(name, _)| name == "warning");
            let warnings: Vec<Value> = warnings.map(|(_, value)| self.normaliser.text(value).into()).collect();
            if !warnings.is_empty() {
                out["warning"] = warnings.into();
            }
            compared.extend(KEPT.iter().filter(|name| last(name).is_some()).map(|name| name.to_string()));
        }
        for name in compared {
            let values: Vec<&str> =
                headers.iter().filter(|(known, _)| *known == name).map(|(_, value)| value.as_str()).collect();
            let value = (!values.is_empty()).then(|| self.normaliser.text(&values.join(", ")));
            out["headers"][name] = json!(value);
        }
        out
    }

    /// The part of a body that the step compares.
    fn body(&mut self, step: &Step, body: &Value) -> Value {
        let mut body = self.normaliser.body(body);
        if let Some(only) = &step.only {
            let only: Vec<&[String]> = only.iter().map(|path| path.0.as_slice()).collect();
            body = paths::keep(&body, &only).unwrap_or(Value::Null);
        }
        step.sort.iter().for_each(|path| paths::sort(&mut body, &path.0));
        if step.compare == Extent::Shape { paths::shape(&body) } else { body }
    }

    /// Ends watches, and deletes what the scenario names and its namespace.
    async fn end(mut self) {
        for (_, mut watch) in self.watches.drain() {
            watch.wanted = Stream { events: Some(Events::Number(0)), seconds: None };
            watch.finish().await;
        }
        let namespace = self.namespace.iter().map(|name| json!(format!("/api/v1/namespaces/{name}")));
        let paths = self.scenario.cleanup.iter().filter_map(|path| fill_text(path, &self.answers).ok());
        for path in paths.chain(namespace) {
            // Whether there is something to delete depends on what the server accepted.
            let _ = self.server.send(&Outgoing::new("DELETE", &request::display(&path), None), false).await;
        }
    }
}

fn number_of_events(body: &Value) -> usize {
    body["$watch"].as_array().map_or(0, Vec::len)
}

#[cfg(test)]
mod tests;
