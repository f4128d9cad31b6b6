//! How much is recorded of a request, and when.

/// How much is recorded (`audit.Level`). Each level has what the ones before it have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    #[default]
    None,
    /// Who asked for what, and what became of it.
    Metadata,
    /// The object that was sent, too.
    Request,
    /// The object that was answered, too.
    RequestResponse,
}

impl Level {
    /// The names, from the least to the most.
    pub const NAMES: [&str; 4] = ["None", "Metadata", "Request", "RequestResponse"];

    const ALL: [Level; 4] = [Level::None, Level::Metadata, Level::Request, Level::RequestResponse];

    /// The level of a name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }

    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// A moment in the life of a request (`audit.Stage`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Before anybody has looked at it.
    RequestReceived,
    /// The head of an answer was sent whose body takes its time: watches, connections.
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
    /// The stages of these names; names that are none are passed over.
    pub fn of(names: &[String]) -> Self {
        let named = Stage::ALL.into_iter().filter(|stage| names.iter().any(|name| name == stage.name()));
        Stages(named.fold(0, |set, stage| set | 1 << stage as u8))
    }

    pub fn contains(self, stage: Stage) -> bool {
        self.0 & (1 << stage as u8) != 0
    }

    #[must_use]
    pub fn and(self, others: Self) -> Self {
        Stages(self.0 | others.0)
    }
}
