//! Authorization of responses: every returned object is one that the user may read or write.
//!
//! Generated users with generated roles send generated requests: odd paths, repeated and malformed
//! query parameters, selectors, continue tokens of other lists, all verbs, patch types and
//! encodings. Every stored object contains a marker, so that its presence in a response is visible
//! in any encoding. `policy.rs` decides independently of the server whether the user may read or
//! change an object.
//!
//! `AUTHORIZATION_REQUESTS` sets the number of requests (default 20,000), `AUTHORIZATION_SEED` the
//! seed, and `ATTACK_PROGRAM` another program to test: a program with one of the findings A1 to A5
//! of the review of 2026-11-24 fails.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod check;
#[path = "../common/mod.rs"]
mod common;
mod generate;
mod policy;
mod world;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use check::Violation;
use generate::Generator;
use world::World;

/// The default seed; `AUTHORIZATION_SEED` overrides it. A CI run is reproducible.
const SEED: u64 = 20_261_124;
/// Number of connections that send requests concurrently.
const CONNECTIONS: u64 = 12;
/// Number of requests after which deleted objects are recreated.
const ROUND: u64 = 2_000;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

#[test]
fn every_object_in_an_answer_is_authorized() {
    let (requests, seed) = (number("AUTHORIZATION_REQUESTS", 20_000), number("AUTHORIZATION_SEED", SEED));
    println!("AUTHORIZATION_SEED={seed}, {requests} requests");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut world = World::start(seed, &runtime);
    let (mut violations, mut sent, mut codes) = (Vec::new(), 0, BTreeMap::new());
    while sent < requests {
        let count = ROUND.min(requests - sent);
        let round = runtime.block_on(send_round(&world, seed ^ (sent + 1), count));
        sent += count;
        violations.extend(round.violations);
        round.codes.into_iter().for_each(|(code, count)| *codes.entry(code).or_insert(0) += count);
        violations.extend(runtime.block_on(world.restore()));
    }
    let mut shapes: BTreeMap<&str, Vec<&Violation>> = BTreeMap::new();
    violations.iter().for_each(|violation| shapes.entry(violation.shape).or_default().push(violation));
    println!("{sent} requests, answers by status code: {codes:?}");
    for (shape, found) in &shapes {
        println!("{shape}: {} violations, the first: {}", found.len(), found[0].text);
    }
    assert!(codes.get(&200).is_some_and(|ok| *ok > sent / 50), "too few requests succeed to test anything: {codes:?}");
    assert!(violations.is_empty(), "{} answers show or change what their users may not", violations.len());
}

/// The results of a round of requests.
struct Round {
    violations: Vec<Violation>,
    codes: BTreeMap<u16, u64>,
}

async fn send_round(world: &World, seed: u64, count: u64) -> Round {
    let tokens = Arc::new(Mutex::new(Vec::new()));
    let connections = (0..CONNECTIONS).map(|connection| {
        let mut generator = Generator::new(seed.wrapping_mul(31).wrapping_add(connection), Arc::clone(&tokens));
        async move {
            let mut wire = common::wire::Connection::new(&world.server);
            let mut round = Round { violations: Vec::new(), codes: BTreeMap::new() };
            for _ in 0..count / CONNECTIONS + 1 {
                let request = generator.request(world);
                let answer = wire.send(request.wire()).await;
                *round.codes.entry(answer.code).or_insert(0) += 1;
                generator.learn(&answer);
                round.violations.extend(check::answer(world, &request, &answer));
            }
            round
        }
    });
    let rounds = futures_util::future::join_all(connections).await;
    let mut all = Round { violations: Vec::new(), codes: BTreeMap::new() };
    for round in rounds {
        all.violations.extend(round.violations);
        round.codes.into_iter().for_each(|(code, count)| *all.codes.entry(code).or_insert(0) += count);
    }
    all
}
