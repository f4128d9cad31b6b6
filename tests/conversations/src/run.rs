//! Plays many scenarios on one server.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::task::JoinSet;

use crate::play::{Played, Server, play};
use crate::scenario::Scenario;

/// What became of a scenario.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The area of the scenario.
    pub area: String,
    /// Its name within the area.
    pub name: String,
    /// How long it took.
    pub seconds: f64,
    /// Its steps.
    pub steps: Vec<Played>,
}

impl Outcome {
    /// Whether every step matches.
    pub fn matches(&self) -> bool {
        self.steps.iter().all(|step| step.differences.is_empty())
    }
}

/// Plays scenarios, `jobs` at a time, after those that others would disturb, one at a time.
///
/// The outcomes have the order of the scenarios.
pub async fn replay<S: Server + Send + 'static>(
    server: &Arc<S>,
    scenarios: &[Arc<Scenario>],
    jobs: usize,
) -> Vec<Outcome> {
    let indexed = scenarios.iter().cloned().enumerate();
    let (alone, together): (VecDeque<_>, VecDeque<_>) = indexed.partition(|(_, scenario)| is_alone(scenario));
    let mut outcomes = play_all(server, alone, 1).await;
    outcomes.extend(play_all(server, together, jobs.max(1)).await);
    outcomes.sort_by_key(|(at, _)| *at);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

type Queue = VecDeque<(usize, Arc<Scenario>)>;

async fn play_all<S: Server + Send + 'static>(server: &Arc<S>, queue: Queue, jobs: usize) -> Vec<(usize, Outcome)> {
    let queue = Arc::new(Mutex::new(queue));
    let mut workers = JoinSet::new();
    for _ in 0..jobs {
        let (server, queue) = (server.clone(), queue.clone());
        workers.spawn(async move {
            let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let mut outcomes = Vec::new();
            while let Some((at, scenario)) = next() {
                let begin = Instant::now();
                let steps = play(&*server, &scenario).await;
                let seconds = begin.elapsed().as_secs_f64();
                let (area, name) = (scenario.area.clone(), scenario.name.clone());
                outcomes.push((at, Outcome { area, name, seconds, steps }));
            }
            outcomes
        });
    }
    workers.join_all().await.into_iter().flatten().collect()
}

/// Areas whose answers depend on what the whole cluster has: groups, documents and APIServices, or roles of one user.
const ALONE_AREAS: [&str; 3] = ["aggregation", "authz", "discovery"];

/// Further such scenarios: of the service `kubernetes`, which one of them deletes.
const ALONE: [(&str, &str); 2] = [("services", "kubernetes-service"), ("services", "kubernetes-service-comes-back")];

/// Whether other scenarios at the same time change what this one is answered, or this one what they are.
pub fn is_alone(scenario: &Scenario) -> bool {
    let is = |(area, name): &(&str, &str)| scenario.area == *area && scenario.name == *name;
    ALONE_AREAS.contains(&scenario.area.as_str()) || ALONE.iter().any(is)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use serde_json::json;

    use super::*;
    use crate::error::Result;
    use crate::play::{Answer, Content};
    use crate::request::Outgoing;

    /// A server that counts the requests that it has at a time.
    #[derive(Default)]
    struct Counting {
        now: AtomicUsize,
        most: AtomicUsize,
        most_alone: AtomicUsize,
    }

    impl Server for Counting {
        async fn send(&self, request: &Outgoing, _: bool) -> Result<Answer> {
            let now = self.now.fetch_add(1, SeqCst) + 1;
            self.most.fetch_max(now, SeqCst);
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            if request.path == "/discovery" {
                self.most_alone.fetch_max(self.now.load(SeqCst), SeqCst);
            }
            self.now.fetch_sub(1, SeqCst);
            Ok(Answer { status: 200, headers: Vec::new(), content: Content::Whole(Vec::new()) })
        }
    }

    #[tokio::test(start_paused = true)]
    async fn some_scenarios_are_played_alone_and_outcomes_keep_their_order() {
        let scenario = |at: usize| {
            let area = if at.is_multiple_of(3) { "discovery" } else { "list" };
            let step = json!({"id": "s", "request": {"method": "GET", "path": format!("/{area}")}});
            Arc::new(serde_json::from_value(json!({"name": at.to_string(), "area": area, "steps": [step]})).unwrap())
        };
        let server = Arc::new(Counting::default());
        let outcomes = replay(&server, &(0..20).map(scenario).collect::<Vec<_>>(), 4).await;
        let names: Vec<usize> = outcomes.iter().map(|outcome| outcome.name.parse().unwrap()).collect();
        assert_eq!(names, (0..20).collect::<Vec<_>>());
        assert_eq!((server.most.load(SeqCst), server.most_alone.load(SeqCst)), (4, 1));
        assert!(outcomes.iter().all(Outcome::matches));
    }
}
