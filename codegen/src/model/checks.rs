//! Checks of structs: their assertions and their conditions.

use super::Span;

/// A check, in the order of upstream's validation. Fields are identified by paths of JSON names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// Path of the field; empty for the struct itself, which is written `self`.
    pub field: String,
    /// The conditions, all of which must hold; empty for a check that always runs.
    pub when: Vec<Condition>,
    /// The assertions in order.
    pub assertions: Vec<Assertion>,
    /// Place of the declaration.
    pub span: Span,
}

/// An assertion of a check (`docs/api-defs.md`).
///
/// A `String` at the end is the detail of the error; empty selects the default text. Values of enums are
/// stored as written. `machinery::checks::Assertion` is the generated form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assertion {
    /// The field is not empty; the remaining assertions are skipped if it is.
    Required(String),
    /// The field is not empty; the remaining assertions run even if it is.
    Filled(String),
    /// Skips the remaining assertions if the field is empty.
    Optional,
    /// The field is empty.
    Forbidden(String),
    /// Always reports the field as missing.
    Missing(String),
    /// Always reports the field as invalid.
    Invalid(String),
    /// Always reports the field as invalid, with the first text as its value.
    InvalidAs(String, String),
    /// Always reports the field as invalid, with the value `null`.
    InvalidNull(String),
    /// Always reports the field as invalid, without a value.
    InvalidOmitted(String),
    /// Always reports the field as unsupported, with these supported values.
    Unsupported(Vec<String>),
    /// Always reports the field as forbidden.
    Refused(String),
    /// Sets the option if the conditions hold, and unsets it otherwise.
    Choose(String, Vec<Condition>),
    /// Sets the option to the text of the field.
    ChooseText(String),
    /// The field is the only set member of its union; an empty detail rejects none.
    Member(String),
    /// Skips the remaining assertions if the field already has an error.
    Valid,
    /// Skips the remaining assertions if the value is stored.
    Ratchet,
    /// No earlier item has the same values in these fields; none is the whole item.
    Distinct(Vec<String>, String),
    /// No earlier item equals the value; a duplicate is reported as invalid.
    Unrepeated(String),
    /// A number or a quantity is greater than 0.
    Positive(String),
    /// A number or a quantity is not less than 0.
    NotNegative(String),
    /// An update does not change the field; a change is invalid.
    Immutable(String),
    /// An update does not change the field; a change is forbidden.
    Unchanged(String),
    /// A number or a quantity is at least this.
    Min(i64, String),
    /// A number or a quantity is at most this.
    Max(i64, String),
    /// A number is in this range, inclusive.
    Range(i64, i64, String),
    /// A number, time or quantity is at most that in another field.
    AtMost(String, String),
    /// A number, time or quantity is at least that in another field.
    AtLeast(String, String),
    /// A number, time or quantity is more than that in another field.
    MoreThan(String, String),
    /// An update does not decrease or remove a number.
    Grows(String),
    /// The label selector in another field matches the labels.
    Selected(String, String),
    /// A number is a port number, a text is a port name.
    Port,
    /// A text or raw JSON has at most this many bytes.
    MaxBytes(i64, String),
    /// A list or map has at most this many items.
    MaxItems(i64, String),
    /// The keys and values of a map have at most this many bytes in total.
    MaxTotal(i64),
    /// A text passes this function of `machinery::format::field`.
    Format(String),
    /// A text satisfies this `NameRule`.
    Name(String),
    /// A text, or each text of a list, is one of these.
    OneOf(Vec<String>),
    /// Raw JSON is an object or empty.
    JsonObject,
    /// The assertions hold for each item of a list or value of a map.
    Each(Vec<Assertion>),
    /// The assertions hold for each key of a map; errors name the map.
    Keys(Vec<Assertion>),
    /// The assertions hold for each key of a map; errors name the entry.
    EachKey(Vec<Assertion>),
    /// A quantity is valid for the resource of its map entry.
    Amount,
    /// The assertions hold for the key of the current map entry.
    Key(Vec<Assertion>),
    /// The assertions hold; errors show at most this many bytes of a key.
    ShortKeys(i64, Vec<Assertion>),
    /// The assertions hold; this field pairs items with stored ones.
    Paired(String, Vec<Assertion>),
    /// The keys and values of a map are valid labels.
    Labels,
    /// The keys and the size of a map are valid for annotations.
    Annotations,
    /// Opens empty sets of texts.
    Open(Vec<String>),
    /// Adds the text to a set that is open.
    ///
    /// The second is a field, each of whose values keeps only the last text; empty keeps all.
    Note(String, String),
    /// The text is in a set.
    Noted(String, String),
    /// The text is not in a set.
    Unnoted(String, String),
    /// The assertions hold; errors show texts as JSON.
    Json(Vec<Assertion>),
    /// The assertions hold; errors show another field of the struct.
    Show(String, Vec<Assertion>),
    /// The assertions hold for a field of the struct, or of each item.
    Field(String, Vec<Assertion>),
    /// The assertions hold; errors are reported at another field.
    At(String, Vec<Assertion>),
    /// The checks of the structs in the field hold: this part, or those without one.
    Below(String),
    /// The checks of the inlined structs of the struct hold.
    Inlined,
    /// A hand-written function checks the structs in the field.
    ByHand(String),
}

