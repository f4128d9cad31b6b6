//! Sends a conversation to a server.

use std::time::{Duration, Instant};

use apiserver::convert::{self, ObjectEncoding};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::conversation::{Conversation, Step};
use crate::error::Result;
use crate::normalise::Normaliser;

/// One request as it is sent.
#[derive(Clone, Debug, Default)]
pub struct Exchange {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
    /// A token instead of the administrator's; "": none.
    pub user: Option<String>,
    /// For a watch: the stream counts as read after this time without data.
    pub quiet: Option<Duration>,
}

/// A response.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Whether the server ended the response.
    pub closed: bool,
}

/// The server of a conversation.
pub trait Server {
    /// Sends one request.
    fn send(&self, exchange: &Exchange) -> impl Future<Output = Result<Answer>> + Send;
    /// Host and port, which some responses contain.
    fn address(&self) -> String;
}

/// The path suffix of the collection of definitions.
const DEFINITIONS: &str = "/customresourcedefinitions";

/// Headers that are compared in addition to status and body.
const HEADERS: [&str; 8] = [
    "allow",
    "cache-control",
    "location",
    "retry-after",
    "upgrade",
    "vary",
    "www-authenticate",
    "x-content-type-options",
];

/// A conversation with one server.
pub struct Play<'s, S> {
    server: &'s S,
    namespace: Option<String>,
    /// Responses of earlier steps, for `${..}`.
    answers: Map<String, Value>,
    normaliser: Normaliser,
    /// Created objects in reverse order; they are deleted at the end.
    created: Vec<String>,
    /// Whether a definition was rejected: then no step waits for its resource.
    no_definition: bool,
}

