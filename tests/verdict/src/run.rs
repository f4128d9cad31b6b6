//! Runs many cases against two servers, and collects their differences.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant, SystemTime};

use apiserver::InProcess;
use differential::client::Remote;
use differential::minimise::{pointers, remove};
use futures_util::future::try_join_all;
use storage::{EmbeddedOptions, EmbeddedStore};
use tempfile::TempDir;

use crate::case::{self, Case, Op};
use crate::error::{Error, Result};
use crate::kinds::Kinds;
use crate::side::{Outcome, Served, Side};

/// Number of concurrent cases.
pub const WORKERS: usize = 12;
/// Maximum number of attempts to minimise a case with a difference.
const TRIES: usize = 250;

/// The number of cases and their seeds.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub seed: u64,
    /// Minimum number of objects.
    pub objects: u64,
    /// Number of differences to minimise; the run ends with the last of them.
    pub differences: usize,
}

/// A difference.
pub struct Difference {
    pub seed: u64,
    pub text: String,
}

/// The results of a run.
#[derive(Default)]
pub struct Report {
    pub objects: u64,
    pub cases: u64,
    pub accepted: u64,
    pub refused: u64,
    /// Number of rejections of a field, by kind and path without indexes.
    pub fields: BTreeMap<String, u64>,
    pub differences: BTreeMap<String, Difference>,
    /// Number of cases by kind of difference.
    pub counts: BTreeMap<String, u64>,
    pub took: Duration,
}

/// A server in this process.
pub struct Local {
    pub side: Side,
    _server: InProcess,
    _folder: TempDir,
}

impl Local {
    /// Starts a server of the declared kinds, or one of custom resources.
    ///
    /// # Errors
    ///
    /// Fails when the server does not start.
    pub async fn start(served: Served, kinds: &Kinds) -> Result<Local> {
        let folder = tempfile::tempdir()?;
        let options = EmbeddedOptions { durable: false, ..EmbeddedOptions::default() };
        let store = Arc::new(EmbeddedStore::open_with(folder.path().join("store"), options)?);
        let server = match served {
            Served::Natively => apiserver::Server::delegating("verdict", verdict_kinds::groups()),
            Served::ByDefinition => kube_apiserver::server(),
        };
        let server = server.store(store.clone());
        let server =
            tokio::task::spawn_blocking(move || server.start().map_err(|why| Error::Other(why.to_string()))).await;
        let server = server.map_err(|why| Error::Other(why.to_string()))??;
        let name = if served == Served::Natively { "native" } else { "custom" };
        let side = Side { name, served, remotes: remotes(server.kubeconfig())?, store: Some(store) };
        if served == Served::ByDefinition {
            side.install(kinds).await?;
        }
        side.wait_for(kinds).await?;
        Ok(Local { side, _server: server, _folder: folder })
    }
}

/// Opens a connection for each worker.
///
/// # Errors
///
/// Fails when the kubeconfig cannot be used.
pub fn remotes(kubeconfig: &std::path::Path) -> Result<Vec<Remote>> {
    let one = |_| Ok(Remote::new(differential::kubeconfig::read(kubeconfig)?)?);
    (0..WORKERS).map(one).collect()
}

/// The next name of an object. A server that outlives this program contains the objects of other
/// runs.
static NAMES: LazyLock<AtomicU64> = LazyLock::new(|| {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    AtomicU64::new(now.as_micros() as u64)
});

struct Run<'r> {
    kinds: &'r Kinds,
    sides: [&'r Side; 2],
    plan: Plan,
    next: AtomicU64,
    objects: AtomicU64,
    report: tokio::sync::Mutex<Report>,
}

/// Runs cases until the planned number of objects is reached.
///
/// # Errors
///
/// Fails when a server cannot be reached.
pub async fn run(kinds: &Kinds, sides: [&Side; 2], plan: Plan) -> Result<Report> {
    let started = Instant::now();
    let (next, objects) = (AtomicU64::new(plan.seed), AtomicU64::new(0));
    let run = Run { kinds, sides, plan, next, objects, report: tokio::sync::Mutex::default() };
    try_join_all((0..WORKERS).map(|worker| run.work(worker))).await?;
    let mut report = run.report.into_inner();
    report.objects = run.objects.into_inner();
    report.took = started.elapsed();
    Ok(report)
}

