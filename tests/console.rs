//! The console and swagger-ui in the whole program: files, sign-in, sessions, the flag `--ui`.
//! `tests/console/` tests the pages in a browser.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::PROGRAM;
use http::{HeaderMap, Method, StatusCode};
use reqwest::{Certificate, Client, Response};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A server whose standard error is read up to the link of its console.
struct Program {
    process: Child,
    folder: TempDir,
    url: String,
    /// The code of the link; empty without one.
    code: String,
    client: Client,
}

impl Program {
    fn start(flags: &[&str]) -> Program {
        let folder = tempfile::tempdir().unwrap();
        let mut process = Command::new(PROGRAM)
            .args(["--secure-port=0", "--bind-address=127.0.0.1"])
            .arg(format!("--data-dir={}", folder.path().display()))
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut stderr = BufReader::new(process.stderr.take().unwrap());
        let (mut url, mut code) = (String::new(), String::new());
        while url.is_empty() || (code.is_empty() && !flags.contains(&"--ui=false")) {
            let mut line = String::new();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "the server ended");
            if let Some((_, rest)) = line.split_once("Serving the Kubernetes API on ") {
                url = rest.split(". ").next().unwrap().to_owned();
            }
            if let Some((_, rest)) = line.split_once("#code=") {
                code = rest.split_whitespace().next().unwrap().to_owned();
            }
        }
        // An unread pipe would fill and block the server.
        std::thread::spawn(move || stderr.read_to_end(&mut Vec::new()));
        let authority = std::fs::read(folder.path().join("pki/ca.crt")).unwrap();
        let client = Client::builder().add_root_certificate(Certificate::from_pem(&authority).unwrap());
        let client = client.redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Program { process, folder, url, code, client }
    }

    async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        self.send(Method::GET, path, headers, None).await
    }

    async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: Option<Value>) -> Response {
        let mut request = self.client.request(method, format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        request.send().await.unwrap()
    }

    async fn sign_in(&self, credential: Value) -> Result<Session, StatusCode> {
        let response = self.send(Method::POST, "/ui/session", &[("x-console-key", "new")], Some(credential)).await;
        if response.status() != 200 {
            return Err(response.status());
        }
        let cookie = response.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
        let answer: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
        Ok(Session { cookie, key: answer["key"].as_str().unwrap().to_owned() })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Both halves of a session.
struct Session {
    cookie: String,
    key: String,
}

impl Session {
    fn headers(&self) -> [(&str, &str); 2] {
        [("cookie", &self.cookie), ("x-console-key", &self.key)]
    }

    /// The user name of the session (SelfSubjectReview), or the code of the refusal.
    async fn user(&self, program: &Program) -> Result<String, StatusCode> {
        let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
        let path = "/ui/server/apis/authentication.k8s.io/v1/selfsubjectreviews";
        let response = program.send(Method::POST, path, &self.headers(), Some(review)).await;
        if response.status() != 201 {
            return Err(response.status());
        }
        let review: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
        Ok(review["status"]["userInfo"]["username"].as_str().unwrap().to_owned())
    }
}

fn text(headers: &HeaderMap, name: &str) -> String {
    headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
}

#[tokio::test]
async fn files_need_no_authentication_and_restrict_browsers() {
    let program = Program::start(&["--anonymous-auth=false"]);
    for path in ["/ui/", "/ui/app.js", "/swagger-ui/", "/swagger-ui/swagger-ui-bundle.js"] {
        let response = program.get(path, &[("accept-encoding", "gzip")]).await;
        assert_eq!(response.status(), 200, "{path}");
        let headers = response.headers();
        assert_eq!(text(headers, "content-encoding"), "gzip");
        assert_eq!(text(headers, "x-content-type-options"), "nosniff");
        assert_eq!(text(headers, "referrer-policy"), "no-referrer");
        let policy = text(headers, "content-security-policy");
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{policy}");
        let tag = text(headers, "etag");
        let again = program.get(path, &[("accept-encoding", "gzip"), ("if-none-match", &tag)]).await;
        assert_eq!((again.status().as_u16(), again.bytes().await.unwrap().len()), (304, 0), "{path}");
    }
    assert_eq!(text(program.get("/ui", &[]).await.headers(), "location"), "/ui/");
    assert_eq!(program.get("/ui/unknown", &[]).await.status(), 404);
    for path in ["/api", "/ui/server/api", "/openapi/v2", "/metrics"] {
        let code = program.get(path, &[]).await.status().as_u16();
        assert!(matches!(code, 401 | 403), "{path}: {code}");
    }
}

#[tokio::test]
async fn link_signs_administrator_in_once() {
    let program = Program::start(&[]);
    assert_eq!(program.sign_in(json!({"code": "wrong"})).await.err(), Some(StatusCode::UNAUTHORIZED));
    let session = program.sign_in(json!({"code": program.code})).await.unwrap();
    assert_eq!(session.user(&program).await.unwrap(), "kubernetes-admin");
    let again = program.sign_in(json!({"code": program.code})).await.err();
    assert_eq!(again, Some(StatusCode::UNAUTHORIZED), "a used code");
    let left = program.send(Method::DELETE, "/ui/session", &session.headers(), None).await;
    assert!(text(left.headers(), "set-cookie").contains("Max-Age=0"));
    assert_eq!(session.user(&program).await.err(), Some(StatusCode::UNAUTHORIZED));
}

#[tokio::test]
async fn requests_of_other_pages_are_refused() {
    let program = Program::start(&[]);
    let session = program.sign_in(json!({"code": program.code})).await.unwrap();
    let [cookie, key] = session.headers();
    let pods = "/ui/server/api/v1/pods";
    assert_eq!(program.get(pods, &[cookie, key]).await.status(), 200);
    assert_eq!(program.get(pods, &[cookie]).await.status(), 403, "as a link or a form");
    assert_eq!(program.get(pods, &[key]).await.status(), 401, "without the cookie");
    for site in ["cross-site", "same-site"] {
        assert_eq!(program.get(pods, &[cookie, key, ("sec-fetch-site", site)]).await.status(), 403, "{site}");
    }
    let foreign = ("origin", "https://127.0.0.1:1");
    assert_eq!(program.get(pods, &[cookie, key, foreign]).await.status(), 403);
    // The cookie counts below /ui/server only. Anonymous users may not list pods.
    assert_eq!(program.get("/api/v1/pods", &[cookie, key]).await.status(), 403);
}

#[tokio::test]
async fn token_of_service_account_signs_in_with_its_rights() {
    let program = Program::start(&[]);
    let admin = program.sign_in(json!({"code": program.code})).await.unwrap();
    let accounts = "/ui/server/api/v1/namespaces/default/serviceaccounts";
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "reader"}});
    program.send(Method::POST, accounts, &admin.headers(), Some(account)).await;
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let path = format!("{accounts}/reader/token");
    let issued = program.send(Method::POST, &path, &admin.headers(), Some(request)).await.text().await.unwrap();
    let issued: Value = serde_json::from_str(&issued).unwrap();
    let session = program.sign_in(json!({"token": issued["status"]["token"]})).await.unwrap();
    assert_eq!(session.user(&program).await.unwrap(), "system:serviceaccount:default:reader");
    assert_eq!(program.get("/ui/server/api/v1/secrets", &session.headers()).await.status(), 403);
    // The token is authenticated for each request, so the session ends with the account. Successes
    // count for ten seconds.
    let path = format!("{accounts}/reader");
    assert_eq!(program.send(Method::DELETE, &path, &admin.headers(), None).await.status(), 200);
    let begin = Instant::now();
    while session.user(&program).await.is_ok() {
        assert!(begin.elapsed() < Duration::from_secs(30), "the session outlives its account");
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
}

