//! Priority and fairness of a server: the current configuration, and the admission of requests.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Deref;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use prometheus::Registry;
use tokio::time::Instant;

use crate::config::{CATCH_ALL, EXEMPT, FlowSchema, PriorityLevel, mandatory_levels, mandatory_schemas};
use crate::digest::Digest;
use crate::flow::Flow;
use crate::lending;
use crate::level::{MonotonicClock, PriorityLevelState};
use crate::list_sizes::ListSizes;
use crate::matching::Matcher;
use crate::metrics::Metrics;
use crate::watches::{CountedWatch, Watches};

/// How often levels lend each other seats (upstream: `borrowingAdjustmentPeriod`).
const ADJUSTMENT_PERIOD: Duration = Duration::from_secs(10);

/// Priority and fairness of a server. Clones share the state.
#[derive(Clone)]
pub struct FlowControl(pub(crate) Arc<Shared>);

pub(crate) struct Shared {
    /// The seats of the server.
    seats: u32,
    /// The longest time for which a request may hold its seats.
    max_duration: Duration,
    config: RwLock<Arc<Config>>,
    levels: RwLock<Arc<Levels>>,
    metrics: Metrics,
    began: Instant,
    began_at: SystemTime,
    hasher: RandomState,
    pub watches: Watches,
    pub list_sizes: OnceLock<Box<dyn ListSizes>>,
}

/// A configuration. A request keeps the configuration by which it was classified.
#[derive(Default)]
pub(crate) struct Config {
    matcher: Matcher,
    /// Schemas in order of precedence, each with its level.
    flows: Vec<Classified>,
    /// The index of the schema of requests that no schema matches.
    fallback: usize,
}

/// Levels by name: those of the configuration, and removed ones that still have requests.
pub(crate) type Levels = BTreeMap<String, Arc<PriorityLevelState>>;

/// A schema and its level.
pub struct Classified {
    pub(crate) flow: Arc<Flow>,
    pub(crate) level: Arc<PriorityLevelState>,
    pub is_exempt: bool,
    /// The most seats that a request may take.
    pub(crate) widest_request: Option<u32>,
}

/// The schema and level of a request.
#[derive(Clone)]
pub struct Classification {
    config: Arc<Config>,
    index: usize,
}

impl Deref for Classification {
    type Target = Classified;

    fn deref(&self) -> &Classified {
        &self.config.flows[self.index]
    }
}

impl Classified {
    /// The name of the schema.
    pub fn schema(&self) -> &str {
        &self.flow.schema
    }

    /// The name of the level.
    pub fn level(&self) -> &str {
        &self.level.name
    }

    /// The uids of schema and level, for response headers. Names would reveal the client's
    /// priority.
    pub fn uids(&self) -> [&bytes::Bytes; 2] {
        [&self.flow.schema_uid, &self.flow.level_uid]
    }
}

impl FlowControl {
    /// Creates the flow control of a server with `seats` seats and the mandatory configuration.
    ///
    /// No request may hold its seats for longer than `max_duration`.
    pub fn new(seats: u32, max_duration: Duration, registry: &Registry) -> Self {
        let control = FlowControl(Arc::new(Shared {
            seats,
            max_duration,
            config: RwLock::default(),
            levels: RwLock::default(),
            metrics: Metrics::new(registry),
            began: Instant::now(),
            began_at: SystemTime::now(),
            hasher: RandomState::new(),
            watches: Watches::default(),
            list_sizes: OnceLock::new(),
        }));
        control.configure(Vec::new(), Vec::new());
        control
    }

    /// Replaces the configuration. Mandatory objects that are missing are added; schemas without a
    /// level are left out.
    ///
    /// Calls must not overlap.
    pub fn configure(&self, mut schemas: Vec<FlowSchema>, mut levels: Vec<PriorityLevel>) {
        for level in mandatory_levels() {
            if levels.iter().all(|other| other.name != level.name) {
                levels.push(level);
            }
        }
        schemas.retain(|schema| levels.iter().any(|level| level.name == schema.level));
        schemas.sort_by(|a, b| (a.precedence, &a.name).cmp(&(b.precedence, &b.name)));
        let [exempt, catch_all] = mandatory_schemas();
        if schemas.iter().all(|schema| schema.name != EXEMPT) {
            schemas.insert(0, exempt);
        }
        if schemas.iter().all(|schema| schema.name != CATCH_ALL) {
            schemas.push(catch_all);
        }
        let uids: BTreeMap<&str, bytes::Bytes> = levels
            .iter()
            .map(|level| (level.name.as_str(), bytes::Bytes::copy_from_slice(level.uid.as_bytes())))
            .collect();
        let by_name = self.update_levels(&levels);
        let metrics = &self.0.metrics;
        let flows = schemas.iter().filter_map(|schema| {
            let level = by_name.get(&schema.level)?;
            let uid = uids.get(schema.level.as_str())?;
            let flow = Arc::new(Flow::new(schema, uid, metrics.flow(&level.name, &schema.name)));
            let state = level.lock();
            let (is_exempt, widest_request) = (state.config.queuing.is_exempt(), state.widest_request());
            Some(Classified { flow, level: level.clone(), is_exempt, widest_request })
        });
        let config = Config {
            matcher: Matcher::new(&schemas),
            flows: flows.collect(),
            fallback: schemas.iter().position(|schema| schema.name == CATCH_ALL).unwrap_or_default(),
        };
        *self.0.config.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
    }

