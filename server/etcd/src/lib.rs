//! etcd's API, version 3, served from the embedded store: gRPC, and beside it the HTTP paths of health,
//! version and metrics.
//!
//! The server is the only member of its cluster. Messages, error codes and error texts are those of
//! etcd 3.6, because clients match on them. `docs/etcd.md` lists what differs.
//!
//! | module | content |
//! |---|---|
//! | `flags`, `options` | etcd's command line |
//! | `run`, `listener`, `tls` | the server: sockets, connections, certificates |
//! | `dispatch`, `web` | gRPC methods by path; paths of HTTP |
//! | `kv`, `watch`, `lease`, `maintenance`, `cluster`, `auth` | the services |
//! | `check`, `convert`, `answer` | validation of requests; conversion of messages; errors |
//! | `etcd`, `member`, `alarms`, `compactor`, `metrics`, `version` | the state of the server |

#![deny(missing_docs)]
#![deny(clippy::missing_errors_doc)]

mod alarms;
mod answer;
mod auth;
mod check;
mod cluster;
mod compactor;
mod convert;
mod dispatch;
mod error;
mod etcd;
mod flags;
mod kv;
mod lease;
mod listener;
mod maintenance;
mod member;
mod metrics;
mod options;
mod proto;
mod run;
mod snapshot;
mod tls;
mod version;
mod watch;
mod web;

pub use error::Error;
pub use flags::{help, version};
pub use options::{Address, Compaction, Limits, Options, Parsed, TlsOptions};
pub use run::{EtcdServer, run};