#[tokio::test]
async fn failed_sign_ins_are_limited() {
    let program = Program::start(&[]);
    let mut codes = Vec::new();
    for n in 0..12 {
        codes.push(program.sign_in(json!({"code": n.to_string()})).await.err().map(|code| code.as_u16()));
    }
    assert_eq!(codes[..10], [Some(401); 10]);
    assert_eq!(codes[10..], [Some(429); 2]);
}

#[tokio::test]
async fn without_ui_its_paths_are_not_found() {
    let program = Program::start(&["--ui=false"]);
    assert!(program.code.is_empty());
    let identity = admin_client(&program);
    for path in ["/ui/", "/ui/session", "/ui/server/api", "/swagger-ui/"] {
        assert_eq!(identity.get(format!("{}{path}", program.url)).send().await.unwrap().status(), 404, "{path}");
    }
}

/// A client with the administrator's certificate.
fn admin_client(program: &Program) -> Client {
    let pki = program.folder.path().join("pki");
    let read = |name: &str| std::fs::read(pki.join(name)).unwrap();
    let identity = [read("admin.crt"), read("admin.key")].concat();
    Client::builder()
        .add_root_certificate(Certificate::from_pem(&read("ca.crt")).unwrap())
        .identity(reqwest::Identity::from_pem(&identity).unwrap())
        .build()
        .unwrap()
}

#[tokio::test]
async fn paths_lead_out_of_no_folder() {
    let program = Program::start(&[]);
    let port = program.url.rsplit(':').next().unwrap().to_owned();
    for path in [
        "/ui/../etc/passwd",
        "/ui/%2e%2e/%2e%2e/etc/passwd",
        "/ui/..%2f..%2fetc/passwd",
        "/ui//etc/passwd",
        "/ui/app.js%00",
    ] {
        // Clients normalize paths, so openssl sends these as they are.
        let mut openssl = Command::new("openssl")
            .args(["s_client", "-quiet", "-connect", &format!("127.0.0.1:{port}")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        openssl.stdin.as_mut().unwrap().write_all(request.as_bytes()).unwrap();
        let answer = String::from_utf8_lossy(&openssl.wait_with_output().unwrap().stdout).into_owned();
        let line = answer.lines().next().unwrap_or_default();
        assert!(["400", "403", "404"].iter().any(|code| line.contains(code)), "{path}: {line}");
        assert!(!answer.contains("root:"), "{path}");
    }
}