    /// Replaces the levels. Existing levels keep their state; removed ones stay until they are
    /// idle.
    fn update_levels(&self, wanted: &[PriorityLevel]) -> Arc<Levels> {
        let before = self.levels();
        let mut levels = Levels::new();
        for config in wanted {
            let level = match before.get(&config.name) {
                Some(level) => level.clone(),
                None => PriorityLevelState::new(config.clone(), self.0.metrics.level(&config.name)),
            };
            let mut state = level.lock();
            (state.config, state.is_quiescing) = (config.clone(), false);
            drop(state);
            levels.insert(config.name.clone(), level);
        }
        for (name, level) in before.iter() {
            if !levels.contains_key(name) {
                level.lock().is_quiescing = true;
                levels.insert(name.clone(), level.clone());
            }
        }
        self.set_levels(levels)
    }

    /// Removes idle levels that are quiescing, and distributes the server's seats among the others.
    fn set_levels(&self, mut levels: Levels) -> Arc<Levels> {
        levels.retain(|_, level| !level.lock().is_quiesced());
        let all_shares = levels.values().map(|level| level.lock().config.shares).sum();
        levels.values().for_each(|level| level.lock().share(self.0.seats, all_shares));
        lending::lend(self.now(), levels.values(), &self.0.metrics);
        let levels = Arc::new(levels);
        *self.0.levels.write().unwrap_or_else(PoisonError::into_inner) = levels.clone();
        levels
    }

    /// Spawns a task that adjusts the seats of the levels until the process ends. Requires a tokio
    /// runtime.
    pub fn spawn_adjustment(&self) {
        let control = self.clone();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(ADJUSTMENT_PERIOD).await;
                control.adjust();
            }
        });
    }

    /// Adjusts the borrowing of seats for the next period.
    ///
    /// Also takes back seats that requests have held for too long, and removes quiesced levels.
    pub fn adjust(&self) {
        let (levels, now) = (self.levels(), self.now());
        levels.values().for_each(|level| level.lock().queues.expire(now, self.0.max_duration));
        match levels.values().any(|level| level.lock().is_quiesced()) {
            true => drop(self.set_levels((*levels).clone())),
            false => lending::lend(now, levels.values(), &self.0.metrics),
        }
    }

    /// Returns the schema and level of a request.
    pub fn classify(&self, digest: &Digest<'_>) -> Classification {
        let config = self.config();
        let index = config.matcher.find(digest).unwrap_or(config.fallback);
        Classification { config, index }
    }

    /// Counts a watch until the result is dropped. The counts determine the seats of writes.
    pub fn watch(&self, digest: &Digest<'_>) -> CountedWatch {
        self.0.watches.add(digest)
    }

    /// Sets the source of list sizes, which `estimate` queries for each list. Can be set once.
    pub fn set_list_sizes(&self, sizes: Box<dyn ListSizes>) {
        let _ = self.0.list_sizes.set(sizes);
    }

    pub(crate) fn hash(&self, flow: &Flow, digest: &Digest<'_>) -> u64 {
        self.0.hasher.hash_one((&flow.schema, flow.distinguish(digest)))
    }

    /// Converts a time since the creation to a date.
    pub(crate) fn date(&self, time: Duration) -> SystemTime {
        self.0.began_at + time
    }

    pub(crate) fn levels(&self) -> Arc<Levels> {
        self.0.levels.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn config(&self) -> Arc<Config> {
        self.0.config.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl MonotonicClock for FlowControl {
    fn now(&self) -> Duration {
        self.0.began.elapsed()
    }
}
