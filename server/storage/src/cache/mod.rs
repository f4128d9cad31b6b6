//! The watch cache: the current state of the whole store in memory, updated by one watch. It serves
//! almost all reads.
//!
//! One task follows the store from the revision of the first list and applies each change to the cache
//! of its resource. All resources share one revision: a read of the latest state gets the store's
//! current revision and waits until the cache has reached it. [`Cache::resource`] claims a resource at
//! any time by registering its decoder. Values of unclaimed resources are kept as stored.
//!
//! Objects are shared and not copied, and the cache does not decode them. A read clones a persistent
//! set in constant time and holds no lock afterwards.
//!
//! | file | part |
//! |---|---|
//! | `reading`, `feed` | the first list of the store; the task that follows it |
//! | `resource` | one resource: current objects, recent changes, watchers |
//! | `snapshot` | the objects of a resource at one revision, with indexes of fields |
//! | `entry`, `budget`, `repeat_filter` | one object, its attributes and its encodings; their memory limit |
//! | `counts` | counters for metrics |
//! | `change`, `watchers` | changes; the watchers that get them, and the limits of their queues |

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
