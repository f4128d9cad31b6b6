//! Measures fields with increasing numbers of elements, and checks the growth.

use std::collections::HashMap;

use crate::cost::{Cost, Meter};
use crate::fields::{Many, Place};
use crate::plan::{Group, Trial};
use crate::target::{Method, SetUp, Target};
use crate::write::{Request, Stored, Writer};

/// Processor time in microseconds below which a request is never too expensive.
const TIME_FLOOR: u64 = 30_000;

/// Peak memory in bytes below which a request is never too expensive.
const MEMORY_FLOOR: u64 = 64 << 20;

/// Maximum cost factor when the number of elements doubles.
const MAX_STEP: f64 = 2.5;

/// Two steps with at most this total factor are not checked separately.
const MAX_TWO_STEPS: f64 = 5.0;

/// Maximum size of a body in bytes; the server accepts 3 MiB.
const LARGEST_BODY: usize = 2_900_000;

/// The number of elements of the first measurement of each field.
const FEW: usize = 1600;

/// The number of elements that requests above the floor are compared with.
const FEWER: usize = 400;

/// The number of elements for new fields with low cost.
const MANY: usize = 6400;

/// Processor time in microseconds of a request that is expensive enough to show its growth.
const EXPENSIVE: u64 = 20_000;

/// Processor time in microseconds above which an excessive step is not measured again: more runs
/// would take minutes.
const MAX_TIME_TO_REPEAT: u64 = 3_000_000;

/// Number of runs of each count in a repeated measurement. Each round adds to the previous rounds.
const RUNS: [usize; 2] = [3, 4];

/// Counts of the measurements with a server.
#[derive(Default)]
pub struct Totals {
    pub combinations: usize,
    pub requests: usize,
    pub accepted: usize,
    /// Combinations that were measured again.
    pub repeated: usize,
    /// The largest step of those that were measured again and passed.
    pub largest: f64,
    pub milliseconds: usize,
}

/// A server and its counts.
pub struct Measurer {
    writer: Writer,
    meter: Meter,
    totals: Totals,
    logs: bool,
}

impl Measurer {
    pub async fn start() -> Measurer {
        let writer = Writer::start().await;
        let meter = Meter::of(writer.process_id());
        Measurer { writer, meter, totals: Totals::default(), logs: std::env::var("GROWTH_LOG").is_ok() }
    }

    pub fn finish(mut self) -> Totals {
        self.totals.milliseconds = self.meter.begin().microseconds() as usize / 1000;
        self.totals
    }

    /// Measures the fields of a group; returns descriptions of those that grow too fast.
    pub async fn try_group(&mut self, group: &Group) -> Vec<String> {
        let mut small = match self.writer.store_small(&group.target, 0).await {
            Ok(small) => small,
            Err(refusal) => return vec![refusal],
        };
        let mut failures = Vec::new();
        for trial in &group.trials {
            self.writer.refresh(&group.target, &mut small).await;
            failures.extend(self.try_field(&small, trial).await);
        }
        failures
    }

    async fn try_field(&mut self, small: &Stored, trial: &Trial) -> Vec<String> {
        let methods = &trial.methods;
        self.totals.combinations += methods.len();
        let few = self.measure(small, trial, FEW, methods).await;
        let costly = methods.iter().copied().filter(|method| few.get(method).is_some_and(Cost::is_above_floor));
        let costly: Vec<Method> = costly.collect();
        let (count, less, more) = if !costly.is_empty() {
            (FEWER, self.measure(small, trial, FEWER, &trial.with_first(&costly)).await, few)
        } else if trial.is_new && few.values().all(|cost| cost.microseconds <= EXPENSIVE) {
            let many = self.measure(small, trial, MANY, methods).await;
            (FEW, few, many)
        } else {
            return Vec::new();
        };
        let mut failures = Vec::new();
        for method in methods {
            let (Some(less), Some(more)) = (less.get(method), more.get(method)) else { continue };
            if grows(*less, *more, MAX_TWO_STEPS) {
                failures.extend(self.confirm(small, trial, count, *method).await);
            }
        }
        failures
    }

    /// Measures all steps again, each as the minimum of several runs: other work of the server adds
    /// to a single run.
    ///
    /// Steps that are too large are measured once more with twice as many elements.
    async fn confirm(&mut self, small: &Stored, trial: &Trial, count: usize, method: Method) -> Option<String> {
        self.totals.repeated += 1;
        let mut shown = Vec::new();
        for (times, count) in [count, 2 * count].into_iter().enumerate() {
            let counts = [count, 2 * count, 4 * count];
            let mut costs = [Cost::MOST; 3];
            for runs in RUNS {
                for _ in 0..runs {
                    for (cost, count) in costs.iter_mut().zip(counts) {
                        let measured = self.measure(small, trial, count, &trial.with_first(&[method])).await;
                        *cost = cost.least(measured.get(&method).copied().unwrap_or(*cost));
                    }
                    if costs[2].microseconds > MAX_TIME_TO_REPEAT {
                        break;
                    }
                }
                // Work with a bound stops growing: with twice as many elements only the last step
                // counts.
                let step = largest_step(&costs[times..]);
                if step <= MAX_STEP {
                    self.totals.largest = self.totals.largest.max(step);
                    return None;
                }
            }
            shown.extend(counts.iter().zip(costs).map(|(count, cost)| format!("{count}: {cost}")));
            if costs[2].microseconds > MAX_TIME_TO_REPEAT {
                break;
            }
        }
        Some(format!("{method:?} {} {:?}: {}", trial.place, trial.elements, shown.join(", ")))
    }

