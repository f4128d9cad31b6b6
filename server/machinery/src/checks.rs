//! Checks of upstream's hand-written validation, declared with `#[check(..)]`, in the order in which upstream makes them.
//!
//! A struct has a list of [`CheckDef`]s. Each looks at one field, under conditions, and asserts one thing after the other.
//! The assertion [`Assertion::Below`] goes on with the checks of the structs that the field holds.

mod compare;
mod conditions;
mod items;
mod notes;
mod of;
mod plan;
mod scalar;
mod shown;
#[cfg(test)]
mod tests;

use self::items::Items;
pub use self::notes::Notes;
use self::of::{Around, Of, length};
pub(crate) use self::plan::Plan;
use self::plan::Planned;
use crate::field_error::{BadValue, FieldError};
use crate::field_path::Path;
use crate::format::{self, NameRule};
use crate::hooks::{ValidateFn, Validation};
use crate::reflect::{Map, Ref, Struct, Value};

/// A check of a struct (`#[check(..)]`).
#[derive(Clone, Copy, Debug)]
pub struct CheckDef {
    /// JSON names on the way to the field that is looked at; none for the struct itself.
    pub field: &'static [&'static str],
    /// The check is made if all of these hold; the parts that it belongs to come first.
    pub when: &'static [Condition],
    /// What is asserted, in order.
    pub assertions: &'static [Assertion],
}

