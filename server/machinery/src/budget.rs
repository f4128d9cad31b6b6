//! Memory budgets: limits on the bytes that one request, and all requests together, may hold.
//!
//! A [`Budget`] belongs to a request and may be part of a [`Pool`], which all requests share. Code
//! that allocates in proportion to client input charges the budget first. [`Budget::scope`] sets
//! the current budget of a thread. Decoders and other synchronous code then need no parameter for
//! it: they call [`charge`].
//!
//! ```
//! use machinery::budget::{self, Budget, Exceeded};
//!
//! let budget = Budget::new(1 << 20);
//! budget.scope(|| budget::charge(4096))?;
//! assert_eq!(budget.used(), 4096);
//! assert_eq!(budget.charge(1 << 20), Err(Exceeded::Request { limit: 1 << 20 }));
//! # Ok::<(), Exceeded>(())
//! ```

mod meter;

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::status::Status;

pub use meter::Meter;

/// Error of a charge that exceeds the budget of the request, or of all requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Exceeded {
    /// The request alone exceeds its budget: it fails on every attempt.
    #[error("Request entity too large: the request takes more than {limit} bytes of memory")]
    Request {
        /// The limit on the request, in bytes.
        limit: u64,
    },
    /// All requests together exceed the pool: the request may succeed later.
    #[error("too much memory is in use by requests, please try again later")]
    Pool {
        /// The limit on all requests together, in bytes.
        limit: u64,
    },
}

impl From<Exceeded> for Status {
    /// 413 for a request that is too large, 429 while the pool is exhausted.
    fn from(exceeded: Exceeded) -> Status {
        match exceeded {
            Exceeded::Request { .. } => Status::new(413, "RequestEntityTooLarge", exceeded.to_string()),
            Exceeded::Pool { .. } => Status::too_many_requests(exceeded.to_string(), 1),
        }
    }
}

/// An error of a decoder: the input is malformed, or its decoded form exceeds a budget.
pub trait DecodeError: Sized {
    /// The exceeded budget; `None` when the input is malformed.
    fn exceeded(&self) -> Option<Exceeded>;

    /// 413 or 429 when a budget is exceeded; otherwise the Status that `malformed` returns.
    ///
    /// Every decoding error of client input becomes a Status here, so that no caller replies 400 to
    /// an exceeded budget.
    fn into_status(self, malformed: impl FnOnce(Self) -> Status) -> Status {
        match self.exceeded() {
            Some(exceeded) => exceeded.into(),
            None => malformed(self),
        }
    }
}

/// The limit on the bytes that all requests together may hold.
#[derive(Debug)]
pub struct Pool {
    limit: u64,
    used: AtomicU64,
}

impl Pool {
    /// Creates a pool of this many bytes.
    pub fn new(limit: u64) -> Arc<Pool> {
        Arc::new(Pool { limit, used: AtomicU64::new(0) })
    }

