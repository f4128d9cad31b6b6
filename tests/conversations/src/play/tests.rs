use std::sync::Mutex;

use super::*;
use tokio::sync::mpsc::unbounded_channel;

/// A server with prepared answers. It keeps the requests.
#[derive(Default)]
struct Prepared {
    answers: Mutex<Vec<(u16, Headers, String)>>,
    requests: Mutex<Vec<Outgoing>>,
}

impl Prepared {
    fn new(answers: &[(u16, Value)]) -> Self {
        let kind = vec![("content-type".to_string(), "application/json".to_string())];
        let answers = answers.iter().map(|(status, body)| (*status, kind.clone(), body.to_string()));
        Prepared { answers: Mutex::new(answers.rev().collect()), ..Prepared::default() }
    }

    fn with_header(self, name: &str, value: &str) -> Self {
        let header = (name.to_string(), value.to_string());
        self.answers.lock().unwrap().iter_mut().for_each(|(_, headers, _)| headers.push(header.clone()));
        self
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().iter().map(|request| format!("{} {}", request.method, request.path)).collect()
    }
}

impl Server for Prepared {
    async fn send(&self, request: &Outgoing, stream: bool) -> Result<Answer> {
        self.requests.lock().unwrap().push(request.clone());
        let (status, headers, body) = self.answers.lock().unwrap().pop().unwrap_or((404, Vec::new(), String::new()));
        let content = if stream && status == 200 {
            let (into, out) = unbounded_channel();
            // The receiver exists.
            let _ = into.send(format!("{body}\n").into_bytes());
            Content::Stream(out)
        } else {
            Content::Whole(body.into_bytes())
        };
        Ok(Answer { status, headers, content })
    }
}

fn scenario(mut fields: Value, steps: Value) -> Scenario {
    fields["name"] = "n".into();
    fields["area"] = "a".into();
    fields["steps"] = steps;
    serde_json::from_value(fields).unwrap()
}

fn get(id: &str, path: &str) -> Value {
    json!({"id": id, "request": {"method": "GET", "path": path}})
}

fn with(mut step: Value, more: Value) -> Value {
    step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    step
}

/// The differences of a single step.
async fn differences(answer: (u16, Value), more: Value) -> Vec<String> {
    let scenario = scenario(json!({}), json!([with(get("s", "/x"), more)]));
    play(&Prepared::new(&[answer]), &scenario).await.remove(0).differences
}

#[tokio::test]
async fn a_step_matches_its_recorded_answer_or_differs() {
    let response = json!({"status": 200, "contentType": "application/json", "body": {"a": 1}});
    assert_eq!(differences((200, json!({"a": 1})), json!({"response": response})).await, [""; 0]);
    assert_eq!(differences((200, json!({"a": 2})), json!({"response": response})).await, ["body.a: want 1, got 2"]);
    assert_eq!(differences((200, json!({"b": 1})), json!({"response": response, "ignore": ["a", "b"]})).await, [""; 0]);
}

#[tokio::test]
async fn parts_of_an_answer_are_compared() {
    let body = json!({"items": [{"n": 2, "m": 1}, {"n": 1}], "kind": "K"});
    let full = |body: Value| json!({"status": 200, "contentType": "application/json", "body": body});
    let only =
        json!({"only": ["items.*.n"], "sort": ["items"], "response": full(json!({"items": [{"n": 1}, {"n": 2}]}))});
    assert_eq!(differences((200, body.clone()), only).await, [""; 0]);
    let shape = full(json!({"items": [{"n": "number", "m": "number"}], "kind": "str"}));
    assert_eq!(differences((200, body.clone()), json!({"compare": "shape", "response": shape})).await, [""; 0]);
    let status = json!({"compare": "status", "response": {"status": 200}});
    assert_eq!(differences((200, body.clone()), status.clone()).await, [""; 0]);
    assert_eq!(differences((404, body), status).await, ["status: want 200, got 404"]);
}

#[tokio::test]
async fn headers_and_warnings_are_compared() {
    let server = |status| {
        Prepared::new(&[(status, json!({}))])
            .with_header("warning", "299 - \"w\"")
            .with_header("etag", "e")
            .with_header("location", "/l")
    };
    let step = with(
        get("s", "/x"),
        json!({"headers": ["ETag", "x-none"], "response": {"status": 200,
        "contentType": "application/json", "body": {}, "warning": ["299 - \"w\""],
        "headers": {"etag": "e", "x-none": null, "location": "/l"}}}),
    );
    let wanted = scenario(json!({}), json!([step]));
    assert_eq!(play(&server(200), &wanted).await[0].differences, [""; 0]);
    let other = Prepared::new(&[(200, json!({}))]).with_header("x-none", "there");
    let found = play(&other, &wanted).await.remove(0).differences;
    let want = [
        "warning: want [\"299 - \\\"w\\\"\"], got null",
        "headers.etag: want \"e\", got null",
        "headers.x-none: want null, got \"there\"",
        "headers.location: missing, want \"/l\"",
    ];
    assert_eq!(found, want);
}

