//! Attacks on a running server: one test for each row of `docs/security.md` and each finding of a
//! security review.
//!
//! A module holds one class of attacks. Every test states the attacker's rights, attacks, and
//! checks the responses and that the server is alive. Where relevant, it checks the latency of
//! other users and the server's memory. `ATTACK_PROGRAM` selects another program to attack, such as
//! an older build that must fail.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod admission;
mod audit;
mod backend;
mod backends;
mod bodies;
mod cancellation;
#[path = "../common/mod.rs"]
mod common;
mod connections;
mod credentials;
mod definitions;
mod equivalent_versions;
#[path = "../../server/storage/tests/etcd_server/mod.rs"]
mod etcd_server;
mod files;
mod hardening;
mod identity;
mod isolation;
mod namespaces;
mod nodes;
mod numbers;
mod poison;
mod published;
mod rapid_reset;
mod routes;
mod selectors;
mod store_faults;
mod support;
mod tls;
mod tokens;
mod work;