impl Run<'_> {
    async fn work(&self, worker: usize) -> Result<()> {
        let local = self.sides.iter().all(|side| side.store.is_some());
        while self.objects.load(Ordering::Relaxed) < self.plan.objects {
            let seed = self.next.fetch_add(1, Ordering::Relaxed);
            let case = case::make(self.kinds, seed, local);
            let outcomes = self.play(worker, &case).await?;
            let sent = case.steps.iter().take(outcomes[0].len()).filter(|step| step.op != Op::Read).count() as u64;
            self.objects.fetch_add(sent, Ordering::Relaxed);
            let family = family(self.kinds, &case, &outcomes);
            self.count(&case, &outcomes, family.as_ref()).await;
            let Some(family) = family else { continue };
            let known = self.report.lock().await.differences.contains_key(&family);
            if known || self.report.lock().await.differences.len() >= self.plan.differences {
                continue;
            }
            let (small, outcomes) = self.minimise(worker, case, outcomes, &family).await?;
            let text = show(self.kinds, &small, &outcomes, self.sides);
            self.report.lock().await.differences.insert(family, Difference { seed, text });
        }
        Ok(())
    }

    async fn play(&self, worker: usize, case: &Case) -> Result<[Vec<Outcome>; 2]> {
        let name = format!("o{:x}", NAMES.fetch_add(1, Ordering::Relaxed));
        let [one, other] = self.sides;
        let (one, other) =
            tokio::try_join!(one.play(worker, self.kinds, case, &name), other.play(worker, self.kinds, case, &name))?;
        Ok([one, other])
    }

    async fn count(&self, case: &Case, outcomes: &[Vec<Outcome>; 2], family: Option<&String>) {
        let mut report = self.report.lock().await;
        report.cases += 1;
        for outcome in &outcomes[0] {
            *(if outcome.accepted() { &mut report.accepted } else { &mut report.refused }) += 1;
            for path in &outcome.paths {
                let path = format!("{} {}", self.kinds.kinds[case.kind].name, without_indexes(path));
                *report.fields.entry(path).or_default() += 1;
            }
        }
        if let Some(family) = family {
            *report.counts.entry(family.clone()).or_default() += 1;
        }
    }

    /// Returns the smallest case found of the same family.
    async fn minimise(
        &self,
        worker: usize,
        mut best: Case,
        mut shown: [Vec<Outcome>; 2],
        wanted: &str,
    ) -> Result<(Case, [Vec<Outcome>; 2])> {
        let mut tries = TRIES;
        loop {
            let before = best.clone();
            for smaller in smaller(&before) {
                if tries == 0 {
                    return Ok((best, shown));
                }
                let Some(smaller) = smaller(&best) else { continue };
                tries -= 1;
                let outcomes = self.play(worker, &smaller).await?;
                if family(self.kinds, &smaller, &outcomes).is_some_and(|family| family == wanted) {
                    (best, shown) = (smaller, outcomes);
                }
            }
            if best == before {
                return Ok((best, shown));
            }
        }
    }
}

type Change = Box<dyn Fn(&Case) -> Option<Case>>;

/// Returns ways to make a case smaller: fewer steps, then fewer fields and items.
fn smaller(case: &Case) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for at in (0..case.steps.len()).rev() {
        changes.push(Box::new(move |case| {
            let mut case = case.clone();
            (case.steps.len() > 1 && at < case.steps.len()).then(|| {
                case.steps.remove(at);
                case
            })
        }));
    }
    // Fields are removed from all steps before they are removed from single steps.
    let mut all = BTreeSet::new();
    for step in &case.steps {
        all.extend(pointers(&step.body));
    }
    let mut all: Vec<String> = all.into_iter().collect();
    all.sort_by_key(|pointer| pointer.matches('/').count());
    let at = |only: Option<usize>, pointer: String| -> Change {
        Box::new(move |case| {
            let mut smaller = case.clone();
            let steps = smaller.steps.iter_mut().enumerate();
            steps.filter(|(at, _)| only.is_none_or(|only| *at == only)).for_each(|(_, step)| {
                remove(&mut step.body, &pointer);
            });
            (smaller != *case).then_some(smaller)
        })
    };
    changes.extend(all.iter().map(|pointer| at(None, pointer.clone())));
    for (index, step) in case.steps.iter().enumerate() {
        changes.extend(pointers(&step.body).into_iter().map(|pointer| at(Some(index), pointer)));
    }
    changes
}