/// A condition of a check (`docs/api-defs.md`).
///
/// A first `String` is the path of the field. `machinery::checks::Condition` is the generated form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The request updates the object.
    Update,
    /// The request creates the object.
    Create,
    /// The field is set.
    Set(String),
    /// The field is not set.
    Unset(String),
    /// The field, or some item of a list, is one of these values.
    Is(String, Vec<String>),
    /// The condition does not hold.
    Not(Box<Condition>),
    /// One of the conditions holds.
    Any(Vec<Condition>),
    /// All of the conditions hold.
    All(Vec<Condition>),
    /// The condition holds for the stored struct.
    Was(Box<Condition>),
    /// The field differs from the stored one, or nothing is stored.
    Changed(String),
    /// The list or map has a different number of items than the stored one.
    Resized(String),
    /// The request sent an empty list or map.
    SentEmpty(String),
    /// Two fields are equal.
    Same(String, String),
    /// The field has no errors by these assertions.
    Holds(String, Vec<Assertion>),
    /// The version of the request is one of these, such as `apps/v1`.
    Version(Vec<String>),
    /// None of the fields is set.
    None(Vec<String>),
    /// More than one of the fields is set.
    Many(Vec<String>),
    /// The list or map has one item.
    Single(String),
    /// The `IntOrString` is a text.
    Text(String),
    /// The text is absent or has only white space.
    Blank(String),
    /// The field is set, and no field with an earlier `member` assertion is.
    Member(String),
    /// No field of the struct with a `member` assertion is set.
    NoMember,
    /// The list that contains the struct has several items.
    Several,
    /// Some item of the list meets the conditions.
    Some(String, Vec<Condition>),
    /// Fewer items of the list meet the conditions than of the stored list.
    Fewer(String, Vec<Condition>),
    /// More items of the list meet the conditions than of the stored list.
    More(String, Vec<Condition>),
    /// Some item before the struct in its list meets the conditions.
    Preceded(Vec<Condition>),
    /// A condition holds for exactly one of the new and the stored struct.
    Flips(Vec<Condition>),
    /// The number is greater than this.
    Above(String, i64),
    /// An update changes the field, apart from these paths below it.
    Differs(String, Vec<String>),
    /// The number or percentage is 0 or not set.
    Zero(String),
    /// The text matches the regular expression.
    Matches(String, String),
    /// The object has no errors so far.
    NoError,
    /// A named condition of the struct holds.
    Named(String, Span),
    /// The caller runs one of these parts of the checks.
    Part(Vec<String>),
    /// The option is set.
    Option(String),
    /// The text begins with one of these.
    Begins(String, Vec<String>),
    /// The text is in the set.
    Noted(String, String),
    /// The struct uses a field or a value of this feature gate.
    Uses(String),
    /// The request writes this subresource; empty is the object itself.
    Subresource(String),
    /// The feature gate is enabled.
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

    /// The list whose items the nested conditions apply to.
    ///
    /// Empty if they apply to the struct itself.
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
    /// The name, which is no word of conditions.
    pub name: String,
    /// The condition that the name stands for.
    pub condition: Condition,
    /// Place of the declaration.
    pub span: Span,
}
