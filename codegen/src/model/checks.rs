//! Checks of structs: their assertions and their conditions.

use super::Span;

/// A check, in the order of upstream's validation. Fields are identified by paths of JSON names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// Path of the field; empty for the struct itself, which is written `self`.
    pub field: String,
    pub when: Vec<Condition>,
    pub assertions: Vec<Assertion>,
    pub span: Span,
}

/// What a check asserts; `machinery::checks::Assertion` documents each variant. Values of enums are
/// stored as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assertion {
    Required(String),
    Filled(String),
    Optional,
    Forbidden(String),
    Missing(String),
    Invalid(String),
    /// The value that the message shows, and the detail.
    InvalidAs(String, String),
    /// The message shows `null` instead of the value.
    InvalidNull(String),
    /// The message shows no value.
    InvalidOmitted(String),
    Unsupported(Vec<String>),
    /// The field is forbidden whenever the conditions are met.
    Refused(String),
    /// An option, and the conditions that set it.
    Choose(String, Vec<Condition>),
    /// An option that receives the text of the field.
    ChooseText(String),
    /// The field is the only set member of its union; the detail is empty where upstream reports
    /// nothing.
    Member(String),
    Valid,
    Ratchet,
    /// Fields of the items, or none to compare the items themselves; and the detail.
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
    /// The label selector field, and the detail.
    Selected(String, String),
    Port,
    MaxBytes(i64, String),
    MaxItems(i64, String),
    MaxTotal(i64),
    /// A word of `format = ..`.
    Format(String),
    /// A word of `name = ..`: a name rule.
    Name(String),
    OneOf(Vec<String>),
    JsonObject,
    Each(Vec<Assertion>),
    Keys(Vec<Assertion>),
    EachKey(Vec<Assertion>),
    /// A quantity, by the resource of its map entry.
    Amount,
    /// Assertions about the key of the current map entry.
    Key(Vec<Assertion>),
    /// The maximum number of bytes of a key that errors show.
    ShortKeys(i64, Vec<Assertion>),
    /// The item field that pairs items with stored ones.
    Paired(String, Vec<Assertion>),
    Labels,
    Annotations,
    /// Opens sets of texts.
    Open(Vec<String>),
    /// Adds the text to a set; the second is the field by which the last text counts, or empty.
    Note(String, String),
    /// The text is in a set; the second is the detail.
    Noted(String, String),
    Unnoted(String, String),
    Json(Vec<Assertion>),
    /// Assertions that report another field of the struct.
    Show(String, Vec<Assertion>),
    Field(String, Vec<Assertion>),
    At(String, Vec<Assertion>),
    /// A part of the checks of the structs in the field; empty for checks outside of any part.
    Below(String),
    Inlined,
    /// A hand-written function for the structs in the field.
    ByHand(String),
}

/// When a check runs.
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
    /// The list has a different number of items than the stored one.
    Resized(String),
    /// The request has an empty list or map.
    SentEmpty(String),
    /// Two fields are equal.
    Same(String, String),
    /// The assertions hold for a field.
    Holds(String, Vec<Assertion>),
    /// The request uses one of these versions, each with its group.
    Version(Vec<String>),
    None(Vec<String>),
    Many(Vec<String>),
    Single(String),
    Text(String),
    Blank(String),
    /// The field is set, and no earlier `member` is.
    Member(String),
    /// No field of the struct with a `member` assertion is set.
    NoMember,
    Several,
    /// At least one item of a list meets the conditions.
    Some(String, Vec<Condition>),
    Fewer(String, Vec<Condition>),
    More(String, Vec<Condition>),
    Preceded(Vec<Condition>),
    Flips(Vec<Condition>),
    Above(String, i64),
    /// A field differs from the stored one, apart from the listed paths below it.
    Differs(String, Vec<String>),
    Zero(String),
    Matches(String, String),
    NoError,
    /// A named condition of the struct.
    Named(String, Span),
    Part(Vec<String>),
    Option(String),
    /// The field begins with one of the texts.
    Begins(String, Vec<String>),
    /// A field, and the set that has its text.
    Noted(String, String),
    /// A feature gate.
    Uses(String),
    Subresource(String),
    Gate(String),
}

impl Check {
    /// The functions that the assertions refer to.
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

    /// Whether the check asserts that its field is a member of a union.
    pub fn is_member(&self) -> bool {
        fn any(assertions: &[Assertion]) -> bool {
            assertions.iter().any(|one| matches!(one, Assertion::Member(_)) || any(one.inner()))
        }
        any(&self.assertions)
    }
}

impl Assertion {
    /// The nested assertions.
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
    /// The nested conditions.
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

    /// The list whose items the nested conditions apply to; empty if they apply to the struct itself.
    pub fn list(&self) -> &str {
        match self {
            Condition::Some(list, _) | Condition::Fewer(list, _) | Condition::More(list, _) => list,
            _ => "",
        }
    }

    /// The fields that the condition itself reads.
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

    /// The assertions that have to hold for the condition to be met.
    pub fn assertions(&self) -> &[Assertion] {
        match self {
            Condition::Holds(_, assertions) => assertions,
            _ => &[],
        }
    }
}

/// `#[condition(NAME, CONDITION, ..)]`: met if all of its conditions are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCondition {
    pub name: String,
    pub condition: Condition,
    pub span: Span,
}
