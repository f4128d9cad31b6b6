use http::header::SET_COOKIE;
use request::testing::{request, seen};
use request::{Body, BoxFuture};
use serde_json::{Value, json};

use super::*;

/// Accepts one token.
struct Tokens;

impl VerifyToken for Tokens {
    fn verify<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Option<User>> {
        Box::pin(async move { (token == "alicetoken").then(|| User::new("alice", ["dev"])) })
    }
}

/// A session as a browser has it.
struct Browser {
    cookie: String,
    key: String,
}

fn console() -> Console {
    Console::new(6443)
}

async fn post(console: &Console, body: Value, headers: &[(&'static str, &str)]) -> Response {
    let mut request = request("POST", SESSION);
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    *request.body_mut() = Body::full(body.to_string());
    console.answer(request, &Tokens).await
}

async fn sign_in(console: &Console, credential: Value) -> Result<Browser, u16> {
    let response = post(console, credential, &[("x-console-key", "new")]).await;
    let cookie = response.headers().get(SET_COOKIE).map(|value| value.to_str().unwrap().to_owned());
    let (code, text) = seen(response).await;
    let Some(cookie) = cookie else { return Err(code) };
    let answer: Value = serde_json::from_str(&text).unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    Ok(Browser { cookie, key: answer["key"].as_str().unwrap().to_owned() })
}

fn to_server(path: &str, cookie: &str, key: &str) -> Request {
    let mut request = request("GET", &format!("/ui/server{path}"));
    request.headers_mut().insert("cookie", cookie.parse().unwrap());
    request.headers_mut().insert("x-console-key", key.parse().unwrap());
    request.headers_mut().insert("authorization", "Bearer of-another-user".parse().unwrap());
    request
}

#[tokio::test]
async fn session_becomes_token_of_request() {
    let console = console();
    let browser = sign_in(&console, json!({"token": "alicetoken"})).await.unwrap();
    let cookies = format!("other=x; {}", browser.cookie);
    let mut request = to_server("/api/v1/pods?watch=1&labelSelector=a%3Db", &cookies, &browser.key);
    assert!(console.enter(&mut request).is_ok());
    assert_eq!(request.uri(), "/api/v1/pods?watch=1&labelSelector=a%3Db");
    assert_eq!(request.headers()["authorization"], "Bearer alicetoken");
    assert_eq!((request.headers().get("cookie"), request.headers().get("x-console-key")), (None, None));
}

#[tokio::test]
async fn request_without_both_halves_is_unauthorized() {
    let console = console();
    let browser = sign_in(&console, json!({"token": "alicetoken"})).await.unwrap();
    let enter = |cookie: &str, key: &str| console.enter(&mut to_server("/api", cookie, key)).unwrap_err().status();
    assert_eq!(enter(&browser.cookie, "wrong"), 401);
    assert_eq!(enter(&browser.cookie, ""), 403);
    assert_eq!(enter("__Secure-console-6443=wrong", &browser.key), 401);
    assert_eq!(enter(&browser.cookie.replace("6443", "6444"), &browser.key), 401);
    let mut foreign = to_server("/api", &browser.cookie, &browser.key);
    foreign.headers_mut().insert("sec-fetch-site", "same-site".parse().unwrap());
    assert_eq!(console.enter(&mut foreign).unwrap_err().status(), 403);
}

#[tokio::test]
async fn cookie_is_not_for_scripts_and_other_paths() {
    let response = post(&console(), json!({"token": "alicetoken"}), &[("x-console-key", "new")]).await;
    let cookie = response.headers()[SET_COOKIE].to_str().unwrap().to_owned();
    for attribute in ["__Secure-console-6443=", "; Path=/ui/", "; Secure", "; HttpOnly", "; SameSite=Strict"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    assert_eq!(response.headers()["cache-control"], "no-store");
    assert!(!seen(response).await.1.contains("alicetoken"));
}

#[tokio::test]
async fn code_of_link_signs_in_once() {
    let console = console();
    let code = console.issue_code(User::new("admin", ["system:masters"]));
    assert_eq!(sign_in(&console, json!({"code": "wrong"})).await.err(), Some(401));
    let browser = sign_in(&console, json!({"code": code})).await.unwrap();
    assert_eq!(sign_in(&console, json!({"code": code})).await.err(), Some(401));
    let mut request = to_server("/api", &browser.cookie, &browser.key);
    assert!(console.enter(&mut request).is_ok());
    let token = request.headers()["authorization"].to_str().unwrap().strip_prefix("Bearer ").unwrap().to_owned();
    assert_eq!(console.user_of(&token).unwrap().name, "admin");
    let mut leave = to_server("", &browser.cookie, &browser.key);
    *leave.method_mut() = http::Method::DELETE;
    assert_eq!(console.sign_out(&leave).status(), 200);
    assert_eq!(console.user_of(&token), None);
    assert_eq!(console.enter(&mut to_server("/api", &browser.cookie, &browser.key)).unwrap_err().status(), 401);
}

#[tokio::test]
async fn pages_of_other_origins_cannot_sign_in() {
    let console = console();
    let token = json!({"token": "alicetoken"});
    assert_eq!(post(&console, token.clone(), &[]).await.status(), 403);
    let foreign = [("x-console-key", "new"), ("sec-fetch-site", "cross-site")];
    assert_eq!(post(&console, token.clone(), &foreign).await.status(), 403);
    assert_eq!(post(&console, json!({"other": 1}), &[("x-console-key", "new")]).await.status(), 400);
    let large = json!({"token": "x".repeat(MAX_BODY)});
    assert_eq!(post(&console, large, &[("x-console-key", "new")]).await.status(), 400);
    assert_eq!(console.answer(request("GET", SESSION), &Tokens).await.status(), 405);
}

#[tokio::test(start_paused = true)]
async fn failed_sign_ins_are_limited() {
    let console = console();
    for _ in 0..10 {
        assert_eq!(sign_in(&console, json!({"token": "wrong"})).await.err(), Some(401));
    }
    assert_eq!(sign_in(&console, json!({"token": "alicetoken"})).await.err(), Some(429));
    let limited = post(&console, json!({"code": "x"}), &[("x-console-key", "new")]).await;
    assert_eq!(limited.headers()["retry-after"], "60");
    tokio::time::advance(WINDOW).await;
    assert!(sign_in(&console, json!({"token": "alicetoken"})).await.is_ok());
}

#[tokio::test]
async fn all_answers_restrict_browsers() {
    let console = console();
    for path in ["/ui/", "/swagger-ui/", "/ui/session", "/ui/unknown"] {
        let response = console.answer(request("GET", path), &Tokens).await;
        let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy.contains("script-src 'self';") && policy.contains("frame-ancestors 'none'"), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
        for (name, value) in [("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer")] {
            assert_eq!(response.headers()[name], value, "{path}");
        }
    }
    let refused = console.enter(&mut to_server("/api", "", "x")).unwrap_err();
    assert_eq!(refused.headers()["x-content-type-options"], "nosniff");
}

#[test]
fn only_own_paths_are_served() {
    for (path, own) in [
        ("/ui", true),
        ("/ui/", true),
        ("/ui/x/y", true),
        ("/swagger-ui/", true),
        ("/uix", false),
        ("/api", false),
        ("/", false),
    ] {
        assert_eq!(Console::serves(path), own, "{path}");
    }
    for (path, own) in [("/ui/server/api", true), ("/ui/server", false), ("/ui/serverx", false), ("/ui/", false)] {
        assert_eq!(Console::is_request_to_server(path), own, "{path}");
    }
}
