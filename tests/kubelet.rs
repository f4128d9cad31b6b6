//! Logs, exec, port-forward and proxy: kubectl against this server and a kubelet with the real
//! protocols (`tests/kubelet/`).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use common::kubectl::{Kubectl, assert_has};
use common::{Outcome, Server, go, own_address};
use needs::needs;
use tempfile::TempDir;

/// A server with the node `one`, whose kubelet runs the pods `web`, `broken` and `lost`.
struct Cluster {
    kubectl: Kubectl,
    kubelet: Child,
    /// An address of this machine other than loopback.
    ip: String,
    folder: TempDir,
}

impl Cluster {
    fn start() -> Cluster {
        let (program, ip) = (go::program("kubelet"), own_address());
        let folder = tempfile::tempdir().unwrap();
        let mut kubelet = Command::new(program).arg(folder.path()).stdout(Stdio::piped()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(kubelet.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let file = |flag: &str, name: &str| format!("--kubelet-{flag}={}", folder.path().join(name).display());
        let flags = [
            file("certificate-authority", "ca.crt"),
            file("client-certificate", "client.crt"),
            file("client-key", "client.key"),
        ];
        let server = Server::start_with(folder.path(), &flags.each_ref().map(String::as_str));
        let cluster = Cluster { kubectl: Kubectl(server), kubelet, ip, folder };
        cluster.create_objects(port.trim());
        cluster
    }

    fn create_objects(&self, port: &str) {
        let kubectl = &self.kubectl;
        kubectl.try_run(&["create", "serviceaccount", "default"], "");
        for (node, address) in [("one", self.ip.as_str()), ("loopback", "127.0.0.1")] {
            let node_yaml = format!("apiVersion: v1\nkind: Node\nmetadata: {{name: {node}}}\n");
            kubectl.run_with(&["create", "-f", "-"], &node_yaml);
            let status = format!(
                r#"{{"status":{{"addresses":[{{"type":"InternalIP","address":"{address}"}}],
                    "daemonEndpoints":{{"kubeletEndpoint":{{"Port":{port}}}}}}}}}"#
            );
            kubectl.run(&["patch", "node", node, "--subresource=status", "--type=merge", "-p", &status]);
        }
        for pod in ["web", "broken", "lost"] {
            let yaml = format!(
                "apiVersion: v1\nkind: Pod\nmetadata: {{name: {pod}, labels: {{app: {pod}}}}}\nspec:\n  nodeName: one\n  \
                 automountServiceAccountToken: false\n  containers: [{{name: main, image: 'nginx:1.27'}}]\n"
            );
            kubectl.run_with(&["create", "-f", "-"], &yaml);
            let status =
                format!(r#"{{"status":{{"phase":"Running","podIP":"{0}","podIPs":[{{"ip":"{0}"}}]}}}}"#, self.ip);
            kubectl.run(&["patch", "pod", pod, "--subresource=status", "--type=merge", "-p", &status]);
        }
    }

    fn run(&self, args: &[&str]) -> String {
        self.kubectl.run(args)
    }

    fn fails(&self, args: &[&str]) -> String {
        let outcome = self.kubectl.try_run(args, "");
        assert!(!outcome.ok, "{}", outcome.stdout);
        outcome.stderr
    }

    /// Runs kubectl with WebSockets and with SPDY.
    fn over_websocket_and_spdy(&self, args: &[&str], input: &str, check: impl Fn(Outcome)) {
        for sockets in ["true", "false"] {
            let mut command = self.kubectl.command(args);
            command.env("KUBECTL_REMOTE_COMMAND_WEBSOCKETS", sockets);
            command.env("KUBECTL_PORT_FORWARD_WEBSOCKETS", sockets);
            check(common::run(&mut command, input.as_bytes()));
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.kubelet.kill();
        let _ = self.kubelet.wait();
    }
}

