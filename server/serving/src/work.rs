//! The work pool: threads for what requests cost, apart from the threads that serve connections.
//!
//! The threads of the runtime read requests and answer health checks, small reads, leases and watches. Work
//! whose cost a client controls runs in the pool, at a lower priority of the operating system. The pool is
//! fair between users and bounds what waits. It resumes work that has begun before it begins other work, so
//! that few requests hold decoded objects at a time.
//!
//! [`run`] runs the work of one request. The work begins on the thread of the connection, and moves to the
//! pool when it asks to ([`machinery::offload::to_work_pool`]): small requests cost nothing extra.

pub mod memory;
mod pool;
mod queue;
mod request;
mod task;

pub use pool::{blocking, register};
pub use request::{HeldSeat, Seats, Work, run};