    /// Returns the cost of each method for this count, except where the body is too large.
    ///
    /// The first method may store the object that the others change.
    async fn measure(
        &mut self,
        small: &Stored,
        trial: &Trial,
        count: usize,
        methods: &[Method],
    ) -> HashMap<Method, Cost> {
        let Trial { place, elements, .. } = trial;
        let target = &*place.target;
        let many = Many { elements: *elements, first: 0, count };
        // Half of the elements exist already.
        let changed = Many { first: count / 2, ..many };
        let mut costs = HashMap::new();
        let mut stored: Option<Stored> = None;
        for (index, &method) in methods.iter().enumerate() {
            let is_set_up = index == 0 && matches!(target.set_up, SetUp::Stored | SetUp::Written);
            let cost = if is_set_up {
                let (cost, made) = self.set_up(place, many, method).await;
                stored = made;
                cost
            } else {
                let old = stored.as_ref().unwrap_or(small);
                let request = match method {
                    Method::Create | Method::CreateYaml | Method::CreateProtobuf | Method::CreateCbor => {
                        let serial = self.writer.next_serial();
                        self.writer.create_request(place, serial, method, many)
                    }
                    Method::Table => self.writer.table_request(target, old),
                    _ => self.writer.change_request(place, old, method, changed, true),
                };
                self.cost_of(place, method, many, &request).await.map(|(cost, _)| cost)
            };
            costs.extend(cost.map(|cost| (method, cost)));
        }
        if let Some(stored) = stored {
            self.writer.delete(target, &stored).await;
        }
        costs
    }

    /// Stores an object with many elements, as far as the server accepts it.
    async fn set_up(&mut self, place: &Place, many: Many, method: Method) -> (Option<Cost>, Option<Stored>) {
        let target: &Target = &place.target;
        let serial = self.writer.next_serial();
        if method == Method::Create {
            let request = self.writer.create_request(place, serial, method, many);
            let Some((cost, version)) = self.cost_of(place, method, many, &request).await else { return (None, None) };
            return (Some(cost), version.map(|version| Stored { serial, version, is_many: true }));
        }
        let Ok(mut stored) = self.writer.store_small(target, serial).await else { return (None, None) };
        let is_dry = target.set_up != SetUp::Written;
        let request = self.writer.change_request(place, &stored, method, many, is_dry);
        let written = self.cost_of(place, method, many, &request).await;
        if let Some((_, Some(version))) = &written
            && !is_dry
        {
            stored.version.clone_from(version);
            stored.is_many = true;
        }
        (written.map(|(cost, _)| cost), Some(stored))
    }

    /// Returns the cost of a request, and the version of the object when the server accepted it.
    async fn cost_of(
        &mut self,
        place: &Place,
        method: Method,
        many: Many,
        request: &Request,
    ) -> Option<(Cost, Option<String>)> {
        if request.size() > LARGEST_BODY {
            return None;
        }
        let begin = self.meter.begin();
        let answer = self.writer.send(request).await;
        let cost = self.meter.cost_since(&begin);
        let is_accepted = answer.code < 300;
        self.totals.requests += 1;
        self.totals.accepted += usize::from(is_accepted);
        if self.logs {
            let reason = if is_accepted { "" } else { answer.text.as_str() };
            eprintln!("{cost} {} {method:?} {place} {:?} {} {reason}", answer.code, many.elements, many.count);
        }
        Some((cost, is_accepted.then_some(answer.version)))
    }
}

/// Returns the largest step of consecutive costs; 0 when all of them are below the floor.
fn largest_step(costs: &[Cost]) -> f64 {
    let step = |less: u64, more: u64, floor: u64| match more > floor {
        true => more as f64 / less.max(floor / 8) as f64,
        false => 0.0,
    };
    let of = |pair: &[Cost]| {
        let time = step(pair[0].microseconds, pair[1].microseconds, TIME_FLOOR);
        time.max(step(pair[0].memory, pair[1].memory, MEMORY_FLOOR))
    };
    costs.windows(2).map(of).fold(0.0, f64::max)
}

impl Cost {
    fn is_above_floor(&self) -> bool {
        self.microseconds > TIME_FLOOR || self.memory > MEMORY_FLOOR
    }
}

/// Reports whether `more` is above the floor and more than `factor` times `less`.
fn grows(less: Cost, more: Cost, factor: f64) -> bool {
    let is_more = |less: u64, more: u64, floor: u64| more > floor && more as f64 > factor * less.max(floor / 8) as f64;
    is_more(less.microseconds, more.microseconds, TIME_FLOOR) || is_more(less.memory, more.memory, MEMORY_FLOOR)
}