#[needs(go, kubectl, network)]
#[test]
fn logs_are_shown_and_followed() {
    let cluster = Cluster::start();
    assert_eq!(cluster.run(&["logs", "web"]), "log of /containerLogs/default/web/main\n");
    let some = cluster.run(&["logs", "web", "-c", "main", "--tail=5", "--timestamps", "--since=1h"]);
    assert_has(&some, &["sinceSeconds=3600&tailLines=5&timestamps=true"]);
    let mut follow = cluster.kubectl.follow(&["logs", "-f", "web"]);
    assert_eq!(follow.line(), "log of /containerLogs/default/web/main?follow=true\n");
    for line in ["first", "second"] {
        cluster.run(&["get", "--raw", &format!("/api/v1/nodes/one/proxy/say/{line}")]);
        assert_eq!(follow.line(), format!("{line}\n"));
    }
    let check = |pod: &str, expect: &str| assert_has(&cluster.fails(&["logs", pod]), &[expect]);
    check("broken", "Internal error occurred: the disk is full");
    check("lost", "the server could not find the requested resource ( pods/log lost)");
}

#[needs(go, kubectl, network)]
#[test]
fn exec_and_attach_report_exit_status() {
    let cluster = Cluster::start();
    cluster.over_websocket_and_spdy(
        &["exec", "web", "--", "sh", "-c", "echo out; echo err >&2; exit 3"],
        "",
        |outcome| {
            assert_eq!((outcome.ok, outcome.stdout.as_str()), (false, "out\n"));
            assert_has(&outcome.stderr, &["err\n", "command terminated with exit code 3"]);
        },
    );
    // More bytes than all buffers on the way hold, followed by an end of input that has to be
    // forwarded.
    let much = "0123456789abcdef".repeat(1 << 17);
    cluster.over_websocket_and_spdy(&["exec", "-i", "web", "--", "cat"], &much, |outcome| {
        assert!(outcome.ok && outcome.stdout == much, "{} bytes, {}", outcome.stdout.len(), outcome.stderr);
    });
    cluster.over_websocket_and_spdy(&["exec", "web", "--", "no-such-command"], "", |outcome| {
        assert_has(&outcome.stderr, &["executable file not found"]);
    });
    cluster.over_websocket_and_spdy(&["attach", "-i", "web"], "hello\n", |outcome| {
        assert_eq!(outcome.stdout, "attached\nhello\n", "{}", outcome.stderr);
    });
    let metrics = cluster.run(&["get", "--raw", "/metrics"]);
    let routed = "apiserver_websocket_streaming_requests_total{proxy_type=\"translated_at_apiserver\",subresource=";
    let failed = "apiserver_stream_translator_requests_total{code=\"500\"} 1\n";
    assert_has(&metrics, &[&format!("{routed}\"exec\"}} 6\n"), &format!("{routed}\"attach\"}} 2\n"), failed]);
}

#[needs(go, kubectl, network, script)]
#[test]
fn terminal_has_the_client_size() {
    let cluster = Cluster::start();
    for sockets in ["true", "false"] {
        let kubeconfig = cluster.kubectl.0.kubeconfig();
        let line = "stty rows 33 cols 77; kubectl exec -it web -- echo done";
        let mut command = Command::new("script");
        command.args(["-qec", line, "/dev/null"]);
        command.env("KUBECONFIG", kubeconfig).env("KUBECTL_REMOTE_COMMAND_WEBSOCKETS", sockets);
        assert_has(&common::run(&mut command, b"").stdout, &["terminal of 77x33", "done"]);
    }
}

#[needs(go, kubectl, network)]
#[test]
fn files_are_copied() {
    let cluster = Cluster::start();
    let path = |name: &str| cluster.folder.path().join(name).display().to_string();
    fs::write(path("here"), "a file").unwrap();
    cluster.run(&["cp", &path("here"), &format!("web:{}", path("there"))]);
    assert_eq!(fs::read_to_string(path("there")).unwrap(), "a file");
    cluster.run(&["cp", &format!("web:{}", path("there")), &path("back")]);
    assert_eq!(fs::read_to_string(path("back")).unwrap(), "a file");
}

#[needs(go, kubectl, network)]
#[test]
fn ports_are_forwarded() {
    let cluster = Cluster::start();
    for sockets in ["true", "false"] {
        let mut command = cluster.kubectl.command(&["port-forward", "pod/web", ":8080"]);
        command.env("KUBECTL_PORT_FORWARD_WEBSOCKETS", sockets).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        // The pipe stays open: kubectl prints more, and exits when it is closed.
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let address = line.strip_prefix("Forwarding from ").unwrap().split(' ').next().unwrap().to_owned();
        for _ in 0..2 {
            let mut connection = TcpStream::connect(&address).unwrap();
            connection.write_all(b"ping").unwrap();
            let mut received = String::new();
            connection.read_to_string(&mut received).unwrap();
            assert_eq!(received, "ping at port 8080\n");
        }
        process.kill().unwrap();
        process.wait().unwrap();
    }
}