fn without_indexes(path: &str) -> String {
    path.split('.').filter(|part| part.parse::<usize>().is_err()).collect::<Vec<_>>().join(".")
}

/// Returns the kind of difference of a case, without random values; `None` when the servers agree.
fn family(kinds: &Kinds, case: &Case, outcomes: &[Vec<Outcome>; 2]) -> Option<String> {
    let [one, other] = outcomes;
    let steps = case.steps.iter().zip(one.iter().zip(other));
    let (step, (one, other)) = steps.into_iter().find(|(_, (one, other))| !one.agrees(other))?;
    let paths = |of: &Outcome, than: &Outcome| {
        of.paths.difference(&than.paths).map(|path| without_indexes(path)).collect::<BTreeSet<_>>()
    };
    let what = match (one.accepted(), other.accepted()) {
        (true, true) => {
            let (one, other) = (leaves(&one.object), leaves(&other.object));
            let differ = one.symmetric_difference(&other).map(|(path, _)| without_indexes(path));
            format!("objects differ at {:?}", differ.collect::<BTreeSet<_>>())
        }
        _ => format!("{} {:?} / {} {:?}", one.code, paths(one, other), other.code, paths(other, one)),
    };
    let op = if step.op == Op::Create { "Create".to_owned() } else { format!("{:?}", step.op) };
    Some(format!("{} {op}: {what}", kinds.kinds[case.kind].name))
}

fn leaves(value: &serde_json::Value) -> BTreeSet<(String, String)> {
    fn walk(value: &serde_json::Value, path: &str, into: &mut BTreeSet<(String, String)>) {
        match value {
            serde_json::Value::Object(members) if !members.is_empty() => {
                members.iter().for_each(|(name, value)| walk(value, &format!("{path}.{name}"), into));
            }
            serde_json::Value::Array(items) if !items.is_empty() => {
                items.iter().enumerate().for_each(|(at, value)| walk(value, &format!("{path}.{at}"), into));
            }
            _ => drop(into.insert((path.trim_start_matches('.').to_owned(), value.to_string()))),
        }
    }
    let mut out = BTreeSet::new();
    walk(value, "", &mut out);
    out
}

/// Returns a case with its outcomes as readable text.
fn show(kinds: &Kinds, case: &Case, outcomes: &[Vec<Outcome>; 2], sides: [&Side; 2]) -> String {
    let kind = &kinds.kinds[case.kind];
    let mut out = String::new();
    for (at, step) in case.steps.iter().enumerate() {
        let version = &kind.versions[step.version].0;
        out.push_str(&format!(
            "  {:?} {} {version}{}: {}\n",
            step.op,
            kind.name,
            if step.strict { ", strict" } else { "" },
            step.body
        ));
        let of: Vec<Option<&Outcome>> = outcomes.iter().map(|outcomes| outcomes.get(at)).collect();
        let [Some(one), Some(other)] = of[..] else { break };
        if one.agrees(other) {
            out.push_str(&format!("    both: {}\n", one.code));
            continue;
        }
        for (side, outcome) in sides.iter().zip([one, other]) {
            let what = if outcome.accepted() { outcome.object.to_string() } else { outcome.message.clone() };
            out.push_str(&format!("    {}: {} {what}\n", side.name, outcome.code));
        }
        break;
    }
    out
}

impl Report {
    /// Returns the figures of a run.
    pub fn figures(&self) -> String {
        let (objects, seconds) = (self.objects, self.took.as_secs_f64());
        format!(
            "{objects} objects in {} cases: {} accepted, {} refused at {} fields; {seconds:.0} s, {:.0} objects/s; \
             {} differences",
            self.cases,
            self.accepted,
            self.refused,
            self.fields.len(),
            objects as f64 / seconds,
            self.counts.values().sum::<u64>(),
        )
    }

    /// Returns the differences, each minimised.
    pub fn differences(&self) -> String {
        let each = self.differences.iter().map(|(family, found)| {
            format!("{family}: {} cases, one of seed {}\n{}", self.counts[family], found.seed, found.text)
        });
        each.collect::<Vec<_>>().join("\n")
    }
}