#[tokio::test]
async fn later_requests_use_earlier_answers() {
    let steps =
        json!([get("one", "/x"), get("two", "/x/${one.body.metadata.uid}/${rand}"), get("three", "/${one.body.none}")]);
    let server = Prepared::new(&[(200, json!({"metadata": {"uid": "u"}}))]);
    let played = play(&server, &scenario(json!({"cleanup": ["/c/${rand}", "/c/${four.body}"]}), steps)).await;
    let requests = server.requests();
    assert!(requests[1].starts_with("GET /x/u/r"), "{requests:?}");
    assert!(requests[2].starts_with("DELETE /c/r") && requests.len() == 3, "{requests:?}");
    let want = "the request refers to something that an earlier answer lacks: one.body.none";
    assert_eq!(played[2].differences, [want]);
}

#[tokio::test]
async fn a_namespace_is_made_and_deleted() {
    let fields = json!({"namespace": true, "namespaceLabels": {"l": "${rand}"}});
    let server = Prepared::new(&[(201, json!({})), (201, json!({})), (200, json!({"a": "b"}))]);
    play(&server, &scenario(fields.clone(), json!([get("s", "/${ns}")]))).await;
    let requests = server.requests();
    assert_eq!(requests[0], "POST /api/v1/namespaces");
    assert!(requests[1].starts_with("POST /api/v1/namespaces/t-") && requests[1].ends_with("/serviceaccounts"));
    assert!(requests[2].starts_with("GET /t-") && requests[3].starts_with("DELETE /api/v1/namespaces/t-"));
    let sent: Value = serde_json::from_slice(server.requests.lock().unwrap()[0].body.as_ref().unwrap()).unwrap();
    assert!(sent["metadata"]["labels"]["l"].as_str().unwrap().starts_with('r'));

    let refusing = Prepared::new(&[(403, json!({}))]);
    let played = play(&refusing, &scenario(fields, json!([get("s", "/")]))).await;
    assert_eq!(played[0].differences, ["no namespace: /api/v1/namespaces: status 403"]);
    assert_eq!(refusing.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn requests_are_repeated_until_a_condition_holds() {
    let until = json!({"repeat_until": {"status": 200, "where": {"body.a": 1, "body.gone": null}}, "response":
        {"status": 200, "contentType": "application/json", "body": {"a": 1}}});
    let answers = [(404, json!({})), (200, json!({"a": 2})), (200, json!({"a": 1, "gone": 1})), (200, json!({"a": 1}))];
    let server = Prepared::new(&answers);
    let played = play(&server, &scenario(json!({}), json!([with(get("s", "/"), until)]))).await;
    assert_eq!((played[0].differences.len(), server.requests().len()), (0, 4));
}

#[tokio::test(start_paused = true)]
async fn streams_are_read_in_the_background_and_joined() {
    let begin = json!({"watch": {"events": 1, "seconds": 1}, "background": true, "response":
        {"status": 200, "contentType": "application/json", "body": null}});
    let joined = |event: &str| {
        json!({"id": "j", "join": "w", "only": ["$watch.*.type"],
        "response": {"body": {"$watch": [{"type": event}]}}})
    };
    for (event, differing) in [("ADDED", 0), ("DELETED", 1)] {
        let server = Prepared::new(&[(200, json!({"type": "ADDED", "object": {}}))]);
        let steps = json!([with(get("w", "/watch"), begin.clone()), get("other", "/"), joined(event)]);
        let played = play(&server, &scenario(json!({}), steps)).await;
        assert_eq!(played[0].differences, [""; 0]);
        assert_eq!(played[2].differences.len(), differing, "{played:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn events_are_counted_for_recordings() {
    let server = Prepared::new(&[(200, json!({"type": "ADDED"}))]);
    let played = play(&server, &scenario(json!({}), json!([with(get("w", "/watch"), json!({"watch": {}}))]))).await;
    assert_eq!(played[0].events, Some(1));
}
