//! Profiles of the running program.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "common/client.rs"]
mod client;
mod common;

use std::io::Read;

use common::Server;
use flate2::read::GzDecoder;
use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use prost::Message;

/// The used part of `perftools.profiles.Profile`. Texts are indexes into the string table.
#[derive(Clone, PartialEq, prost::Message)]
struct Profile {
    #[prost(message, repeated, tag = "2")]
    samples: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    locations: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    functions: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    texts: Vec<String>,
    #[prost(int64, tag = "10")]
    nanoseconds: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Sample {
    #[prost(uint64, repeated, tag = "1")]
    locations: Vec<u64>,
    #[prost(message, repeated, tag = "3")]
    labels: Vec<Label>,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
struct Label {
    #[prost(int64, tag = "2")]
    text: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(message, repeated, tag = "4")]
    lines: Vec<Line>,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function: u64,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "4")]
    file: i64,
}

impl Profile {
    fn text(&self, position: i64) -> &str {
        &self.texts[usize::try_from(position).unwrap()]
    }

    /// Returns the thread of a sample, and the functions of its stack with their files.
    fn stack(&self, sample: &Sample) -> (&str, Vec<[&str; 2]>) {
        let locations = sample.locations.iter().map(|id| self.locations.iter().find(|l| l.id == *id).unwrap());
        let functions =
            locations.flat_map(|l| &l.lines).map(|l| self.functions.iter().find(|f| f.id == l.function).unwrap());
        (self.text(sample.labels[0].text), functions.map(|f| [f.name, f.file].map(|text| self.text(text))).collect())
    }
}

async fn get(client: &Client, path: &str) -> Response<Body> {
    client.send(Request::get(path).body(Body::empty()).unwrap()).await.unwrap()
}

#[tokio::test]
async fn profile_covers_all_threads() {
    let server = Server::start();
    let client = client::connect(&server).await;
    let load = async {
        loop {
            get(&client, "/api/v1/namespaces").await.into_body().collect_bytes().await.unwrap();
        }
    };
    let response = tokio::select! {
        response = get(&client, "/debug/pprof/profile?seconds=2") => response,
        () = load => unreachable!("the load loop does not end"),
    };
    let header = |name| response.headers().get(name).unwrap().to_str().unwrap().to_owned();
    assert_eq!(
        (
            response.status().as_u16(),
            header("content-type"),
            header("content-disposition"),
            header("x-content-type-options")
        ),
        (200, "application/octet-stream".into(), "attachment; filename=\"profile\"".into(), "nosniff".into())
    );
    let (compressed, mut bytes) = (response.into_body().collect_bytes().await.unwrap(), Vec::new());
    GzDecoder::new(&*compressed).read_to_end(&mut bytes).unwrap();
    let profile = Profile::decode(&*bytes).unwrap();
    assert!(profile.nanoseconds >= 2_000_000_000, "{}", profile.nanoseconds);
    let stacks: Vec<_> = profile.samples.iter().map(|sample| profile.stack(sample)).collect();
    // The main thread waits for the threads of the runtime, which handle the requests.
    let answers = |[name, file]: &[&str; 2]| file.contains("/serving/src/filters/") && !name.is_empty();
    let found = stacks.iter().any(|(thread, functions)| thread.starts_with("tokio-") && functions.iter().any(answers));
    assert!(found, "{stacks:#?}");
}
