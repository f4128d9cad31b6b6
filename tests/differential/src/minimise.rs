//! Reduces a conversation while it still shows the difference.

use serde_json::Value;

use crate::conversation::Conversation;

/// Maximum number of attempts.
const TRIES: usize = 150;

/// Tries smaller conversations with `shows`.
struct Minimiser<F> {
    best: Conversation,
    tries: usize,
    shows: F,
}

/// Returns the smallest conversation found for which `shows` holds; it holds for `talk`.
pub async fn minimise<F: AsyncFnMut(&Conversation) -> bool>(talk: &Conversation, shows: F) -> Conversation {
    let mut minimiser = Minimiser { best: talk.clone(), tries: TRIES, shows };
    minimiser.drop_steps().await;
    for at in 0..minimiser.best.steps.len() {
        minimiser.drop_query(at).await;
        minimiser.drop_headers(at).await;
        minimiser.shrink_body(at).await;
    }
    minimiser.drop_steps().await;
    minimiser.best
}

impl<F: AsyncFnMut(&Conversation) -> bool> Minimiser<F> {
    /// Keeps a change if the conversation still shows the difference.
    async fn attempt(&mut self, change: impl FnOnce(&mut Conversation)) -> bool {
        let mut smaller = self.best.clone();
        change(&mut smaller);
        if smaller == self.best || self.tries == 0 {
            return false;
        }
        self.tries -= 1;
        let shown = (self.shows)(&smaller).await;
        if shown {
            self.best = smaller;
        }
        shown
    }

    async fn drop_steps(&mut self) {
        let mut at = self.best.steps.len();
        while at > 0 {
            at -= 1;
            if self.best.steps.len() > 1 {
                self.attempt(|talk| drop(talk.steps.remove(at))).await;
            }
        }
    }

    async fn drop_query(&mut self, at: usize) {
        let count = self.best.steps[at].path.split_once('?').map_or(0, |(_, query)| query.split('&').count());
        for part in (0..count).rev() {
            self.attempt(|talk| {
                let path = &mut talk.steps[at].path;
                if let Some((start, query)) = path.clone().split_once('?') {
                    let kept: Vec<&str> = query
                        .split('&')
                        .enumerate()
                        .filter(|(index, _)| *index != part)
                        .map(|(_, part)| part)
                        .collect();
                    *path = if kept.is_empty() { start.into() } else { format!("{start}?{}", kept.join("&")) };
                }
            })
            .await;
        }
    }

    async fn drop_headers(&mut self, at: usize) {
        let names: Vec<String> = self.best.steps[at].headers.keys().cloned().collect();
        for name in names {
            self.attempt(|talk| drop(talk.steps[at].headers.remove(&name))).await;
        }
        self.attempt(|talk| talk.steps[at].user = None).await;
        self.attempt(|talk| talk.steps[at].pause = 0.0).await;
    }

    async fn shrink_body(&mut self, at: usize) {
        if self.attempt(|talk| talk.steps[at].body = None).await {
            return;
        }
        // Outer values first; a removed value takes its inner values with it.
        let mut pointers = self.best.steps[at].body.as_ref().map(pointers).unwrap_or_default();
        pointers.sort_by_key(|pointer| pointer.matches('/').count());
        let mut gone: Vec<String> = Vec::new();
        for pointer in pointers {
            if gone.iter().any(|outer| pointer.starts_with(outer.as_str())) {
                continue;
            }
            let removed = self
                .attempt(|talk| {
                    if let Some(body) = &mut talk.steps[at].body {
                        remove(body, &pointer);
                    }
                })
                .await;
            if removed {
                gone.push(pointer + "/");
            }
        }
    }
}

/// Returns JSON pointers of every field and, from the end, of every item.
pub fn pointers(value: &Value) -> Vec<String> {
    let mut pointers = Vec::new();
    collect(value, String::new(), &mut pointers);
    pointers
}

fn collect(value: &Value, path: String, into: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
                into.push(path.clone());
                collect(value, path, into);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate().rev() {
                let path = format!("{path}/{index}");
                into.push(path.clone());
                collect(item, path, into);
            }
        }
        _ => {}
    }
}

/// Removes the value at a JSON pointer.
pub fn remove(body: &mut Value, pointer: &str) {
    let Some((parent, last)) = pointer.rsplit_once('/') else { return };
    match body.pointer_mut(parent) {
        Some(Value::Object(fields)) => {
            fields.shift_remove(&last.replace("~1", "/").replace("~0", "~"));
        }
        Some(Value::Array(items)) => {
            if let Some(index) = last.parse().ok().filter(|index| *index < items.len()) {
                items.remove(index);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Step;
    use serde_json::json;

    #[tokio::test]
    async fn drops_irrelevant_parts() {
        let create = Step::new("create", "POST", "/pods?pretty=1&dryRun=All&fieldManager=m")
            .header("Accept", "application/yaml")
            .header("X", "y")
            .body(json!({"metadata": {"name": "a", "labels": {"b": "c"}}, "spec": {"list": [{"p": 1}, {"q": 2}]}}));
        let talk = Conversation {
            name: "t".into(),
            about: String::new(),
            area: "objects".into(),
            namespace: true,
            steps: vec![Step::new("before", "GET", "/"), create, Step::new("after", "GET", "/")],
            cleanup: Vec::new(),
        };
        let small = minimise(&talk, async |talk: &Conversation| {
            talk.steps.iter().any(|step| {
                let item = step.body.as_ref().is_some_and(|body| body["spec"]["list"].to_string().contains('q'));
                step.path.contains("dryRun") && step.headers.contains_key("X") && item
            })
        })
        .await;
        let want = Step::new("create", "POST", "/pods?dryRun=All")
            .header("X", "y")
            .body(json!({"spec": {"list": [{"q": 2}]}}));
        assert_eq!(small.steps, [want]);
    }
}
