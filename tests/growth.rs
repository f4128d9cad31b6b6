//! The detector of quadratic work: each list and map of each served kind at n, 2n and 4n elements, through each way of writing an object.
//!
//! What counts is the processor time and the peak memory of the server's process. A step that doubles the elements and takes more than
//! 2.5 times as much fails. Fields of one declared type are tried once, in the first kind that has the type; `GROWTH=all` tries each
//! kind's fields, and every way of writing for each of them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;
#[path = "growth/cost.rs"]
mod cost;
#[path = "growth/fields.rs"]
mod fields;
#[path = "growth/write.rs"]
mod write;

use cost::{Cost, Meter};
use fields::{Elements, Place};
use write::{Method, Writer};

/// Processor time from which a request counts, in milliseconds.
const FLOOR: u64 = 80;

/// Peak memory from which a request counts, in bytes.
const MEMORY_FLOOR: u64 = 96 << 20;

/// How much more twice as many elements may take.
const MOST: f64 = 2.5;

/// Bodies are not made larger than this, in bytes; the server takes 3 MiB.
const LARGEST: usize = 2_900_000;

/// The most elements that are tried.
const MOST_ELEMENTS: usize = 1 << 18;

#[tokio::test]
#[ignore = "takes minutes and wants the machine for itself: cargo test --test growth -- --ignored --nocapture"]
async fn no_field_costs_more_than_in_proportion_to_its_elements() {
    let all = std::env::var("GROWTH").is_ok_and(|value| value == "all");
    let writer = Writer::start().await;
    let meter = Meter::of(writer.process_id());
    let mut failures = Vec::new();
    let mut tried = 0;
    for place in fields::places(all) {
        for method in writer.methods(&place, all).await {
            for &elements in place.variants() {
                tried += 1;
                let begin = std::time::Instant::now();
                let failure = try_place(&writer, &meter, &place, method, elements).await;
                if std::env::var("GROWTH_LOG").is_ok() {
                    eprintln!("{:6} ms {method:?} {place} {elements:?}", begin.elapsed().as_millis());
                }
                if let Some(failure) = failure {
                    eprintln!("{failure}");
                    failures.push(failure);
                }
            }
        }
    }
    assert!(tried > 500, "only {tried} combinations of fields and methods were tried");
    assert!(failures.is_empty(), "{} of {tried} grow too fast:\n{}", failures.len(), failures.join("\n"));
}

/// Tries one field with more and more elements; what grows too fast, if anything does.
async fn try_place(
    writer: &Writer,
    meter: &Meter,
    place: &Place,
    method: Method,
    elements: Elements,
) -> Option<String> {
    let request = |count: usize| writer.request(place, method, elements, count);
    let mut count = 256;
    let mut last = measure(writer, meter, &request(count)).await?;
    while last.milliseconds < FLOOR && last.memory < MEMORY_FLOOR {
        count *= if last.milliseconds * 8 < FLOOR { 4 } else { 2 };
        let body = request(count);
        if count > MOST_ELEMENTS || body.size() > LARGEST / 2 {
            return None;
        }
        last = measure(writer, meter, &body).await?;
    }
    let double = request(2 * count);
    if double.size() > LARGEST {
        return None;
    }
    let next = measure(writer, meter, &double).await?;
    if !grows(last, next) {
        return None;
    }
    // Something else may have run at the same time: the least of several runs counts.
    for _ in 0..3 {
        last = last.least(measure(writer, meter, &request(count)).await?);
    }
    let mut next = next;
    for _ in 0..3 {
        next = next.least(measure(writer, meter, &double).await?);
    }
    let quadruple = request(4 * count);
    let confirmed = match quadruple.size() <= LARGEST {
        true => grows(next, measure(writer, meter, &quadruple).await?),
        false => true,
    };
    (grows(last, next) && confirmed)
        .then(|| format!("{method:?} {place} {elements:?}: {count} elements {last:?}, twice as many {next:?}"))
}

fn grows(one: Cost, other: Cost) -> bool {
    let more = |one: u64, other: u64, floor: u64| other > floor && other as f64 > MOST * one.max(floor / 8) as f64;
    more(one.milliseconds, other.milliseconds, FLOOR) || more(one.memory, other.memory, MEMORY_FLOOR)
}

/// What a request costs; nothing when the resource is not there.
async fn measure(writer: &Writer, meter: &Meter, request: &write::Request) -> Option<Cost> {
    let begin = meter.begin();
    let code = writer.send(request).await;
    let cost = meter.cost_since(begin);
    (code != 404 && code != 405).then_some(cost)
}
