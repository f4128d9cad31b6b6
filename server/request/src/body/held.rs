//! Values that are held while a response is sent, and dropped at its end.

use std::any::Any;
use std::task::Poll;

type Guard = Box<dyn Any + Send>;

/// The values held by a body.
///
/// They are stored in the body rather than in a wrapper, because a wrapper would be polled for each
/// event of a watch.
#[derive(Default)]
pub(super) struct Held {
    pub whole: Vec<Guard>,
    pub beginning: Vec<Guard>,
}

impl Held {
    /// Drops the values that need not be held after this poll; returns whether the rest can be
    /// dropped too.
    pub fn release<F, E>(&mut self, polled: &Poll<Option<Result<F, E>>>) -> bool {
        match polled {
            Poll::Pending => {
                self.beginning.clear();
                false
            }
            Poll::Ready(Some(Ok(_))) => false,
            Poll::Ready(None | Some(Err(_))) => true,
        }
    }
}
