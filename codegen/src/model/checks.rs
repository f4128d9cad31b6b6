//! Checks of structs: what they assert, and when they are made.

use super::Span;

/// A check in the order of upstream's validation. Fields are named by paths of JSON names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// Empty for the struct itself, which is written `self`.
    pub field: String,
    pub when: Vec<Condition>,
    pub assertions: Vec<Assertion>,
    pub span: Span,
}

/// What a check asserts; `machinery::checks::Assertion` says what each means. Values of enums are as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assertion {
    Required(String),
    Filled(String),
    Optional,
    Forbidden(String),
    Missing(String),
    Invalid(String),
    /// What the message shows, and the detail.
    InvalidAs(String, String),
    /// The message shows `null` instead of the value.
    InvalidNull(String),
    /// The message shows no value.
    InvalidOmitted(String),
    Unsupported(Vec<String>),
    /// The field is forbidden whenever the conditions hold.
    Refused(String),
    /// An option, and the conditions under which it is chosen.
    Choose(String, Vec<Condition>),
    /// An option that takes the text of the field.
    Tell(String),
    /// The only member of its union; the detail is empty where upstream does not refuse it.
    Member(String),
    Valid,
    Ratchet,
    /// Fields of the items, or none where the value itself is compared, and the detail.
    Distinct(Vec<String>, String),
    Unrepeated(String),
    Positive(String),
    NotNegative(String),
    Immutable(String),
    Unchanged(String),
    Min(i64, String),
    Max(i64, String),
    Range(i64, i64, String),
    AtMost(String, String),
    AtLeast(String, String),
    MoreThan(String, String),
    Grows(String),
    /// The field of the label selector, and the detail.
    Selected(String, String),
    Port,
    MaxBytes(i64, String),
    MaxItems(i64, String),
    MaxTotal(i64),
    /// A word of `format = ..`.
    Format(String),
    /// A word of `name = ..`: a rule of names.
    Name(String),
    OneOf(Vec<String>),
    JsonObject,
    Each(Vec<Assertion>),
    Keys(Vec<Assertion>),
    EachKey(Vec<Assertion>),
    /// By the resource whose entry it is.
    Amount,
    /// Of the entry that is looked at.
    Key(Vec<Assertion>),
    /// The bytes of a key that errors show at most.
    ShortKeys(i64, Vec<Assertion>),
    /// The field of items by which stored ones are found.
    Paired(String, Vec<Assertion>),
    Labels,
    Annotations,
    /// Sets of texts.
    Open(Vec<String>),
    /// A set, and the field by which the last text counts, or nothing.
    Note(String, String),
    /// A set, and the detail.
    Noted(String, String),
    Unnoted(String, String),
    Json(Vec<Assertion>),
    /// Another field of the struct.
    Show(String, Vec<Assertion>),
    Field(String, Vec<Assertion>),
    At(String, Vec<Assertion>),
    /// A part of the checks of the structs in the field; empty for those that are in none.
    Below(String),
    Inlined,
    /// A function for the structs in the field.
    ByHand(String),
}

/// When a check is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    Update,
    Create,
    Set(String),
    Unset(String),
    Is(String, Vec<String>),
    Not(Box<Condition>),
    Any(Vec<Condition>),
    All(Vec<Condition>),
    Was(Box<Condition>),
    Changed(String),
    /// The list has another number of items than the stored one.
    Resized(String),
    /// An empty list or map was sent.
    SentEmpty(String),
    /// Two fields hold the same.
    Same(String, String),
    /// Nothing is wrong with a field.
    Holds(String, Vec<Assertion>),
    /// The request names one of these versions, each with its group.
    Version(Vec<String>),
    None(Vec<String>),
    Many(Vec<String>),
    Single(String),
    Text(String),
    Blank(String),
    /// The field is set, and no `member` before it.
    Member(String),
    /// No field of the struct that is asserted to be a `member` is set.
    NoMember,
    Several,
    /// Conditions of items of a list.
    Some(String, Vec<Condition>),
    Fewer(String, Vec<Condition>),
    More(String, Vec<Condition>),
    Preceded(Vec<Condition>),
    Flips(Vec<Condition>),
    Above(String, i64),
    /// A field, and what below it may change.
    Differs(String, Vec<String>),
    Zero(String),
    Matches(String, String),
    NoError,
    /// A condition of the struct that has a name.
    Named(String, Span),
    Part(Vec<String>),
    Option(String),
    /// Texts that the field may begin with.
    Begins(String, Vec<String>),
    /// A set of texts.
    Noted(String, String),
    /// A gate.
    Uses(String),
    Subresource(String),
    Gate(String),
}

