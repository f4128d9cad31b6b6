//! The debug documents: the current levels, queues, and requests (upstream:
//! `apf_controller_debug.go`).

use std::fmt::Write;
use std::time::{Duration, SystemTime};

use machinery::scalar::MicroTime;

use crate::control::FlowControl;
use crate::level::MonotonicClock;
use crate::queue_set::{QueueSet, QueueSetRequest, RequestState};

/// The document to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dump {
    PriorityLevels,
    Queues,
    /// `details` adds the user and the attributes of each request.
    Requests {
        details: bool,
    },
}

const LEVELS: &[&str] = &[
    "PriorityLevelName",
    "ActiveQueues",
    "IsIdle",
    "IsQuiescing",
    "WaitingRequests",
    "ExecutingRequests",
    "DispatchedRequests",
    "RejectedRequests",
    "TimedoutRequests",
    "CancelledRequests",
];
const QUEUES: &[&str] = &[
    "PriorityLevelName",
    "Index",
    "PendingRequests",
    "ExecutingRequests",
    "SeatsInUse",
    "NextDispatchR",
    "InitialSeatsSum",
    "MaxSeatsSum",
    "TotalWorkSum",
];
const REQUESTS: &[&str] = &[
    "PriorityLevelName",
    "FlowSchemaName",
    "QueueIndex",
    "RequestIndexInQueue",
    "FlowDistingsher", // as upstream spells it
    "ArriveTime",
    "InitialSeats",
    "FinalSeats",
    "AdditionalLatency",
    "StartTime",
];
const DETAILS: &[&str] = &["UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource"];
/// The zero time in Go's format.
const NEVER: &str = "0001-01-01T00:00:00Z";

type Row = Vec<String>;

impl FlowControl {
    /// Writes a document.
    pub fn dump(&self, dump: Dump) -> String {
        let mut rows = vec![header(dump)];
        for (name, level) in self.levels().iter() {
            let mut state = level.lock();
            state.queues.sync(self.now());
            match dump {
                Dump::PriorityLevels => rows.push(level_row(name, state.is_quiescing, &state.queues)),
                Dump::Queues => rows.extend(queue_rows(name, &state.queues)),
                Dump::Requests { details } => rows.extend(self.request_rows(name, &state.queues, details)),
            }
        }
        table(&rows)
    }

    fn request_rows(&self, level: &str, queues: &QueueSet, details: bool) -> Vec<Row> {
        let mut requests: Vec<_> = queues.requests().iter().collect();
        requests
            .sort_unstable_by_key(|(id, entry)| (entry.queue, matches!(entry.stage, RequestState::Executing), **id));
        let position = |id, entry: &QueueSetRequest| {
            let queue = &queues.queues()[entry.queue?];
            queue.waiting.iter().position(|other| *other == id)
        };
        let rows = requests.into_iter().filter(|(_, entry)| !matches!(entry.stage, RequestState::FinalWork));
        rows.map(|(id, entry)| self.request_row(level, entry, position(*id, entry), details)).collect()
    }

    fn request_row(&self, level: &str, entry: &QueueSetRequest, position: Option<usize>, details: bool) -> Row {
        let (digest, work) = (entry.arrival.request.digest(), entry.arrival.work);
        let index = |index: Option<usize>| index.map_or("-1".to_owned(), |index| index.to_string());
        let started =
            if matches!(entry.stage, RequestState::Waiting(_)) { NEVER.into() } else { time(self.date(entry.started)) };
        let mut row = vec![
            level.to_owned(),
            entry.arrival.flow.schema.clone(),
            index(entry.queue),
            index(position),
            entry.arrival.flow.distinguish(&digest).to_owned(),
            time(self.date(entry.arrived)),
            work.initial_seats.to_string(),
            work.final_seats.to_string(),
            duration(work.additional_latency),
            started,
        ];
        if details {
            let version = match digest.group {
                "" => digest.version.to_owned(),
                group => format!("{group}/{}", digest.version),
            };
            row.extend([digest.user, digest.verb, digest.path, digest.namespace, digest.name].map(str::to_owned));
            row.extend([version, digest.resource.to_owned(), digest.subresource.to_owned()]);
        }
        row
    }
}

fn header(dump: Dump) -> Row {
    let columns = match dump {
        Dump::PriorityLevels => LEVELS.to_vec(),
        Dump::Queues => QUEUES.to_vec(),
        Dump::Requests { details: false } => REQUESTS.to_vec(),
        Dump::Requests { details: true } => [REQUESTS, DETAILS].concat(),
    };
    columns.into_iter().map(str::to_owned).collect()
}

fn level_row(name: &str, is_quiescing: bool, queues: &QueueSet) -> Row {
    let active = queues.queues().iter().filter(|queue| !queue.waiting.is_empty()).count();
    let ((waiting, executing), counts) = (queues.load(), queues.counts);
    let mut row = vec![name.to_owned(), active.to_string(), queues.is_idle().to_string(), is_quiescing.to_string()];
    // A request that timed out in a queue counts as cancelled, as upstream.
    let numbers = [waiting as u64, executing as u64, counts.dispatched, counts.rejected, 0, counts.cancelled];
    row.extend(numbers.map(|number| number.to_string()));
    row
}

fn queue_rows(level: &str, queues: &QueueSet) -> Vec<Row> {
    let row = |(index, queue): (usize, &crate::queue_set::Queue)| {
        vec![
            level.to_owned(),
            index.to_string(),
            queue.waiting.len().to_string(),
            queue.executing.to_string(),
            queue.seats_in_use.to_string(),
            queue.next_dispatch.to_string(),
            queue.initial_seats_waiting.to_string(),
            queue.max_seats_waiting.to_string(),
            queue.work_waiting.to_string(),
        ]
    };
    queues.queues().iter().enumerate().map(row).collect()
}

fn time(time: SystemTime) -> String {
    MicroTime::from(time).to_string()
}

fn duration(duration: Duration) -> String {
    let nanos = i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
    machinery::scalar::Duration::from_nanos(nanos).to_string()
}

/// Formats rows as a table, with a comma behind each cell but the last (Go: `tabwriter`, cells of
/// at least 8).
fn table(rows: &[Row]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| (width(column).unwrap_or(0) + 2).max(8)).collect();
    let mut out = String::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = match column + 1 == row.len() {
                true => writeln!(out, "{cell}"),
                false => write!(out, "{:<1$}", format!("{cell},"), widths[column]),
            };
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let rows =
            [vec!["Name".into(), "Index".into(), "Last".into()], vec!["catch-all".into(), "0".into(), "x".into()]];
        assert_eq!(table(&rows), "Name,      Index,  Last\ncatch-all, 0,      x\n");
    }
}
