//! Detects quadratic work: lists and maps of each served kind at n, 2n and 4n elements, through
//! each way of writing an object.
//!
//! The test compares the processor time and the peak memory of the server's process. It measures
//! 1600 elements first, and 400 or 6400 elements to compare them with. A request whose cost grows
//! more than fivefold is measured again at n, 2n and 4n, in several runs and then with twice as
//! many elements. The test fails when a step that doubles the elements takes more than 2.5 times as
//! much in all of them. Processor time, and the least of several runs, depend little on other
//! processes.
//!
//! `GROWTH=all` writes each field of each kind in every way. `GROWTH_ONLY=word,word` tries the
//! fields whose names contain one of the words. `GROWTH_LOG=1` prints every measurement.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;
#[path = "growth/cost.rs"]
mod cost;
#[path = "growth/custom.rs"]
mod custom;
#[path = "growth/elements.rs"]
mod elements;
#[path = "growth/fields.rs"]
mod fields;
#[path = "growth/measure.rs"]
mod measure;
#[path = "growth/plan.rs"]
mod plan;
#[path = "growth/samples.rs"]
mod samples;
#[path = "growth/target.rs"]
mod target;
#[path = "growth/write.rs"]
mod write;

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use measure::{Measurer, Totals};
use plan::Group;

#[test]
fn writes_cost_linear_time_in_list_and_map_size() {
    let begin = Instant::now();
    let (mut groups, fields) = plan::groups(std::env::var("GROWTH").is_ok_and(|value| value == "all"));
    if let Ok(words) = std::env::var("GROWTH_ONLY") {
        let is_selected = |name: String| words.split(',').any(|word| name.contains(word));
        groups.iter_mut().for_each(|group| group.trials.retain(|trial| is_selected(trial.place.to_string())));
        groups.retain(|group| !group.trials.is_empty());
    }
    let kinds = groups.iter().map(|group| group.target.to_string()).collect::<HashSet<_>>().len();
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let servers = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 4);
    let totals = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..servers).map(|_| scope.spawn(|| work(&groups, &next, &failures))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect::<Vec<_>>()
    });
    let sum = |of: fn(&Totals) -> usize| totals.iter().map(of).sum::<usize>();
    let tried = sum(|totals| totals.combinations);
    eprintln!(
        "{kinds} resources and subresources, {fields} fields, {tried} combinations, {} requests ({} accepted), \
         {} measured again, largest step {:.2}, {} s, {} s of the servers",
        sum(|totals| totals.requests),
        sum(|totals| totals.accepted),
        sum(|totals| totals.repeated),
        totals.iter().map(|totals| totals.largest).fold(0.0, f64::max),
        begin.elapsed().as_secs(),
        sum(|totals| totals.milliseconds) / 1000,
    );
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} of {tried} grow too fast:\n{}", failures.len(), failures.join("\n"));
}

/// Measures groups on a separate server until none is left.
fn work(groups: &[Group], next: &AtomicUsize, failures: &Mutex<Vec<String>>) -> Totals {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut measurer = Measurer::start().await;
        while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
            let found = measurer.try_group(group).await;
            found.iter().for_each(|failure| eprintln!("{failure}"));
            failures.lock().unwrap().extend(found);
        }
        measurer.finish()
    })
}
