//! The configuration: the content of FlowSchema and PriorityLevelConfiguration objects.

/// The wildcard: matches all names.
const ALL: &str = "*";
/// The name of the level, and of the schema, of requests that are never queued or rejected.
pub(crate) const EXEMPT: &str = "exempt";
/// The name of the level, and of the schema, of requests that no other schema matches.
pub(crate) const CATCH_ALL: &str = "catch-all";

/// Selects the requests of a level, and defines how they are divided into flows.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSchema {
    pub name: String,
    pub uid: String,
    /// Schemas are tried in ascending order of precedence, then of name.
    pub precedence: i32,
    /// The name of the priority level.
    pub level: String,
    /// How requests of the schema are divided into flows; `None` makes all of them one flow.
    pub distinguisher: Option<Distinguisher>,
    /// The schema matches a request if any rule does.
    pub rules: Vec<PolicyRulesWithSubjects>,
}

/// The request attribute that identifies a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distinguisher {
    ByUser,
    ByNamespace,
}

/// Subjects, and the requests by them that match.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyRulesWithSubjects {
    pub subjects: Vec<Subject>,
    pub resources: Vec<ResourceRule>,
    pub paths: Vec<PathRule>,
}

/// A subject. The name `*` matches all subjects of that kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    User(String),
    Group(String),
    ServiceAccount { namespace: String, name: String },
}

/// Matches resource requests. `*` in a list matches everything.
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

/// Matches non-resource requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathRule {
    pub verbs: Vec<String>,
    /// Paths. `/*` at the end of a path matches everything below it.
    pub paths: Vec<String>,
}

/// A share of the server's seats, and the response to requests when no seat is free.
#[derive(Clone, Debug, PartialEq)]
pub struct PriorityLevel {
    pub name: String,
    pub uid: String,
    /// The level's seats are the server's seats times its shares, divided by the shares of all
    /// levels.
    pub shares: u32,
    /// The percentage of the level's seats that other levels may borrow.
    pub lendable_percent: u32,
    /// The seats that the level may borrow, in percent of its own; `None` means no limit.
    pub borrowing_percent: Option<u32>,
    pub queuing: Queuing,
}

/// The response to requests when no seat is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queuing {
    /// Requests run without waiting; there is no limit of seats.
    Exempt,
    /// Requests are rejected.
    Reject,
    /// Requests wait in queues of limited length. Shuffle sharding gives each flow a hand of the
    /// queues.
    Queues { count: usize, hand_size: usize, length: usize },
}

impl Queuing {
    /// Whether requests are never queued or rejected.
    pub fn is_exempt(self) -> bool {
        self == Queuing::Exempt
    }
}

/// The mandatory levels. They apply until objects with the same names exist.
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

/// The mandatory schemas.
pub fn mandatory_schemas() -> [FlowSchema; 2] {
    let schema = |name: &str, precedence, distinguisher, groups: &[&str]| FlowSchema {
        name: name.to_owned(),
        uid: String::new(),
        precedence,
        level: name.to_owned(),
        distinguisher,
        rules: vec![match_all_rule(groups)],
    };
    [
        schema(EXEMPT, 1, None, &["system:masters"]),
        schema(CATCH_ALL, 10_000, Some(Distinguisher::ByUser), &["system:unauthenticated", "system:authenticated"]),
    ]
}

/// A rule that matches all requests by members of these groups.
fn match_all_rule(groups: &[&str]) -> PolicyRulesWithSubjects {
    let all = || vec![ALL.to_owned()];
    PolicyRulesWithSubjects {
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

/// A list of names, or all names.
#[derive(Clone, Debug)]
pub(crate) enum NameMatcher {
    All,
    These(Vec<String>),
}

impl NameMatcher {
    /// Creates the list. Only a `*` that stands alone means all; validation rejects it beside other
    /// names.
    pub fn of(list: Vec<String>) -> Self {
        if list == [ALL] { NameMatcher::All } else { NameMatcher::These(list) }
    }

    /// Whether the list contains the name.
    pub fn has(&self, name: &str) -> bool {
        self.any(|listed| listed == name)
    }

    /// Whether the list is `All`, or any of its names satisfies the predicate.
    pub fn any(&self, fits: impl Fn(&str) -> bool) -> bool {
        match self {
            NameMatcher::All => true,
            NameMatcher::These(names) => names.iter().any(|name| fits(name)),
        }
    }
}
