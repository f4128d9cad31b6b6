//! When the change happened that a change of endpoints follows from, for the annotation with which
//! clients measure the delay (upstream: `TriggerTimeTracker`).

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use generated::core::v1::Service;
use machinery::scalar::Time;

use super::backend::Backend;
use super::projection::Key;

/// The annotation of endpoints and endpoint slices.
pub const ANNOTATION: &str = "endpoints.kubernetes.io/last-change-trigger-time";

/// The times of a service and its pods when it was last looked at.
struct Seen {
    service: Time,
    pods: BTreeMap<String, Time>,
}

/// Remembers the times of all services.
#[derive(Default)]
pub struct TriggerTimes(Mutex<HashMap<Key, Seen>>);

impl TriggerTimes {
    /// The earliest time that has changed since the last call for this service; `None` if none has.
    /// For a new service, its creation.
    pub fn next(&self, key: &Key, service: &Service, backends: &[(String, Arc<Backend>)]) -> Option<Time> {
        let created = service.metadata.creation_timestamp;
        let known = backends.iter().filter(|(_, backend)| backend.ready_since != Time::ZERO);
        let pods: BTreeMap<String, Time> = known.map(|(name, backend)| (name.clone(), backend.ready_since)).collect();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(before) = all.insert(key.clone(), Seen { service: created, pods: pods.clone() }) else {
            return Some(created);
        };
        let is_later = |name: &String, time: &Time| before.pods.get(name).is_none_or(|before| time > before);
        let changed = pods.into_iter().filter(|(name, time)| is_later(name, time)).map(|(_, time)| time);
        changed.chain((created > before.service).then_some(created)).min()
    }

    /// Forgets a service.
    pub fn forget(&self, key: &Key) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

/// Sets the annotation, or removes it without a time.
pub fn annotate(annotations: &mut BTreeMap<String, String>, time: Option<Time>) {
    match time {
        Some(time) => drop(annotations.insert(ANNOTATION.into(), time.to_string())),
        None => drop(annotations.remove(ANNOTATION)),
    }
}

#[cfg(test)]
mod tests {
    use generated::core::v1::{Pod, PodCondition};

    use super::*;

    #[test]
    fn the_earliest_change_since_the_last_call_counts() {
        let (times, key) = (TriggerTimes::default(), ("n".to_owned(), "s".to_owned()));
        let mut service = Service::default();
        service.metadata.creation_timestamp = Time::from_unix(100);
        let next = |pods: &[(&str, i64)]| {
            let backend = |since| {
                let mut pod = Pod::default();
                pod.status.conditions.push(PodCondition {
                    r#type: "Ready".into(),
                    last_transition_time: Time::from_unix(since),
                    ..PodCondition::default()
                });
                Arc::new(Backend::from(pod))
            };
            let pods: Vec<_> = pods.iter().map(|(name, since)| ((*name).to_owned(), backend(*since))).collect();
            times.next(&key, &service, &pods).map(Time::unix)
        };
        assert_eq!(next(&[("a", 50)]), Some(100));
        assert_eq!(next(&[("a", 50)]), None);
        assert_eq!(next(&[("a", 220), ("b", 210)]), Some(210));
        assert_eq!(next(&[("b", 210)]), None);
        assert_eq!(next(&[("a", 220), ("b", 209)]), Some(220));
        times.forget(&key);
        assert_eq!(next(&[]), Some(100));
    }
}
