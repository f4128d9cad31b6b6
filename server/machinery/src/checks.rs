//! Declared checks, `#[check(..)]`: upstream's hand-written validation, in upstream's order.
//!
//! A struct has a list of [`CheckDef`]s. Each reads one field, under conditions, and makes a sequence of assertions.
//! [`Assertion::Below`] continues with the checks of the structs in the field.

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
pub(crate) use self::plan::CheckPlan;
use self::plan::Planned;
use crate::field_error::{BadValue, FieldError};
use crate::field_path::Path;
use crate::format::{self, NameRule};
use crate::hooks::{ValidateFn, Validation};
use crate::reflect::{FieldAccessor, Map, Ref, Struct, Value};

/// A check of a struct (`#[check(..)]`).
#[derive(Clone, Copy, Debug)]
pub struct CheckDef {
    /// JSON names on the path to the field; empty for the struct itself.
    pub field: &'static [&'static str],
    /// The check runs if all conditions hold. The parts that it belongs to come first.
    pub when: &'static [Condition],
    /// The assertions, in order.
    pub assertions: &'static [Assertion],
}

/// An assertion about a field. An empty detail stands for upstream's default text.
#[derive(Clone, Copy, Debug)]
pub enum Assertion {
    /// The field is not empty. If it is, the remaining assertions are skipped.
    Required(&'static str),
    /// The field is not empty. If it is, the remaining assertions still run.
    Filled(&'static str),
    /// Skips the remaining assertions if the field is empty.
    Optional,
    /// The field is empty.
    Forbidden(&'static str),
    /// Reports the field as missing; for checks with conditions.
    Missing(&'static str),
    /// Reports the field as invalid; for checks with conditions.
    Invalid(&'static str),
    /// Reports the field as invalid, with this text instead of the value.
    InvalidAs(&'static str, &'static str),
    /// Reports the field as invalid, with the value null.
    InvalidNull(&'static str),
    /// Reports the field as invalid, without a value.
    InvalidOmitted(&'static str),
    /// Reports the field as unsupported, with these supported values; for checks with conditions.
    Unsupported(&'static [&'static str]),
    /// Reports the field as forbidden; for checks with conditions.
    Refused(&'static str),
    /// Sets the option if the conditions hold, and unsets it otherwise.
    Choose(&'static str, &'static [Condition]),
    /// Sets the option to the text of the field.
    ChooseText(&'static str),
    /// The field is a union member, not empty only if these fields are empty.
    ///
    /// The remaining assertions are skipped if the field is empty or rejected. An empty detail rejects nothing.
    Member(&'static str, &'static [&'static [&'static str]]),
    /// Skips the remaining assertions if the field already has an error.
    Valid,
    /// Skips the remaining assertions if the value is stored: in the same field, or in an item of the stored list.
    Ratchet,
    /// No earlier item of the list has the same value, or the same values in these fields. If one has, the remaining
    /// assertions are skipped.
    Distinct(&'static [&'static [&'static str]], &'static str),
    /// No earlier item of the list equals the value; a duplicate is reported as invalid.
    Unrepeated(&'static str),
    /// An update does not change the field; a change is invalid.
    Immutable(&'static str),
    /// An update does not change the field; a change is forbidden.
    Unchanged(&'static str),
    /// A number, or a quantity rounded away from zero to an integer, is at least this.
    Min(i64, &'static str),
    /// A number, or a quantity rounded away from zero to an integer, is at most this.
    Max(i64, &'static str),
    /// A number is in this range, inclusive.
    Range(i64, i64, &'static str),
    /// A number, a time or a quantity is at most that in another field of the struct.
    AtMost(&'static [&'static str], &'static str),
    /// A number, a time or a quantity is at least that in another field of the struct.
    AtLeast(&'static [&'static str], &'static str),
    /// A number, a time or a quantity is more than that in another field of the struct.
    MoreThan(&'static [&'static str], &'static str),
    /// An update does not decrease or remove a number.
    Grows(&'static str),
    /// The label selector in another field of the struct matches the labels. A malformed selector matches everything.
    Selected(&'static [&'static str], &'static str),
    /// A number is a port number, a text is a port name.
    Port,
    /// A number or a quantity is more than 0.
    Positive(&'static str),
    /// A number or a quantity is not less than 0.
    NotNegative(&'static str),
    /// A text has at most this many bytes. With a detail, the error is `Invalid` and shows the value.
    MaxBytes(usize, &'static str),
    /// A list or map has at most this many items. With a detail, the error is `Invalid` and shows the value.
    MaxItems(usize, &'static str),
    /// The keys and values of a map have at most this many bytes in total.
    MaxTotal(usize),
    /// A text has a format.
    Format(TextCheck),
    /// A text satisfies a name rule.
    Name(NameRule),
    /// A text, or each text of a list, is one of these. The message lists them in this order.
    OneOf(&'static [&'static str]),
    /// Raw JSON is an object or empty.
    JsonObject,
    /// The assertions hold for each item of a list and each value of a map.
    Each(&'static [Assertion]),
    /// The assertions hold for each key of a map, at the path of the map.
    Keys(&'static [Assertion]),
    /// The assertions hold for each key of a map, at the path of its entry.
    EachKey(&'static [Assertion]),
    /// A quantity in a map of resources is a valid amount of the resource of its entry.
    Amount,
    /// The assertions hold for the key of the entry that [`Self::Each`] visits, at the path of the entry.
    Key(&'static [Assertion]),
    /// The assertions hold. Paths of entries show the beginning and the end of longer keys, this many bytes in total.
    ShortKeys(usize, &'static [Assertion]),
    /// The assertions hold. The stored form of an item of the list is the first stored item with the same value in
    /// this field.
    Paired(&'static str, &'static [Assertion]),
    /// The keys and values of a map are valid labels.
    Labels,
    /// A map is valid as annotations: its keys, and its size.
    Annotations,
    /// Opens empty sets of texts, which exist until the checks of the struct are done.
    Open(&'static [&'static str]),
    /// Adds the text to the set, if that is open. Of texts with the same text in another field of the struct, the set
    /// keeps the last.
    Note(&'static str, &'static [&'static str]),
    /// The text is in an open set. Without a detail, a missing text is reported as not found.
    Noted(&'static str, &'static str),
    /// The text is not in an open set. Without a detail, a text in the set is reported as a duplicate.
    Unnoted(&'static str, &'static str),
    /// The assertions hold; errors show texts as JSON.
    Json(&'static [Assertion]),
    /// The assertions hold; errors show another field of the struct.
    Show(&'static [&'static str], &'static [Assertion]),
    /// The assertions hold for a field of the struct in the field.
    Field(&'static [&'static str], &'static [Assertion]),
    /// The assertions hold; errors are reported at this field of the same struct. `../` before the name goes one
    /// level up; a slash starts at the whole object.
    At(&'static str, &'static [Assertion]),
    /// The checks of the structs in the field hold: those of this part, or those without a part if it is empty.
    Below(&'static str),
    /// The checks of the inlined structs of the struct in the field hold.
    Inlined,
    /// A hand-written function checks the structs in the field.
    ByHand(ValidateFn),
}

/// The errors of a text.
pub type TextCheck = fn(&Path<'_>, &str) -> Vec<FieldError>;

/// A condition of a check. Fields are paths of JSON names relative to the struct of the check.
#[derive(Clone, Copy, Debug)]
pub enum Condition {
    /// The request updates the object.
    Update,
    /// The request creates the object.
    Create,
    /// A field is not empty.
    Set(&'static [&'static str]),
    /// A field is empty.
    Unset(&'static [&'static str]),
    /// A text, a number or a boolean is one of these, or some item of a list is.
    Is(&'static [&'static str], &'static [&'static str]),
    /// None of the fields is set.
    None(&'static [&'static [&'static str]]),
    /// More than one of the fields is set.
    Many(&'static [&'static [&'static str]]),
    /// A list or map has one item.
    Single(&'static [&'static str]),
    /// An `IntOrString` is a text.
    Text(&'static [&'static str]),
    /// A text is absent or has only white space.
    Blank(&'static [&'static str]),
    /// A text starts with one of these.
    Begins(&'static [&'static str], &'static [&'static str]),
    /// A text is in an open set.
    Noted(&'static [&'static str], &'static str),
    /// The struct uses a gated field.
    Uses(&'static str),
    /// The condition does not hold.
    Not(&'static Condition),
    /// One of the conditions holds.
    Any(&'static [Condition]),
    /// All of the conditions hold.
    All(&'static [Condition]),
    /// The condition holds for the stored struct.
    Was(&'static Condition),
    /// A field differs from the stored one, or nothing is stored. Below a list, it is the field of each item.
    Changed(&'static [&'static str]),
    /// A list or map has a different number of items than the stored one.
    Resized(&'static [&'static str]),
    /// The request sent an empty list or map.
    SentEmpty(&'static [&'static str]),
    /// Two fields are equal.
    Same(&'static [&'static str], &'static [&'static str]),
    /// A field has no errors by these assertions.
    Holds(&'static [&'static str], &'static [Assertion]),
    /// The API version of the request is one of these: `apps/v1`, `v1`.
    Version(&'static [&'static str]),
    /// The list that contains the struct has several items.
    Several,
    /// Some item of a list meets all of the conditions.
    Some(&'static [&'static str], &'static [Condition]),
    /// Fewer items of a list than of the stored list meet all of the conditions.
    Fewer(&'static [&'static str], &'static [Condition]),
    /// More items of a list than of the stored list meet all of the conditions.
    More(&'static [&'static str], &'static [Condition]),
    /// Some item before the struct in its list meets all of the conditions.
    Preceded(&'static [Condition]),
    /// One of the conditions holds for exactly one of the new and the stored struct.
    Flips(&'static [Condition]),
    /// A number is greater than this.
    Above(&'static [&'static str], i64),
    /// An update changes a field, except for these fields below it.
    Differs(&'static [&'static str], &'static [&'static [&'static str]]),
    /// A number or a percentage is 0 or not set.
    Zero(&'static [&'static str]),
    /// A text matches a regular expression.
    Matches(&'static [&'static str], &'static str),
    /// The object has no errors so far.
    NoError,
    /// The caller runs one of these parts of the checks. The part without a name has the checks without this
    /// condition.
    Part(&'static [&'static str]),
    /// The option is set ([`Validation::options`]).
    Option(&'static str),
    /// The request writes this subresource, or the object itself if empty.
    Subresource(&'static str),
    /// A feature gate is enabled.
    Gate(&'static str),
}

impl Validation<'_> {
    /// Runs the declared checks of a struct; `old` is its stored form, on updates.
    pub fn checks(&mut self, path: &Path<'_>, new: Ref<'_>, old: Option<Ref<'_>>) {
        self.checks_of("", path, new, old);
    }

    /// Runs a part of the declared checks of a struct.
    pub fn checks_of(&mut self, part: &'static str, path: &Path<'_>, new: Ref<'_>, old: Option<Ref<'_>>) {
        self.checks_in(part, &Of::structure(path, &Around::of(new, None), old));
    }

    /// Runs the declared checks of the items of a list.
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
        let part = new.def().planned_checks().part(part);
        let mut next = 0;
        for group in &part.groups {
            let end = group.end as usize;
            if next < end && group.is_idle(new) {
                next = end;
            }
            while next < end {
                let planned = &part.checks[next];
                let unmet = planned.when.iter().position(|condition| !condition.holds(self, new, of));
                // Skip to the next check with a different first condition: those in between would do nothing.
                next = if unmet == Some(0) { planned.behind_condition as usize } else { next + 1 };
                if unmet.is_none() {
                    self.make(planned, of);
                }
            }
        }
        self.notes.truncate(open);
    }

    /// Runs a check after its conditions were met.
    fn make(&mut self, planned: &Planned, of: &Of<'_>) {
        if let (Some(choice), Value::Struct(new)) = (&planned.choice, of.new) {
            let is_chosen = choice.when.iter().all(|condition| condition.holds(self, new, of));
            return self.options.set(choice.option, is_chosen);
        }
        let (Some(place), Value::Struct(new)) = (planned.field, of.new) else {
            if planned.name.is_empty() {
                self.assert_all(planned.assertions, of);
            }
            return;
        };
        let path = of.path.child(planned.name);
        let way = (planned.rest, &*planned.rest_places);
        self.walk(way, planned.assertions, &of.field_of(&path, new, place));
    }

    /// Follows a path to a field, in each item of a list. Fields below an absent struct are not checked.
    ///
    /// The path consists of names, and of places as far as they are resolved.
    fn walk(
        &mut self,
        (names, places): (&[&'static str], &[Option<FieldAccessor>]),
        assertions: &[Assertion],
        of: &Of<'_>,
    ) -> bool {
        let Some((name, rest)) = names.split_first() else { return self.assert_all(assertions, of) };
        if matches!(of.new, Value::StructList(_)) && name.parse::<usize>().is_err() {
            of.each(|item| {
                self.walk((names, places), assertions, item);
            });
            return true;
        }
        let (place, places) = places.split_first().map_or((None, places), |(place, rest)| (*place, rest));
        let mut next = Of { path: &of.path_to(name), ..*of };
        !next.advance_to(name, place) || self.walk((rest, places), assertions, &next)
    }

    /// Runs assertions in order. Returns false when the remaining ones must be skipped.
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

    /// Runs the assertions about parts of a field: items, entries, keys, structs.
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
            Assertion::ChooseText(option) => self.set_option_to(option, of.text().map(String::from)),
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
                self.walk((field, &[]), inner, of);
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

    /// Runs assertions on each key of a map, at the path of the map.
    fn assert_keys(&mut self, of: &Of<'_>, assert: impl Fn(&mut Self, &Of<'_>)) {
        let around = Around::of(of.around.home, of.around.items);
        for key in of.keys() {
            assert(self, &of.part(of.path, Value::String(key), &around));
        }
    }

    /// Runs assertions, and replaces the values that their errors show.
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

    /// Whether no other member of the union of the field is set.
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

    /// Whether no earlier item is equal. Items outside of a visited list have no earlier items.
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
