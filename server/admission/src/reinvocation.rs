//! State of the two mutation rounds of a request (upstream: `admission.ReinvocationContext`).
//!
//! When a plugin changes an object, earlier webhooks and policies that request reinvocation run
//! again.

use std::collections::HashSet;

use machinery::reflect::Owned;

/// The reinvocation state of one request.
#[derive(Default)]
pub struct Reinvocation {
    /// 0 in the first round, 1 in the reinvocation round.
    pub round: usize,
    /// Whether a second round is required.
    pub wanted: bool,
    pub webhooks: ReinvokeContext,
    pub policies: ReinvokeContext,
}

/// Reinvocation state of webhooks or of policies, by key (upstream: `webhookReinvokeContext`).
#[derive(Default)]
pub struct ReinvokeContext {
    /// The object after the last invocation.
    last_output: Option<Owned>,
    /// Invoked keys that request reinvocation when a later plugin changes the object.
    previously_invoked: HashSet<String>,
    /// Keys to invoke in the second round.
    reinvoke: HashSet<String>,
}

impl Reinvocation {
    /// Starts the second round.
    pub fn begin_reinvocation(&mut self) {
        self.round = 1;
    }
}

impl ReinvokeContext {
    /// Starts a round. A change by built-in plugins since the last round requires reinvocation.
    pub fn begin(&mut self, round: usize, object: Option<&Owned>) {
        let same = match (&self.last_output, object) {
            (Some(last_output), Some(object)) => last_output.as_ref() == object.as_ref(),
            (None, None) => true,
            _ => false,
        };
        if round > 0 && !same {
            self.require_reinvocation();
        }
    }

    /// Marks all reinvocable keys for reinvocation, because the object changed.
    pub fn require_reinvocation(&mut self) {
        self.reinvoke.extend(self.previously_invoked.drain());
    }

    /// Whether to invoke a key in a round. The second round invokes only keys that are marked.
    pub fn should_invoke(&self, round: usize, key: &str) -> bool {
        round == 0 || self.reinvoke.contains(key)
    }

    /// Records the invocation of a key that requests reinvocation.
    pub fn add_reinvocable(&mut self, key: String) {
        self.previously_invoked.insert(key);
    }

    /// Stores the object at the end of a round.
    pub fn set_last_output(&mut self, object: Option<&Owned>) {
        self.last_output = object.cloned();
    }
}
