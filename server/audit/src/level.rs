//! Audit levels and stages.

/// The version of events and policies.
pub(crate) const API_VERSION: &str = "audit.k8s.io/v1";

/// An audit level (`audit.Level`). Each level includes the data of the lower levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    #[default]
    None,
    /// User, attributes and outcome of the request.
    Metadata,
    /// Also the request object.
    Request,
    /// Also the response object.
    RequestResponse,
}

impl Level {
    /// The names of the levels, in ascending order.
    pub const NAMES: [&str; 4] = ["None", "Metadata", "Request", "RequestResponse"];

    const ALL: [Level; 4] = [Level::None, Level::Metadata, Level::Request, Level::RequestResponse];

    /// Returns the level with a name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }

    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// A stage of a request (`audit.Stage`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The request was received and is not yet handled.
    RequestReceived,
    /// The response head of a long-running request, such as a watch, was sent.
    ResponseStarted,
    ResponseComplete,
    /// The handler panicked.
    Panic,
}

impl Stage {
    pub const NAMES: [&str; 4] = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"];

    const ALL: [Stage; 4] = [Stage::RequestReceived, Stage::ResponseStarted, Stage::ResponseComplete, Stage::Panic];

    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// A set of stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stages(u8);

impl Stages {
    /// Returns the stages with these names; unknown names are ignored.
    pub fn of(names: &[String]) -> Self {
        let named = Stage::ALL.into_iter().filter(|stage| names.iter().any(|name| name == stage.name()));
        Stages(named.fold(0, |set, stage| set | 1 << stage as u8))
    }

    pub fn contains(self, stage: Stage) -> bool {
        self.0 & (1 << stage as u8) != 0
    }

    /// Returns the union of both sets.
    #[must_use]
    pub fn union(self, others: Self) -> Self {
        Stages(self.0 | others.0)
    }
}
