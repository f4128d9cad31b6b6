//! The work pool: threads for the work of requests, separate from those that serve connections.
//!
//! The threads of the runtime read requests and serve health checks, small reads, leases, and
//! watches. Work with client-controlled cost runs in the pool, at a lower OS priority. The pool is
//! fair between users and limits its queue. It resumes started work before it starts other work, so
//! that few requests hold decoded objects at a time.
//!
//! [`run`] runs the work of one request. The work starts on the thread of the connection, and moves
//! to the pool on request ([`machinery::offload::to_work_pool`]): small requests have no overhead.

pub mod memory;
mod pool;
mod queue;
mod request;
mod task;

pub use self::request::{HeldSeat, Seats, Work, run};
pub use pool::{blocking, register};