    /// Bytes that are charged at present.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    fn charge(&self, bytes: u64) -> Result<(), Exceeded> {
        charge_within(&self.used, self.limit, bytes).map_err(|limit| Exceeded::Pool { limit })
    }

    fn release(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The limit on the bytes that one request may hold. Dropping it releases its charges from the
/// pool.
#[derive(Debug)]
pub struct Budget {
    limit: u64,
    used: AtomicU64,
    pool: Option<Arc<Pool>>,
}

impl Budget {
    /// Creates a budget of this many bytes without a pool.
    pub fn new(limit: u64) -> Arc<Budget> {
        Arc::new(Budget { limit, used: AtomicU64::new(0), pool: None })
    }

    /// Creates a budget of this many bytes that also charges `pool`.
    pub fn within(pool: &Arc<Pool>, limit: u64) -> Arc<Budget> {
        Arc::new(Budget { limit, used: AtomicU64::new(0), pool: Some(Arc::clone(pool)) })
    }

    /// Bytes that are charged at present.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Charges bytes before they are allocated. Charges nothing when it returns an error.
    ///
    /// # Errors
    /// [`Exceeded`] when the request, or the pool of all requests, would exceed its limit.
    pub fn charge(&self, bytes: u64) -> Result<(), Exceeded> {
        charge_within(&self.used, self.limit, bytes).map_err(|limit| Exceeded::Request { limit })?;
        if let Some(pool) = &self.pool
            && let Err(exceeded) = pool.charge(bytes)
        {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
            return Err(exceeded);
        }
        Ok(())
    }

    /// Releases bytes that were charged and have been freed.
    pub fn release(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(pool) = &self.pool {
            pool.release(bytes);
        }
    }

    /// Runs `work` with this budget as the current one of the thread. Scopes nest: only the
    /// innermost budget is charged.
    pub fn scope<T>(self: &Arc<Self>, work: impl FnOnce() -> T) -> T {
        let outer = CURRENT.replace(Some(Arc::clone(self)));
        let _restore = Restore(outer);
        work()
    }
}

impl Drop for Budget {
    fn drop(&mut self) {
        if let Some(pool) = &self.pool {
            pool.release(*self.used.get_mut());
        }
    }
}

/// Charges the current budget of the thread. Without a current budget, it does nothing.
///
/// # Errors
/// [`Exceeded`] when the current budget, or its pool, would exceed its limit.
pub fn charge(bytes: u64) -> Result<(), Exceeded> {
    CURRENT.with_borrow(|current| current.as_ref().map_or(Ok(()), |budget| budget.charge(bytes)))
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Budget>>> = const { RefCell::new(None) };
}

/// Restores the outer budget on drop, also after a panic.
struct Restore(Option<Arc<Budget>>);

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

fn charge_within(used: &AtomicU64, limit: u64, bytes: u64) -> Result<(), u64> {
    let add = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= limit);
    used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).map(drop).map_err(|_| limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropping_budget_releases_charges_from_pool() {
        let pool = Pool::new(100);
        let first = Budget::within(&pool, 80);
        let second = Budget::within(&pool, 80);
        first.charge(70).unwrap();
        assert_eq!(first.charge(11), Err(Exceeded::Request { limit: 80 }));
        assert_eq!(second.charge(31), Err(Exceeded::Pool { limit: 100 }));
        assert_eq!((first.used(), second.used(), pool.used()), (70, 0, 70));
        first.release(20);
        assert_eq!(pool.used(), 50);
        drop(first);
        assert_eq!(pool.used(), 0);
        second.charge(80).unwrap();
        assert_eq!(second.charge(u64::MAX), Err(Exceeded::Request { limit: 80 }));
    }

    #[test]
    fn the_innermost_scope_is_charged() {
        let (outer, inner) = (Budget::new(10), Budget::new(10));
        charge(u64::MAX).unwrap();
        outer.scope(|| {
            inner.scope(|| charge(4).unwrap());
            charge(3).unwrap();
        });
        let panics = std::panic::catch_unwind(|| inner.scope(|| panic!("work fails")));
        assert!(panics.is_err());
        charge(u64::MAX).unwrap();
        assert_eq!((outer.used(), inner.used()), (3, 4));
    }

    #[test]
    fn decoders_report_exceeded_budget_instead_of_malformed_input() {
        let status = |error: crate::json::Error| error.into_status(|e| Status::bad_request(e.to_string())).code;
        assert_eq!(status(Exceeded::Request { limit: 5 }.into()), 413);
        assert_eq!(status(Exceeded::Pool { limit: 5 }.into()), 429);
        assert_eq!(status(crate::json::Error::Base64(1)), 400);
    }

    #[test]
    fn statuses_distinguish_request_and_pool_limits() {
        let status = Status::from(Exceeded::Request { limit: 5 });
        assert_eq!((status.code, status.reason), (413, "RequestEntityTooLarge"));
        assert_eq!(Status::from(Exceeded::Pool { limit: 5 }).code, 429);
    }
}