impl Check {
    /// The functions that its assertions name.
    pub fn functions(&self) -> Vec<&str> {
        fn collect<'a>(assertions: &'a [Assertion], out: &mut Vec<&'a str>) {
            for assertion in assertions {
                match assertion {
                    Assertion::ByHand(function) => out.push(function),
                    other => collect(other.inner(), out),
                }
            }
        }
        let mut out = Vec::new();
        collect(&self.assertions, &mut out);
        out
    }

    /// Whether it asserts that its field is a member of a union.
    pub fn is_member(&self) -> bool {
        fn any(assertions: &[Assertion]) -> bool {
            assertions.iter().any(|one| matches!(one, Assertion::Member(_)) || any(one.inner()))
        }
        any(&self.assertions)
    }
}

impl Assertion {
    /// The assertions that it is made of.
    pub fn inner(&self) -> &[Assertion] {
        match self {
            Assertion::Each(inner)
            | Assertion::Keys(inner)
            | Assertion::EachKey(inner)
            | Assertion::Key(inner)
            | Assertion::ShortKeys(_, inner)
            | Assertion::Paired(_, inner)
            | Assertion::Json(inner)
            | Assertion::Show(_, inner)
            | Assertion::Field(_, inner)
            | Assertion::At(_, inner) => inner,
            _ => &[],
        }
    }
}

impl Condition {
    /// The conditions that it is made of.
    pub fn inner(&self) -> &[Condition] {
        match self {
            Condition::Not(inner) | Condition::Was(inner) => std::slice::from_ref(inner),
            Condition::Any(inner)
            | Condition::All(inner)
            | Condition::Some(_, inner)
            | Condition::Fewer(_, inner)
            | Condition::More(_, inner)
            | Condition::Preceded(inner)
            | Condition::Flips(inner) => inner,
            _ => &[],
        }
    }

    /// The field that its inner conditions are about the items of; empty where they are about the struct itself.
    pub fn list(&self) -> &str {
        match self {
            Condition::Some(list, _) | Condition::Fewer(list, _) | Condition::More(list, _) => list,
            _ => "",
        }
    }

    /// The fields that it looks at itself.
    pub fn fields(&self) -> Vec<&String> {
        match self {
            Condition::None(fields) | Condition::Many(fields) => fields.iter().collect(),
            Condition::Same(one, other) => vec![one, other],
            Condition::Set(field)
            | Condition::Unset(field)
            | Condition::Single(field)
            | Condition::Text(field)
            | Condition::Blank(field)
            | Condition::Member(field)
            | Condition::Is(field, _)
            | Condition::Begins(field, _)
            | Condition::Noted(field, _)
            | Condition::Holds(field, _)
            | Condition::Resized(field)
            | Condition::SentEmpty(field)
            | Condition::Some(field, _)
            | Condition::Fewer(field, _)
            | Condition::More(field, _)
            | Condition::Above(field, _)
            | Condition::Differs(field, _)
            | Condition::Zero(field)
            | Condition::Matches(field, _)
            | Condition::Changed(field) => vec![field],
            _ => Vec::new(),
        }
    }

    /// What is to hold for it to be met.
    pub fn assertions(&self) -> &[Assertion] {
        match self {
            Condition::Holds(_, assertions) => assertions,
            _ => &[],
        }
    }
}

/// `#[condition(NAME, CONDITION, ..)]`: it holds if all of these do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCondition {
    pub name: String,
    pub condition: Condition,
    pub span: Span,
}
