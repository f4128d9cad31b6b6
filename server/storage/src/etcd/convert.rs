//! Conversion between the types of the store and etcd's messages.

use std::sync::Arc;

use etcd_client::{
    EventType,
    proto::{PbEvent, PbKeyValue, PbResponseHeader, PbWatchResponse},
};

use crate::{Error, Event, EventKind, KeyRange, KeyValue, Result, Revision, WatchBatch};

/// The type of an event that is not a deletion.
const PUT: i32 = EventType::Put as i32;

/// Converts a number to etcd's signed one.
pub(super) fn to_wire(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn from_wire(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

pub(super) fn revision(header: Option<PbResponseHeader>) -> Revision {
    from_wire(header.map_or(0, |header| header.revision))
}

/// Returns start and end of a range. In etcd a zero byte means the first key or no end.
pub(super) fn range(range: &KeyRange) -> (Vec<u8>, Vec<u8>) {
    let start = if range.start().is_empty() { vec![0] } else { range.start().to_vec() };
    (start, range.end().map_or(vec![0], |end| end.to_vec()))
}

pub(super) fn key_value(kv: PbKeyValue) -> KeyValue {
    KeyValue {
        key: kv.key.into(),
        value: kv.value.into(),
        create_revision: from_wire(kv.create_revision),
        mod_revision: from_wire(kv.mod_revision),
        version: from_wire(kv.version),
        ..KeyValue::default()
    }
}

/// Returns the batch of a response; `None` for the confirmation of a new watch.
pub(super) fn batch(response: PbWatchResponse) -> Result<Option<WatchBatch>> {
    if response.created {
        return Ok(None);
    }
    let events: Vec<_> = response.events.into_iter().map(event).collect::<Result<_>>()?;
    Ok(Some(match events.last().map(|last| last.revision()) {
        Some(revision) => WatchBatch::Events { events, revision },
        None => WatchBatch::Progress { revision: revision(response.header) },
    }))
}

fn event(event: PbEvent) -> Result<Arc<Event>> {
    let kind = if event.r#type == PUT { EventKind::Put } else { EventKind::Delete };
    let event = Event { kind, kv: key_value(event.kv.unwrap_or_default()), prev: event.prev_kv.map(key_value) };
    // The previous value may have been compacted. Without it, a comparison with the old state would be wrong
    // (etcd3.parseEvent).
    if event.prev.is_none() && !event.is_create() {
        let reason = format!("etcd sent the change at revision {} without the previous value", event.revision());
        return Err(Error::corrupt(&event.kv.key, reason));
    }
    Ok(Arc::new(event))
}
