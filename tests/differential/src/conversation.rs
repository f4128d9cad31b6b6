//! Conversations: requests in order, and what a server answers, in the form of the scenarios of
//! `tests/conformance`.

use serde_json::{Map, Value, json};

use crate::error::{Error, Result};

/// Headers of answers that replays of scenarios always compare; a step names the others.
const KEPT: [&str; 4] = ["location", "retry-after", "www-authenticate", "allow"];

/// Several requests that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversation {
    pub name: String,
    pub about: String,
    pub area: String,
    /// Whether it has a namespace of its own, `${ns}`.
    pub namespace: bool,
    pub steps: Vec<Step>,
    /// Paths that are deleted at the end.
    pub cleanup: Vec<String>,
}

/// One request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    pub id: String,
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Beside or instead of the usual ones; null: not sent.
    pub headers: Map<String, Value>,
    /// JSON, `{"$text": ..}` or `{"$base64": ..}`.
    pub body: Option<Value>,
    /// Another user than the administrator; "" sends no token.
    pub user: Option<String>,
    /// How the stream of a watch is read: `{"events": N, "seconds": S}`.
    pub watch: Option<Value>,
    /// Seconds to wait before.
    pub pause: f64,
    /// The status to wait for, since some changes take effect later.
    pub until: Option<u16>,
    /// What upstream's server answers.
    pub response: Option<Value>,
}

impl Step {
    pub fn new(id: impl Into<String>, method: &str, path: impl Into<String>) -> Self {
        Step { id: id.into(), method: method.into(), path: path.into(), ..Step::default() }
    }

    pub fn body(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }

    pub fn header(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    fn to_json(&self) -> Value {
        let mut request = json!({"method": self.method, "path": self.path});
        if !self.headers.is_empty() {
            request["headers"] = Value::Object(self.headers.clone());
        }
        if let Some(body) = &self.body {
            request["body"] = body.clone();
        }
        let mut step = json!({"id": self.id, "request": request});
        if let Some(user) = &self.user {
            step["as"] = json!(user);
        }
        if let Some(watch) = &self.watch {
            step["watch"] = watch.clone();
        }
        if self.pause > 0.0 {
            step["pause"] = json!(self.pause);
        }
        if let Some(status) = self.until {
            step["repeat_until"] = json!({"status": status, "seconds": 10});
        }
        if let Some(response) = &self.response {
            let names = response["headers"].as_object().into_iter().flat_map(Map::keys);
            let others: Vec<&String> = names.filter(|name| !KEPT.contains(&name.as_str())).collect();
            if !others.is_empty() {
                step["headers"] = json!(others);
            }
            step["response"] = response.clone();
        }
        step
    }

    fn from_json(step: &Value) -> Option<Self> {
        let request = step["request"].as_object()?;
        let user = step.get("as").and_then(Value::as_str).map(str::to_string);
        Some(Step {
            id: step["id"].as_str()?.into(),
            method: request.get("method")?.as_str()?.into(),
            path: request.get("path")?.as_str()?.into(),
            headers: request.get("headers").and_then(Value::as_object).cloned().unwrap_or_default(),
            body: request.get("body").cloned(),
            user,
            watch: step.get("watch").cloned(),
            pause: step["pause"].as_f64().unwrap_or(0.0),
            until: step["repeat_until"]["status"].as_u64().and_then(|status| status.try_into().ok()),
            response: step.get("response").cloned(),
        })
    }
}

impl Conversation {
    /// The text of its file: a line for each step.
    pub fn to_text(&self) -> String {
        let mut head = json!({"name": self.name, "about": self.about, "area": self.area, "namespace": self.namespace});
        if !self.cleanup.is_empty() {
            head["cleanup"] = json!(self.cleanup);
        }
        let head = head.to_string();
        let steps: Vec<String> = self.steps.iter().map(|step| step.to_json().to_string()).collect();
        format!("{},\n\"steps\": [\n{}\n]}}\n", head.trim_end_matches('}'), steps.join(",\n"))
    }

    /// Reads a file. Options that this program does not write are not known to it.
    pub fn from_text(text: &str) -> Result<Self> {
        let file: Value = serde_json::from_str(text)?;
        let word = |name: &str| file[name].as_str().unwrap_or_default().to_string();
        let wrong = || Error::Other(format!("the conversation {} has a step without id, method or path", file["name"]));
        let steps = file["steps"].as_array().into_iter().flatten();
        let steps = steps.map(|step| Step::from_json(step).ok_or_else(wrong)).collect::<Result<_>>()?;
        let cleanup = file["cleanup"].as_array().into_iter().flatten();
        Ok(Conversation {
            name: word("name"),
            about: word("about"),
            area: word("area"),
            namespace: file["namespace"].as_bool().unwrap_or(false),
            steps,
            cleanup: cleanup.filter_map(|path| Some(path.as_str()?.to_string())).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let mut step = Step::new("create", "POST", "/api/v1/namespaces/${ns}/configmaps?dryRun=All");
        step = step.body(json!({"kind": "ConfigMap"})).header("Accept", Value::Null);
        step.response = Some(json!({"status": 201}));
        step.pause = 0.5;
        step.until = Some(200);
        let talk = Conversation {
            name: "a".into(),
            about: "b".into(),
            area: "objects".into(),
            namespace: true,
            steps: vec![step],
            cleanup: vec!["/api/v1/nodes/${rand}".into()],
        };
        assert_eq!(Conversation::from_text(&talk.to_text()).unwrap(), talk);
    }
}