/// What a check asserts of a field. A detail that is empty stands for upstream's usual one.
#[derive(Clone, Copy, Debug)]
pub enum Assertion {
    /// The field is not empty. Nothing else is asserted of an empty one.
    Required(&'static str),
    /// The field is not empty. What follows is asserted of an empty one, too.
    Filled(&'static str),
    /// Nothing else is asserted of an empty field.
    Optional,
    /// The field is empty.
    Forbidden(&'static str),
    /// The field is missing: for checks with conditions.
    Missing(&'static str),
    /// The field is invalid: for checks with conditions.
    Invalid(&'static str),
    /// The field is invalid, and the message shows this text instead of the value.
    InvalidAs(&'static str, &'static str),
    /// The field is invalid, and the message shows null.
    InvalidNull(&'static str),
    /// The field is invalid, and the message shows no value.
    InvalidOmitted(&'static str),
    /// The field is reported as none of these: for checks with conditions.
    Unsupported(&'static [&'static str]),
    /// The field is forbidden: for checks with conditions.
    Refused(&'static str),
    /// Nothing; the option is chosen from now on if these conditions hold, and not chosen if they do not.
    Choose(&'static str, &'static [Condition]),
    /// Nothing; the option is chosen from now on, with the text of the field.
    Tell(&'static str),
    /// The field is not empty only if these fields are: for members of unions. Nothing else is asserted of an empty
    /// field and of one that is refused. An empty detail refuses nothing.
    Member(&'static str, &'static [&'static [&'static str]]),
    /// Nothing else is asserted of a field that something is wrong with already.
    Valid,
    /// Nothing else is asserted of a value that is stored there: in the same field, or in an item of the stored list.
    Ratchet,
    /// No item of the list before this one has the same value, or the same values in these fields. Nothing else is
    /// asserted of one that has.
    Distinct(&'static [&'static [&'static str]], &'static str),
    /// Likewise of the value itself; one that was there before is invalid.
    Unrepeated(&'static str),
    /// An update leaves the field as it was.
    Immutable(&'static str),
    /// An update must not change the field, which is forbidden.
    Unchanged(&'static str),
    /// A number, or a quantity rounded away from zero to one, is at least this.
    Min(i64, &'static str),
    /// A number, or a quantity rounded away from zero to one, is at most this.
    Max(i64, &'static str),
    /// A number is between these two, both included.
    Range(i64, i64, &'static str),
    /// A number, a time or a quantity is at most the one in another field of the struct.
    AtMost(&'static [&'static str], &'static str),
    /// A number, a time or a quantity is at least the one in another field of the struct.
    AtLeast(&'static [&'static str], &'static str),
    /// A number, a time or a quantity is more than the one in another field of the struct.
    MoreThan(&'static [&'static str], &'static str),
    /// An update does not make a number less, or take it away.
    Grows(&'static str),
    /// Labels are selected by the label selector in another field of the struct. One that is malformed asks for
    /// nothing.
    Selected(&'static [&'static str], &'static str),
    /// A number is that of a port, a text the name of one.
    Port,
    /// A number or a quantity is more than 0.
    Positive(&'static str),
    /// A number or a quantity is not less than 0.
    NotNegative(&'static str),
    /// A text has at most so many bytes. With a detail the value is invalid, and shown.
    MaxBytes(usize, &'static str),
    /// A list or map has at most so many items. With a detail the value is invalid, and shown.
    MaxItems(usize, &'static str),
    /// The keys and values of a map have together at most so many bytes.
    MaxTotal(usize),
    /// A text has a format.
    Format(TextCheck),
    /// A text is a name by a rule.
    Name(NameRule),
    /// A text, or each text of a list, is one of these. The message shows them in this order.
    OneOf(&'static [&'static str]),
    /// Raw JSON, unless it is empty, is an object.
    JsonObject,
    /// These hold for each item of a list and each value of a map.
    Each(&'static [Assertion]),
    /// These hold for each key of a map, at the path of the map.
    Keys(&'static [Assertion]),
    /// These hold for each key of a map, at the path of its entry.
    EachKey(&'static [Assertion]),
    /// A quantity in a map of resources is an amount of the one that it is the entry of.
    Amount,
    /// These hold for the key of the entry that [`Self::Each`] looks at, at the path of the entry.
    Key(&'static [Assertion]),
    /// These hold; paths of entries show of longer keys the beginning and the end, so many bytes in all.
    ShortKeys(usize, &'static [Assertion]),
    /// These hold; the stored form of an item of the list is the first that is stored with the same value in this
    /// field.
    Paired(&'static str, &'static [Assertion]),
    /// The keys and values of a map are those of labels.
    Labels,
    /// The keys of a map are those of annotations, and it is no larger than annotations may be.
    Annotations,
    /// Nothing; these sets of texts are there, and empty, until the checks of the struct are done.
    Open(&'static [&'static str]),
    /// Nothing; the text is in the set from now on, if that is open. Of texts that have the same text in another field of
    /// the struct the last one is in the set.
    Note(&'static str, &'static [&'static str]),
    /// The text is in an open set. Without a detail it is reported as not found.
    Noted(&'static str, &'static str),
    /// The text is not in an open set. Without a detail it is reported as a duplicate.
    Unnoted(&'static str, &'static str),
    /// These hold; errors show texts as JSON.
    Json(&'static [Assertion]),
    /// These hold; errors show another field of the struct.
    Show(&'static [&'static str], &'static [Assertion]),
    /// These hold for a field of the struct in the field.
    Field(&'static [&'static str], &'static [Assertion]),
    /// These hold; what is wrong is reported at this field of the same struct. Before the name, `../` goes up a step; a
    /// slash begins a place of the whole object.
    At(&'static str, &'static [Assertion]),
    /// The checks of the structs in the field hold: those of this part, or those of none where this is empty.
    Below(&'static str),
    /// The checks of the structs that are inlined in the struct in the field hold.
    Inlined,
    /// A function written by hand checks the structs in the field.
    ByHand(ValidateFn),
}

/// What is wrong with a text.
pub type TextCheck = fn(&Path<'_>, &str) -> Vec<FieldError>;

/// When a check is made. Fields are named by the JSON names on the way to them from the struct of the check.
#[derive(Clone, Copy, Debug)]
pub enum Condition {
    /// The object is changed, not created.
    Update,
    /// The object is created.
    Create,
    /// A field is not empty.
    Set(&'static [&'static str]),
    /// A field is empty.
    Unset(&'static [&'static str]),
    /// A text, a number or a truth value is one of these, or some item of a list is.
    Is(&'static [&'static str], &'static [&'static str]),
    /// None of the fields is set.
    None(&'static [&'static [&'static str]]),
    /// More than one of the fields is set.
    Many(&'static [&'static [&'static str]]),
    /// A list or map has one item.
    Single(&'static [&'static str]),
    /// A text stands where a number may stand as well.
    Text(&'static [&'static str]),
    /// A text is not there, or has nothing but white space.
    Blank(&'static [&'static str]),
    /// A text begins with one of these.
    Begins(&'static [&'static str], &'static [&'static str]),
    /// A text is in an open set.
    Noted(&'static [&'static str], &'static str),
    /// The struct has something that a feature gate stands before.
    Uses(&'static str),
    /// The condition does not hold.
    Not(&'static Condition),
    /// One of the conditions holds.
    Any(&'static [Condition]),
    /// All of the conditions hold.
    All(&'static [Condition]),
    /// The condition holds for what is stored.
    Was(&'static Condition),
    /// A field is not what is stored, or nothing is stored. Behind a list it is the field of each item.
    Changed(&'static [&'static str]),
    /// A list or map has not as many items as what is stored.
    Resized(&'static [&'static str]),
    /// An empty list or map was sent.
    SentEmpty(&'static [&'static str]),
    /// Two fields hold the same.
    Same(&'static [&'static str], &'static [&'static str]),
    /// Nothing is wrong with a field.
    Holds(&'static [&'static str], &'static [Assertion]),
    /// The request names one of these groups and versions: `apps/v1`, `v1`.
    Version(&'static [&'static str]),
    /// The struct is one of several items of its list.
    Several,
    /// Some item of a list meets all of the conditions.
    Some(&'static [&'static str], &'static [Condition]),
    /// Fewer items of a list meet all of the conditions than of the stored list.
    Fewer(&'static [&'static str], &'static [Condition]),
    /// More items of a list meet all of the conditions than of the stored list.
    More(&'static [&'static str], &'static [Condition]),
    /// Some item before the struct in its list meets all of the conditions.
    Preceded(&'static [Condition]),
    /// One of the conditions holds and did not for what is stored, or the other way round.
    Flips(&'static [Condition]),
    /// A number is more than this one.
    Above(&'static [&'static str], i64),
    /// An update changes a field, apart from these below it.
    Differs(&'static [&'static str], &'static [&'static [&'static str]]),
    /// A number or a percentage is 0 or not set.
    Zero(&'static [&'static str]),
    /// A text matches a regular expression.
    Matches(&'static [&'static str], &'static str),
    /// Nothing that is wrong was found in the object so far.
    NoError,
    /// What asks for the checks asks for one of these parts of them; the part without a name is that of checks that do
    /// not have this condition.
    Part(&'static [&'static str]),
    /// What asks for the checks has chosen this option ([`Validation::options`]).
    Option(&'static str),
    /// A subresource is written, or the object itself where this is empty.
    Subresource(&'static str),
    /// A feature gate is on.
    Gate(&'static str),
}

impl Validation<'_> {
    /// Makes the declared checks of a struct; `old` is its stored form, on updates.
    pub fn checks(&mut self, path: &Path<'_>, new: Ref<'_>, old: Option<Ref<'_>>) {
        self.checks_of("", path, new, old);
    }

    /// Makes a part of the declared checks of a struct.
    pub fn checks_of(&mut self, part: &'static str, path: &Path<'_>, new: Ref<'_>, old: Option<Ref<'_>>) {
        self.checks_in(part, &Of::structure(path, &Around::of(new, None), old));
    }

    /// Makes the declared checks of the items of a list.
    pub fn checks_of_items<T: Struct>(&mut self, path: &Path<'_>, items: &[T]) {
        let list = Items::new(items.len(), Value::Null, None);
        for (index, item) in items.iter().enumerate() {
            let around = Around::of(Ref::of(item), Some(&list));
            self.checks_in("", &Of::structure(&path.index(index), &around, None));
        }
    }

    fn checks_in(&mut self, part: &'static str, of: &Of<'_>) {
        let Value::Struct(new) = of.new else { return };
        let open = self.notes.len();
        let checks = new.def().planned_checks().part(part);
        let mut next = 0;
        while let Some(planned) = checks.get(next) {
            if planned.finds_nothing(new) {
                next = planned.behind as usize;
                continue;
            }
            let unmet = planned.when.iter().position(|condition| !condition.holds(self, new, of));
            // Nothing is made on the way to the next check that has another first condition.
            next = if unmet == Some(0) { planned.behind_condition as usize } else { next + 1 };
            if unmet.is_none() {
                self.make(planned, of);
            }
        }
        self.notes.truncate(open);
    }

    /// Makes a check whose conditions hold.
    fn make(&mut self, planned: &Planned, of: &Of<'_>) {
        if let (Some(choice), Value::Struct(new)) = (&planned.choice, of.new) {
            let is_chosen = choice.when.iter().all(|condition| condition.holds(self, new, of));
            return self.set_option(choice.option, is_chosen);
        }
        let (Some(place), Value::Struct(new)) = (planned.field, of.new) else {
            if planned.name.is_empty() {
                self.assert_all(planned.assertions, of);
            }
            return;
        };
        let path = of.path.child(planned.name);
        self.walk(planned.rest, planned.assertions, &of.field_of(&path, new, place));
    }

    /// Goes on to a field, in each item of a list. Nothing is asserted of a field below a struct that is not there.
    fn walk(&mut self, field: &[&'static str], assertions: &[Assertion], of: &Of<'_>) -> bool {
        let Some((name, rest)) = field.split_first() else { return self.assert_all(assertions, of) };
        if matches!(of.new, Value::StructList(_)) && name.parse::<usize>().is_err() {
            of.each(|item| {
                self.walk(field, assertions, item);
            });
            return true;
        }
        let mut next = Of { path: &of.path_to(name), ..*of };
        !next.advance(name) || self.walk(rest, assertions, &next)
    }

    /// Whether the next assertion is to be made.
    fn assert_all(&mut self, assertions: &[Assertion], of: &Of<'_>) -> bool {
        let before = self.errors.len();
        assertions.iter().all(|assertion| match assertion {
            Assertion::Valid => self.errors.len() == before,
            assertion => self.assert_field(assertion, of),
        })
    }

    fn assert_field(&mut self, assertion: &Assertion, of: &Of<'_>) -> bool {
        let empty = of.is_empty();
        match *assertion {
            Assertion::Required(detail) if empty => {
                self.required(of.path, detail);
                return false;
            }
            Assertion::Optional => return !empty,
            Assertion::Ratchet => return !of.is_stored(),
            Assertion::Member(detail, others) => return self.member(detail, others, of),
            Assertion::Distinct(fields, detail) => return self.distinct(fields, detail, of),
            Assertion::Unrepeated(detail) => return self.unrepeated(detail, of),
            Assertion::At(name, inner) => {
                return self.assert_all(inner, &Of { path: &of.path.relative(name), ..*of });
            }
            Assertion::Filled(detail) if empty => self.required(of.path, detail),
            Assertion::Forbidden(detail) if !empty => self.forbidden(of.path, of.filled_in(detail)),
            Assertion::Missing(detail) => self.required(of.path, detail),
            Assertion::Invalid(detail) => self.invalid(of.path, of.shown(), of.filled_in(detail)),
            Assertion::InvalidAs(shown, detail) => self.invalid(of.path, shown, detail),
            Assertion::InvalidNull(detail) => self.invalid(of.path, BadValue::None, detail),
            Assertion::InvalidOmitted(detail) => self.invalid(of.path, BadValue::Omitted, detail),
            Assertion::Unsupported(known) => self.not_supported(of.path, of.shown(), known),
            Assertion::Refused(detail) => self.forbidden(of.path, of.filled_in(detail)),
            Assertion::Choose(option, conditions) => {
                let is_chosen = conditions.iter().all(|condition| self.holds(condition, of));
                self.set_option(option, is_chosen);
            }
            Assertion::Immutable(detail) if of.has_changed() => {
                self.invalid(of.path, of.shown(), or(detail, "field is immutable"));
            }
            Assertion::Unchanged(detail) if of.has_changed() => self.forbidden(of.path, detail),
            Assertion::MaxItems(max, detail) if length(of.new) > max => match detail {
                "" => self.too_many(of.path, length(of.new), max),
                detail => self.invalid(of.path, of.shown(), detail),
            },
            _ => self.assert_parts(assertion, of),
        }
        true
    }

    /// What holds for parts of a field: items, entries, keys, structs.
    fn assert_parts(&mut self, assertion: &Assertion, of: &Of<'_>) {
        match *assertion {
            Assertion::Each(inner) => of.each(|item| {
                self.assert_all(inner, item);
            }),
            Assertion::Keys(inner) => self.assert_keys(of, |own, key| {
                own.assert_all(inner, key);
            }),
            Assertion::EachKey(inner) => self.assert_keys(of, |own, key| {
                if let Value::String(text) = key.new {
                    own.assert_all(inner, &Of { path: &key.path.key(text), ..*key });
                }
            }),
            Assertion::Key(inner) => {
                if let Some(key) = of.key {
                    let around = Around::of(of.around.home, of.around.items);
                    self.assert_all(inner, &of.part(of.path, Value::String(key), &around));
                }
            }
            Assertion::Amount => {
                if let (Some(key), Value::Quantity(amount)) = (of.key, of.new) {
                    self.errors.extend(format::resource::amount_errors(of.path, key, amount));
                }
            }
            Assertion::ShortKeys(max, inner) => {
                let around = Around { key_bytes: max, ..*of.around };
                self.assert_all(inner, &Of { around: &around, ..*of });
            }
            Assertion::Paired(field, inner) => {
                let around = Around { pairing: field, ..*of.around };
                self.assert_all(inner, &Of { around: &around, ..*of });
            }
            Assertion::Labels => self.labels(of),
            Assertion::Tell(option) => self.set_option_to(option, of.text().map(String::from)),
            Assertion::Inlined => of.each_struct(|item| item.inlined(|inner| self.checks_in("", inner))),
            Assertion::Annotations => self.annotations(of),
            Assertion::Open(_) | Assertion::Note(..) | Assertion::Noted(..) | Assertion::Unnoted(..) => {
                self.assert_notes(assertion, of)
            }
            Assertion::Json(inner) => self.assert_shown(inner, of, |shown| match shown {
                BadValue::String(text) => BadValue::json_string(&text),
                other => other,
            }),
            Assertion::Show(field, inner) => self.assert_shown(inner, of, |_| of.of_home(field).shown()),
            Assertion::Field(field, inner) => {
                self.walk(field, inner, of);
            }
            Assertion::Below(part) => of.each_struct(|item| self.checks_in(part, item)),
            Assertion::ByHand(function) => of.each_struct(|item| {
                if let Value::Struct(new) = item.new {
                    function(self, item.path, new, item.old.and_then(Value::as_struct));
                }
            }),
            _ => self.compare(assertion, of),
        }
    }

    /// Makes assertions of each key of a map, at the path of the map.
    fn assert_keys(&mut self, of: &Of<'_>, assert: impl Fn(&mut Self, &Of<'_>)) {
        let around = Around::of(of.around.home, of.around.items);
        for key in of.keys() {
            assert(self, &of.part(of.path, Value::String(key), &around));
        }
    }

    /// Makes assertions whose errors show something else.
    fn assert_shown(&mut self, assertions: &[Assertion], of: &Of<'_>, shown: impl Fn(BadValue) -> BadValue) {
        let before = self.errors.len();
        self.assert_all(assertions, of);
        for error in &mut self.errors[before..] {
            error.bad_value = shown(std::mem::replace(&mut error.bad_value, BadValue::None));
        }
    }

    fn labels(&mut self, of: &Of<'_>) {
        let Value::Map(Map::String(labels)) = of.new else { return };
        for (name, value) in labels {
            self.malformed(of.path, name, format::is_qualified_name(name));
            self.malformed(of.path, value, format::is_label_value(value));
        }
    }

    fn annotations(&mut self, of: &Of<'_>) {
        let Value::Map(Map::String(annotations)) = of.new else { return };
        for name in annotations.keys() {
            self.malformed(of.path, name, format::is_qualified_name(&name.to_lowercase()));
        }
        let size: usize = annotations.iter().map(|(name, value)| name.len() + value.len()).sum();
        if size > format::ANNOTATIONS_MAX_SIZE {
            self.too_long(of.path, format::ANNOTATIONS_MAX_SIZE);
        }
    }

    /// Whether the field is the only member of its union that is there, so far.
    fn member(&mut self, detail: &'static str, others: &[&[&str]], of: &Of<'_>) -> bool {
        if of.is_empty() {
            return false;
        }
        let alone = detail.is_empty() || others.iter().all(|other| of.of_home(other).is_empty());
        if !alone {
            self.forbidden(of.path, detail);
        }
        alone
    }

    /// Whether no item before this one is alike. Items that are not in a list that is walked have none before them.
    fn distinct(&mut self, fields: &[&[&str]], detail: &'static str, of: &Of<'_>) -> bool {
        let is_new = of.around.items.is_none_or(|items| items.add(of, fields));
        if !is_new {
            self.errors.push(FieldError { detail: detail.into(), ..FieldError::duplicate(of.path, of.shown()) });
        }
        is_new
    }

    fn unrepeated(&mut self, detail: &'static str, of: &Of<'_>) -> bool {
        let is_new = of.around.items.is_none_or(|items| items.add(of, &[]));
        if !is_new {
            self.invalid(of.path, of.shown(), detail);
        }
        is_new
    }
}

fn or(detail: &'static str, usual: &'static str) -> &'static str {
    if detail.is_empty() { usual } else { detail }
}
