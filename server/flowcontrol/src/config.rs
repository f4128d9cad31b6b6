//! The configuration, in this crate's words: what FlowSchema and PriorityLevelConfiguration objects say.

/// Everything of its kind.
const ALL: &str = "*";
/// The name of the level, and of the schema, of requests that are never held back.
pub(crate) const EXEMPT: &str = "exempt";
/// The name of the level, and of the schema, of requests that nothing else matches.
pub(crate) const CATCH_ALL: &str = "catch-all";

/// Which requests belong to a level, and what tells its flows apart.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSchema {
    pub name: String,
    pub uid: String,
    /// Schemas with a smaller one are asked first; of several with the same, the first in order of names.
    pub precedence: i32,
    /// The name of the priority level.
    pub level: String,
    /// What makes two requests of the schema belong to different flows; none: all are one flow.
    pub distinguisher: Option<Distinguisher>,
    /// A request that any of them matches belongs here.
    pub rules: Vec<PolicyRule>,
}

/// What flows are told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distinguisher {
    ByUser,
    ByNamespace,
}

/// Who, and what.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyRule {
    pub subjects: Vec<Subject>,
    pub resources: Vec<ResourceRule>,
    pub paths: Vec<PathRule>,
}

/// Who. The name `*` stands for everybody of that kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    User(String),
    Group(String),
    ServiceAccount { namespace: String, name: String },
}

/// Requests for resources. `*` in a list stands for everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceRule {
    pub verbs: Vec<String>,
    pub groups: Vec<String>,
    pub resources: Vec<String>,
    /// Whether requests without a namespace match.
    pub cluster_scope: bool,
    /// The namespaces in which requests match.
    pub namespaces: Vec<String>,
}

/// Requests for other paths.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathRule {
    pub verbs: Vec<String>,
    /// Paths, and with `/*` at the end everything below one.
    pub paths: Vec<String>,
}

/// A part of the server's seats, and what becomes of requests that find none.
#[derive(Clone, Debug, PartialEq)]
pub struct PriorityLevel {
    pub name: String,
    pub uid: String,
    /// Its part of the seats, in proportion to the shares of all levels.
    pub shares: u32,
    /// Which part of its seats others may use, in percent.
    pub lendable_percent: u32,
    /// How many seats of others it may use, in percent of its own; none: as many as there are.
    pub borrowing_percent: Option<u32>,
    pub queuing: Queuing,
}

/// What becomes of requests that find no seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queuing {
    /// There is always a seat.
    Exempt,
    /// They are rejected.
    Reject,
    /// They wait in one of some queues of limited length; each flow has a hand of them.
    Queues { count: usize, hand_size: usize, length: usize },
}

impl Queuing {
    /// Whether requests are never held back.
    pub fn is_exempt(self) -> bool {
        self == Queuing::Exempt
    }
}

/// The levels without which there is no priority and fairness; they hold until objects say otherwise.
pub fn mandatory_levels() -> [PriorityLevel; 2] {
    let level = |name: &str, shares, borrowing_percent, queuing| PriorityLevel {
        name: name.to_owned(),
        uid: String::new(),
        shares,
        lendable_percent: 0,
        borrowing_percent,
        queuing,
    };
    [level(EXEMPT, 0, None, Queuing::Exempt), level(CATCH_ALL, 5, None, Queuing::Reject)]
}

/// The schemas without which there is no priority and fairness.
pub fn mandatory_schemas() -> [FlowSchema; 2] {
    let schema = |name: &str, precedence, distinguisher, groups: &[&str]| FlowSchema {
        name: name.to_owned(),
        uid: String::new(),
        precedence,
        level: name.to_owned(),
        distinguisher,
        rules: vec![everything(groups)],
    };
    [
        schema(EXEMPT, 1, None, &["system:masters"]),
        schema(CATCH_ALL, 10_000, Some(Distinguisher::ByUser), &["system:unauthenticated", "system:authenticated"]),
    ]
}

/// Everything that members of these groups may ask for.
fn everything(groups: &[&str]) -> PolicyRule {
    let all = || vec![ALL.to_owned()];
    PolicyRule {
        subjects: groups.iter().map(|group| Subject::Group((*group).to_owned())).collect(),
        resources: vec![ResourceRule {
            verbs: all(),
            groups: all(),
            resources: all(),
            cluster_scope: true,
            namespaces: all(),
        }],
        paths: vec![PathRule { verbs: all(), paths: all() }],
    }
}

/// A list of names, or all.
#[derive(Clone, Debug)]
pub(crate) enum Names {
    All,
    These(Vec<String>),
}

impl Names {
    /// Only a `*` that stands alone means all; validation lets no other stand.
    pub fn of(list: Vec<String>) -> Self {
        if list == [ALL] { Names::All } else { Names::These(list) }
    }

    /// Whether a name is among them.
    pub fn has(&self, name: &str) -> bool {
        self.any(|listed| listed == name)
    }

    /// Whether all are, or any that is listed fits.
    pub fn any(&self, fits: impl Fn(&str) -> bool) -> bool {
        match self {
            Names::All => true,
            Names::These(names) => names.iter().any(|name| fits(name)),
        }
    }
}