impl<'s, S: Server> Play<'s, S> {
    /// Begins a conversation; `word` is unique on this server.
    pub async fn begin(server: &'s S, talk: &Conversation, word: &str) -> Result<Self> {
        let namespace = talk.namespace.then(|| format!("t-{word}"));
        let rand = format!("r{word}");
        let address = server.address();
        let words =
            [(namespace.as_deref().unwrap_or_default(), "<ns>"), (&rand, "<rand>"), (address.as_str(), "<server>")];
        let mut answers = Map::new();
        answers.insert("rand".into(), rand.clone().into());
        let normaliser = Normaliser::new(&words);
        let play = Play { server, namespace, answers, normaliser, created: talk.cleanup.clone(), no_definition: false };
        let Some(name) = play.namespace.clone() else { return Ok(play) };
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        play.quietly("POST", "/api/v1/namespaces", Some(namespace)).await?;
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}});
        play.quietly("POST", &format!("/api/v1/namespaces/{name}/serviceaccounts"), Some(account)).await?;
        Ok(Play { answers: play.answers.into_iter().chain([("ns".into(), name.into())]).collect(), ..play })
    }

    /// Sends a step and returns the normalised response. `None`: the request references a missing
    /// value of an earlier response.
    pub async fn step(&mut self, step: &Step) -> Result<Option<Value>> {
        tokio::time::sleep(Duration::from_secs_f64(step.pause)).await;
        let Some(exchange) = self.exchange(step) else { return Ok(None) };
        let sent = exchange.body.as_deref().and_then(|body| serde_json::from_slice::<Value>(body).ok());
        if let Some(base) = sent.as_ref().and_then(|body| body["metadata"]["generateName"].as_str()) {
            self.normaliser.generates(base);
        }
        let begin = Instant::now();
        let answer = loop {
            let answer = self.server.send(&exchange).await?;
            let reached = self.no_definition || step.until.is_none_or(|status| status == answer.status);
            let reached = reached && !is_starting(&answer);
            if reached || begin.elapsed() > Duration::from_secs(10) {
                break answer;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        self.no_definition |= answer.status >= 400 && step.method == "POST" && step.path.ends_with(DEFINITIONS);
        let body = body(&answer, step.watch.is_some());
        self.note_created(&exchange, &answer, &body);
        let kept = json!({"status": answer.status, "headers": all_headers(&answer), "body": body});
        self.answers.insert(step.id.clone(), kept);
        Ok(Some(self.normalised(&answer, &body)))
    }

    fn exchange(&self, step: &Step) -> Option<Exchange> {
        let mut headers =
            vec![("Accept".to_string(), json!("application/json")), ("User-Agent".into(), json!("replay"))];
        let body = match &step.body {
            None => None,
            Some(body) => {
                headers.push(("Content-Type".into(), json!("application/json")));
                Some(bytes(&self.fill(body)?))
            }
        };
        for (name, value) in &step.headers {
            headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            headers.push((name.clone(), self.fill(value)?));
        }
        let flat = headers.into_iter().flat_map(|(name, value)| match value {
            Value::Null => Vec::new(),
            Value::Array(all) => all.iter().map(|one| (name.clone(), text(one))).collect(),
            one => vec![(name, text(&one))],
        });
        let quiet = step.watch.as_ref().map(|watch| Duration::from_secs_f64(watch["seconds"].as_f64().unwrap_or(2.0)));
        Some(Exchange {
            method: step.method.clone(),
            path: quoted(&text(&self.fill(&json!(step.path))?)),
            headers: flat.collect(),
            body,
            user: step.user.clone(),
            quiet,
        })
    }

    /// Replaces `${..}` by parts of earlier responses.
    fn fill(&self, value: &Value) -> Option<Value> {
        Some(match value {
            Value::String(text) => {
                let mut out = String::new();
                let mut rest = text.as_str();
                while let Some((before, (path, after))) =
                    rest.split_once("${").and_then(|(before, rest)| Some((before, rest.split_once('}')?)))
                {
                    let found = self.find(path)?;
                    if before.is_empty() && after.is_empty() && out.is_empty() {
                        return Some(found.clone());
                    }
                    out = out + before + &self::text(found);
                    rest = after;
                }
                (out + rest).into()
            }
            Value::Array(items) => items.iter().map(|item| self.fill(item)).collect::<Option<_>>()?,
            Value::Object(object) => {
                let fields =
                    object.iter().map(|(key, value)| Some((text(&self.fill(&json!(key))?), self.fill(value)?)));
                Value::Object(fields.collect::<Option<_>>()?)
            }
            other => other.clone(),
        })
    }

    fn find(&self, path: &str) -> Option<&Value> {
        let mut words = path.split('.');
        words.clone().next()?;
        let first = self.answers.get(words.next()?)?;
        words.try_fold(first, |at, word| match at {
            Value::Array(items) => items.get(word.parse::<usize>().ok()?),
            other => other.get(word),
        })
    }

    fn note_created(&mut self, exchange: &Exchange, answer: &Answer, body: &Value) {
        let path = exchange.path.split('?').next().unwrap_or_default().trim_end_matches('/');
        // A table or protobuf does not contain the name in JSON.
        let sent = || exchange.body.as_deref().and_then(|sent| serde_json::from_slice::<Value>(sent).ok());
        let name = |body: &Value| {
            let object = body.get("content").unwrap_or(body);
            object["metadata"]["name"].as_str().map(str::to_string)
        };
        let path = match (exchange.method.as_str(), answer.status) {
            ("POST", 201) => {
                let Some(name) = name(body).or_else(|| name(&sent()?)) else { return };
                format!("{path}/{name}")
            }
            ("PUT" | "PATCH", 201) => path.to_string(),
            _ => return,
        };
        self.created.insert(0, path);
    }

    fn normalised(&mut self, answer: &Answer, body: &Value) -> Value {
        let header = |name: &str| answer.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        let mut out = json!({
            "status": answer.status,
            "contentType": header("content-type").map_or(String::new(), |value| value.replace(' ', "")),
            "body": self.normaliser.body(body),
        });
        if let Some(encoding) = header("content-encoding") {
            out["contentEncoding"] = json!(encoding);
        }
        let of =
            |wanted: &str| answer.headers.iter().filter(|(name, _)| name == wanted).map(|(_, v)| v.clone()).collect();
        let warnings: Vec<String> = of("warning");
        if !warnings.is_empty() {
            out["warning"] = warnings.iter().map(|warning| self.normaliser.text(warning)).collect();
        }
        for name in HEADERS {
            let values: Vec<String> = of(name);
            if !values.is_empty() {
                out["headers"][name] = self.normaliser.text(&values.join(", ")).into();
            }
        }
        out
    }

    /// Deletes the objects of the conversation.
    pub async fn end(self) -> Result<()> {
        for path in &self.created {
            let Some(path) = self.fill(&json!(path)) else { continue };
            self.delete(&quoted(&text(&path))).await?;
        }
        let Some(name) = &self.namespace else { return Ok(()) };
        self.quietly("DELETE", &format!("/api/v1/namespaces/{name}"), None).await?;
        self.finalize(name).await
    }

    async fn delete(&self, path: &str) -> Result<()> {
        let now = json!({"gracePeriodSeconds": 0});
        let answer = self.quietly("DELETE", path, Some(now.clone())).await?;
        let left = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
        if let Some(name) = path.strip_prefix("/api/v1/namespaces/").filter(|name| !name.contains('/')) {
            self.finalize(name).await?;
        }
        if left["metadata"]["finalizers"].is_array() {
            let patch = json!({"metadata": {"finalizers": null}});
            self.quietly("PATCH", path, Some(patch)).await?;
            self.quietly("DELETE", path, Some(now)).await?;
        }
        // Groups and their documents disappear after their definition.
        if let Some(name) = path.split_once("/customresourcedefinitions/").map(|(_, name)| name)
            && let Some((_, group)) = name.split_once('.')
        {
            self.wait_for_404(path).await?;
            self.wait_for_404(&format!("/apis/{group}")).await?;
        }
        Ok(())
    }

    /// Waits until a path responds with 404, with a time limit.
    async fn wait_for_404(&self, path: &str) -> Result<()> {
        let begin = Instant::now();
        while self.quietly("GET", path, None).await?.status != 404 && begin.elapsed() < Duration::from_secs(5) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    /// Finalizes a namespace in place of the namespace controller.
    ///
    /// A policy of the conversation may reject that for some time after its deletion.
    async fn finalize(&self, name: &str) -> Result<()> {
        let empty = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "spec": {}});
        let (path, begin) = (format!("/api/v1/namespaces/{name}/finalize"), Instant::now());
        while !matches!(self.quietly("PUT", &path, Some(empty.clone())).await?.status, 200 | 404)
            && begin.elapsed() < Duration::from_secs(5)
        {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    /// Sends a request besides the conversation; the response does not matter.
    async fn quietly(&self, method: &str, path: &str, body: Option<Value>) -> Result<Answer> {
        let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let headers = vec![("Accept".into(), "application/json".into()), ("Content-Type".into(), kind.into())];
        let body = body.map(|body| body.to_string().into_bytes());
        self.server
            .send(&Exchange { method: method.into(), path: path.into(), headers, body, ..Exchange::default() })
            .await
    }
}

/// The watch cache of kube-apiserver is not ready immediately after a resource is defined.
fn is_starting(answer: &Answer) -> bool {
    let text = String::from_utf8_lossy(&answer.body);
    answer.status == 429 && text.contains("storage is (re)initializing")
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

fn bytes(body: &Value) -> Vec<u8> {
    match (body["$text"].as_str(), body["$base64"].as_str()) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (_, Some(text)) => STANDARD.decode(text).unwrap_or_default(),
        _ => body.to_string().into_bytes(),
    }
}

/// Escapes the characters of a path that a URL cannot contain.
fn quoted(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/?&=%:,!+~@()*'$;.-_[]\"".contains(&byte) && byte != b'"' {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

fn all_headers(answer: &Answer) -> Value {
    Value::Object(answer.headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect())
}

/// Returns the body of a response as JSON: the document, or `{"$text"}`, `{"$protobuf",
/// "content"}`, `{"$binary"}`, `{"$watch"}`.
fn body(answer: &Answer, watch: bool) -> Value {
    let header = |name: &str| answer.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value);
    let mut unpacked = Vec::new();
    let mut raw = &answer.body;
    if header("content-encoding") == "gzip" {
        let mut reader = flate2::read::GzDecoder::new(raw.as_slice());
        if std::io::Read::read_to_end(&mut reader, &mut unpacked).is_ok() {
            raw = &unpacked;
        }
    }
    if watch && answer.status == 200 {
        let lines = raw.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let events = lines.map(|line| {
            serde_json::from_slice(line).unwrap_or_else(|_| json!({"$text": String::from_utf8_lossy(line)}))
        });
        let wanted =
            |event: &Value| event["type"] != "BOOKMARK" || event.to_string().contains("k8s.io/initial-events-end");
        let events: Vec<Value> = events.filter(wanted).collect();
        return if answer.closed { json!({"$watch": events, "$closed": true}) } else { json!({"$watch": events}) };
    }
    let kind = header("content-type");
    if raw.is_empty() {
        Value::Null
    } else if let Some(envelope) = raw.strip_prefix(b"k8s\0") {
        let mut found = json!({"$protobuf": protobuf_kind(envelope)});
        if let Some(content) = protobuf_content(raw) {
            found["content"] = content;
        }
        found
    } else if kind.contains("protobuf") || kind.contains("cbor") {
        json!({"$binary": true})
    } else {
        let json = kind.contains("json").then(|| serde_json::from_slice(raw).ok()).flatten();
        json.unwrap_or_else(|| json!({"$text": String::from_utf8_lossy(raw)}))
    }
}

/// Returns the object in an envelope as JSON, if its kind is known.
fn protobuf_content(raw: &[u8]) -> Option<Value> {
    let mut object = convert::decode(own::catalog(), raw, None).ok()?;
    serde_json::from_slice(&convert::encode(&mut object, ObjectEncoding::Json).ok()?).ok()
}

/// Returns `apiVersion kind` of an envelope, whose first field is a message of these two strings.
fn protobuf_kind(envelope: &[u8]) -> String {
    let string = |bytes: &[u8], tag: u8| -> Option<(String, usize)> {
        let length = usize::from(*bytes.get(1)?);
        let text = bytes.get(2..2 + length).filter(|_| bytes[0] == tag)?;
        Some((String::from_utf8_lossy(text).into_owned(), 2 + length))
    };
    let strings = || {
        let message = envelope.get(2..).filter(|_| envelope[0] == 0x0a)?;
        let (version, length) = string(message, 0x0a)?;
        Some(format!("{version} {}", string(&message[length..], 0x12)?.0).trim().to_string())
    };
    strings().unwrap_or_else(|| "?".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(content_type: &str, body: Vec<u8>) -> Answer {
        let headers = vec![("content-type".to_string(), content_type.to_string())];
        Answer { status: 200, headers, body, closed: true }
    }

    #[test]
    fn protobuf_is_compared_by_its_content() {
        let text = br#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"b":"c"}}"#;
        let mut object = convert::decode(own::catalog(), text, None).unwrap();
        let bytes = convert::encode(&mut object, ObjectEncoding::Protobuf).unwrap();
        let found = body(&answer("application/vnd.kubernetes.protobuf", bytes), false);
        assert_eq!(found["$protobuf"], "v1 ConfigMap");
        assert_eq!((&found["content"]["metadata"]["name"], &found["content"]["data"]["b"]), (&json!("a"), &json!("c")));
        let unknown = b"k8s\0\x0a\x09\x0a\x02a1\x12\x03Foo".to_vec();
        assert_eq!(body(&answer("", unknown), false), json!({"$protobuf": "a1 Foo"}));
    }
}
