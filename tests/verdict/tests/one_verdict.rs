//! A declared kind and the definition that is exported from it give one verdict.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::path::Path;

use verdict::kinds::Kinds;
use verdict::run::{Local, Plan, Report, remotes, run};
use verdict::side::{Served, Side};

const PLAN: Plan = Plan { seed: 1, objects: 1500, differences: 3 };

fn is_one(report: &Report) {
    println!("{}", report.figures());
    assert!(report.counts.is_empty(), "{}{}", report.differences(), report.figures());
    assert!(report.accepted * 4 > report.refused && report.refused * 4 > report.accepted, "{}", report.figures());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn declared_kinds_and_exported_definitions_agree() {
    let kinds = Kinds::read().unwrap();
    let native = Local::start(Served::Natively, &kinds);
    let custom = Local::start(Served::ByDefinition, &kinds);
    let (native, custom) = tokio::try_join!(native, custom).unwrap();
    is_one(&run(&kinds, [&native.side, &custom.side], PLAN).await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "asks upstream's server, whose kubeconfig VERDICT_UPSTREAM names"]
async fn exported_definitions_mean_the_same_upstream() {
    let kinds = Kinds::read().unwrap();
    let custom = Local::start(Served::ByDefinition, &kinds).await.unwrap();
    let kubeconfig = std::env::var_os("VERDICT_UPSTREAM").expect("VERDICT_UPSTREAM");
    let remotes = remotes(Path::new(&kubeconfig)).unwrap();
    let upstream = Side { name: "upstream", served: Served::ByDefinition, remotes, store: None };
    upstream.install(&kinds).await.unwrap();
    upstream.wait_for(&kinds).await.unwrap();
    is_one(&run(&kinds, [&custom.side, &upstream], PLAN).await.unwrap());
}
