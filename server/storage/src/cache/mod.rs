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
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use storage::cache::{Cache, CacheOptions, Description, Entry, EntryDecoder};
//! use storage::{EmbeddedStore, KeyValue, Revision, Store, Txn};
//!
//! /// Serves values as stored, without attributes.
//! struct AsStored;
//!
//! impl EntryDecoder for AsStored {
//!     fn describe(&self, kv: &KeyValue) -> Description {
//!         Description { object: kv.value.clone(), ..Description::default() }
//!     }
//!     fn at_revision(&self, entry: &Entry, _: Revision) -> Description {
//!         Description { object: entry.object.clone(), ..Description::default() }
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(dir.path())?);
//! let options = CacheOptions { prefix: "/registry/".into(), encodings: 1 << 20, queue: 100 };
//! let cache = Cache::new(store.clone(), options);
//! cache.start().await?;
//! let things = cache.resource(&"/registry/things/".into(), || Arc::new(AsStored));
//! let written = store.commit(Txn::create("/registry/things/a", "1")).await?;
//! assert!(cache.wait_for(written.revision(), Duration::from_secs(3)).await);
//! assert_eq!(things.get(b"/registry/things/a").expect("the object exists").object, "1");
//! # Ok(())
//! # }
//! ```
//!
//! | file | part |
//! |---|---|
//! | `reading`, `feed` | the first list of the store; the task that follows it |
//! | `factory` | creates the entries of a resource with its decoder |
//! | `resource` | one resource: current objects, recent changes, watchers |
//! | `snapshot` | the objects of a resource at one revision, with indexes of fields |
//! | `entry`, `budget`, `repeat_filter` | one object, its attributes and its encodings; their memory limit |
//! | `counts` | counters for metrics |
//! | `change`, `watchers` | changes; the watchers that get them, and the limits of their queues |

mod budget;
mod change;
mod counts;
mod entry;
mod factory;
mod feed;
mod reading;
mod repeat_filter;
mod resource;
mod snapshot;
mod watchers;

pub use change::{Change, ChangeKind, WatcherEvent};
pub use counts::{CacheCounts, Counter, Waits};
pub use entry::{Damage, Description, EncodingId, Entry, LabelsAndFields};
pub use factory::EntryDecoder;
pub use feed::{Cache, CacheOptions};
pub use resource::{ResourceCache, Started, WatchFrom};
pub use snapshot::Snapshot;
pub use watchers::{Matches, Selection, Watcher};