/// Starts an HTTP server for the pod `web`; returns its port.
fn backend() -> u16 {
    let listener = TcpListener::bind("0.0.0.0:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            answer(&mut stream.unwrap());
        }
    });
    port
}

fn answer(stream: &mut TcpStream) {
    let mut head = String::new();
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    while !head.ends_with("\r\n\r\n") && lines.read_line(&mut head).unwrap() > 0 {}
    let request = head.lines().next().unwrap_or_default();
    let uri = head.lines().find(|line| line.to_ascii_lowercase().starts_with("x-forwarded-uri")).unwrap_or_default();
    let (code, headers, body) = match request.split(' ').nth(1).unwrap_or_default() {
        "/page" => ("200 OK", "Content-Type: text/html\r\n", "<a href=\"/x\">x</a>".to_owned()),
        "/moved" => ("302 Found", "Location: /elsewhere\r\n", String::new()),
        _ => ("200 OK", "Access-Control-Allow-Origin: *\r\n", format!("{request}, {uri}")),
    };
    let length = body.len();
    let text = format!("HTTP/1.1 {code}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    let _ = stream.write_all(text.as_bytes());
}

#[needs(go, kubectl, network)]
#[test]
fn pods_services_and_nodes_are_proxied() {
    let cluster = Cluster::start();
    let port = backend();
    let objects = format!(
        "apiVersion: v1\nkind: Service\nmetadata: {{name: front}}\nspec: {{ports: [{{name: http, port: 80}}]}}\n---\n\
         apiVersion: v1\nkind: Endpoints\nmetadata: {{name: front}}\nsubsets:\n- addresses: [{{ip: {}, targetRef: {{kind: Pod, \
         namespace: default, name: web}}}}]\n  ports: [{{name: http, port: {port}}}]\n",
        cluster.ip
    );
    cluster.kubectl.run_with(&["create", "-f", "-"], &objects);
    let get = |path: &str| cluster.run(&["get", "--raw", &format!("/api/v1/{path}")]);
    let pod = format!("namespaces/default/pods/web:{port}/proxy");
    let echoed = format!("GET /a%20b?q=1 HTTP/1.1, x-forwarded-uri: /api/v1/{pod}/a%20b");
    assert_eq!(get(&format!("{pod}/a%20b?q=1")), echoed);
    for service in ["front:80", "front:http", "http:front:http"] {
        assert_has(&get(&format!("namespaces/default/services/{service}/proxy/a")), &["GET /a HTTP/1.1"]);
    }
    assert_eq!(get("nodes/one/proxy/pods?x=y"), "GET /pods?x=y\n");
    let refused = cluster.fails(&["get", "--raw", "/api/v1/nodes/loopback/proxy/pods"]);
    assert_has(&refused, &["address not allowed"]);
    let missing = cluster.fails(&["get", "--raw", "/api/v1/namespaces/default/services/front:81/proxy/"]);
    assert_has(&missing, &["no service port 81 found for service \"front\""]);

    let mut proxy = cluster.kubectl.follow(&["proxy", "--port=0"]);
    let line = proxy.line();
    let front = line.trim().rsplit(' ').next().unwrap();
    let get = |path: &str| {
        let mut stream = TcpStream::connect(front).unwrap();
        write!(stream, "GET /api/v1/{path} HTTP/1.1\r\nHost: {front}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    assert_has(&get(&format!("{pod}/page")), &[&format!("<a href=\"/api/v1/{pod}/x\">x</a>")]);
    assert_has(&get(&format!("{pod}/moved")), &["302 Found", &format!("Location: /api/v1/{pod}/elsewhere")]);
    let echoed = get(&format!("{pod}/echo"));
    assert!(!echoed.to_ascii_lowercase().contains("access-control-allow-origin"), "{echoed}");
    assert_has(&get(&pod), &["301 Moved Permanently", &format!("Location: /api/v1/{pod}/")]);
}
