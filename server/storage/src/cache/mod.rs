//! The watch cache: the present of the whole store in memory, kept so by one watch, from which almost all reads are served.
//!
//! One task follows the store from the revision at which it was first listed, and gives each change to the resource it belongs to. So all
//! resources share one clock: a reader who wants the latest asks the store for its revision and waits until the cache has come that far.
//! A resource is claimed by whoever knows its kind, at any time; what nobody has claimed yet is kept as it was stored.
//!
//! Objects are shared, never copied, and never decoded here. A read copies a persistent set in constant time and holds no lock after.
//!
//! | file | part |
//! |---|---|
//! | `reading`, `feed` | what the store has at first; the task that follows it |
//! | `resource` | one resource: present, latest changes, watchers |
//! | `snapshot` | its objects at one moment, with indexes of fields |
//! | `entry`, `budget`, `asked` | one object, its attributes, its encodings; how many encodings are kept, and of whom |
//! | `counts` | what it has done, for metrics |
//! | `change`, `watchers` | what happened; who is told, and how slow they may be |

mod budget;
mod change;
mod counts;
mod entry;
mod feed;
mod reading;
mod repeat_filter;
mod resource;
mod snapshot;
mod watchers;

pub use change::{Change, ChangeKind, Seen};
pub use counts::{Count, Counts, Waits};
pub use entry::{Attributes, Damage, Description, EncodingId, Entry};
pub use feed::{Cache, CacheOptions};
pub use resource::{EntryDecoder, ResourceCache, Started, WatchFrom};
pub use snapshot::Snapshot;
pub use watchers::{Matches, Selection, Watcher};
