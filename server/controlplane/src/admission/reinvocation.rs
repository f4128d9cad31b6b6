//! What the two rounds of mutation know of each other: after something has changed an object, those are asked again that want to be
//! (upstream: `admission.ReinvocationContext`).

use std::collections::HashSet;

use machinery::reflect::Owned;

/// The rounds of one request.
#[derive(Default)]
pub struct Reinvocation {
    /// 0, and 1 when all are asked again.
    pub round: usize,
    /// Whether there has to be another round.
    pub wanted: bool,
    pub webhooks: Invoked,
    pub policies: Invoked,
}

/// Webhooks, or policies, by their keys.
#[derive(Default)]
pub struct Invoked {
    /// The object as they left it.
    left: Option<Owned>,
    /// Those that were asked and want to be again when somebody changes the object after them.
    waiting: HashSet<String>,
    /// Those that are to be asked again.
    again: HashSet<String>,
}

impl Reinvocation {
    /// Begins the second round.
    pub fn begin_again(&mut self) {
        self.round = 1;
    }
}

impl Invoked {
    /// Begins a round; what plugins of the server's own have changed since the last one counts as a change.
    pub fn begin(&mut self, round: usize, object: Option<&Owned>) {
        let same = match (&self.left, object) {
            (Some(left), Some(object)) => left.as_ref() == object.as_ref(),
            (None, None) => true,
            _ => false,
        };
        if round > 0 && !same {
            self.changed();
        }
    }

    /// Somebody has changed the object.
    pub fn changed(&mut self) {
        self.again.extend(self.waiting.drain());
    }

    /// Whether one is asked in a round: in the second one only if it wants to be.
    pub fn is_asked(&self, round: usize, key: &str) -> bool {
        round == 0 || self.again.contains(key)
    }

    /// One was asked, and wants to be asked again.
    pub fn asked(&mut self, key: String) {
        self.waiting.insert(key);
    }

    /// Ends a round.
    pub fn end(&mut self, object: Option<&Owned>) {
        self.left = object.cloned();
    }
}
