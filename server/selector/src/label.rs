//! Label selectors: `app in (web,db),!canary,tier=front` (upstream: `apimachinery/pkg/labels`).

mod lexer;
mod parser;

use crate::Error;
use status::field_error::{BadValue, FieldError};
use status::field_path::Path;
use std::fmt;
use std::str::FromStr;

/// The operator of a requirement (upstream `selection.Operator`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `k in (a,b)`
    In,
    /// `k notin (a,b)`, also matches if the label is absent.
    NotIn,
    /// `k=a`
    Equals,
    /// `k==a`
    DoubleEquals,
    /// `k!=a`, also matches if the label is absent.
    NotEquals,
    /// `k>5`
    GreaterThan,
    /// `k<5`
    LessThan,
    /// `k`
    Exists,
    /// `!k`
    DoesNotExist,
}

impl Operator {
    /// The operator with this name in the API type `LabelSelectorRequirement`.
    pub fn from_api(name: &str) -> Option<Self> {
        Some(match name {
            "In" => Self::In,
            "NotIn" => Self::NotIn,
            "Exists" => Self::Exists,
            "DoesNotExist" => Self::DoesNotExist,
            _ => return None,
        })
    }
}

/// A condition on one label (upstream `labels.Requirement`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LabelRequirement {
    key: String,
    operator: Operator,
    values: Vec<String>,
}

impl LabelRequirement {
    /// Creates a requirement and checks it (upstream `NewRequirement`); `path` precedes `key` and
    /// `values` in the errors.
    ///
    /// # Errors
    /// [`Error::Fields`] when the key, the number of values or a value is invalid for the
    /// operator.
    pub fn new(
        path: &Path<'_>,
        key: impl Into<String>,
        operator: Operator,
        values: Vec<String>,
    ) -> Result<Self, Error> {
        let requirement = Self { key: key.into(), operator, values };
        let mut errors = Vec::new();
        errors.extend(check_key(&requirement.key, &path.child("key")));
        requirement.check_values(&path.child("values"), &mut errors);
        if errors.is_empty() { Ok(requirement) } else { Err(Error::Fields(errors)) }
    }

    fn check_values(&self, path: &Path<'_>, errors: &mut Vec<FieldError>) {
        let mut refuse = |detail: &'static str| {
            errors.push(FieldError::invalid(path, BadValue::strings(&self.values), detail));
        };
        match self.operator {
            Operator::In | Operator::NotIn if self.values.is_empty() => {
                refuse("for 'in', 'notin' operators, values set can't be empty");
            }
            Operator::Equals | Operator::DoubleEquals | Operator::NotEquals if self.values.len() != 1 => {
                refuse("exact-match compatibility requires one single value");
            }
            Operator::Exists | Operator::DoesNotExist if !self.values.is_empty() => {
                refuse("values set must be empty for exists and does not exist");
            }
            Operator::GreaterThan | Operator::LessThan => {
                if self.values.len() != 1 {
                    refuse("for 'Gt', 'Lt' operators, exactly one value is required");
                }
                self.check_integers(path, errors);
            }
            _ => {}
        }
        for (index, value) in self.values.iter().enumerate() {
            let messages = format::is_label_value(value);
            if !messages.is_empty() {
                let at = path.index(index);
                errors.push(FieldError::invalid(&at.key(&self.key), value, messages.join("; ")));
            }
        }
    }

    fn check_integers(&self, path: &Path<'_>, errors: &mut Vec<FieldError>) {
        for (index, value) in self.values.iter().enumerate() {
            if value.parse::<i64>().is_err() {
                let detail = "for 'Gt', 'Lt' operators, the value must be an integer";
                errors.push(FieldError::invalid(&path.index(index), value, detail));
            }
        }
    }

    /// The key of the label.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The operator.
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// The values in the given order.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Whether a label with this value, or an absent label, satisfies the requirement.
    pub fn matches(&self, value: Option<&str>) -> bool {
        match self.operator {
            Operator::In | Operator::Equals | Operator::DoubleEquals => value.is_some_and(|value| self.has(value)),
            Operator::NotIn | Operator::NotEquals => value.is_none_or(|value| !self.has(value)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::GreaterThan => self.compare(value, |label, bound| label > bound),
            Operator::LessThan => self.compare(value, |label, bound| label < bound),
        }
    }

    fn has(&self, value: &str) -> bool {
        self.values.iter().any(|candidate| candidate == value)
    }

    fn compare(&self, value: Option<&str>, holds: impl Fn(i64, i64) -> bool) -> bool {
        let [bound] = self.values.as_slice() else { return false };
        match (value.map(str::parse), bound.parse()) {
            (Some(Ok(label)), Ok(bound)) => holds(label, bound),
            _ => false,
        }
    }
}

fn check_key(key: &str, path: &Path<'_>) -> Option<FieldError> {
    let messages = format::is_qualified_name(key);
    (!messages.is_empty()).then(|| FieldError::invalid(path, key, messages.join("; ")))
}

/// A conjunction of requirements (upstream `labels.Selector`).
///
/// ```
/// use selector::LabelSelector;
///
/// let selector = LabelSelector::parse("app in (web,db),!canary")?;
/// assert!(selector.matches(|label| (label == "app").then_some("web")));
/// assert!(!selector.matches(|label| (label == "canary").then_some("true")));
/// # Ok::<(), selector::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LabelSelector {
    requirements: Vec<LabelRequirement>,
    nothing: bool,
}

impl LabelSelector {
    /// The selector that matches every object.
    pub const fn everything() -> Self {
        Self { requirements: Vec::new(), nothing: false }
    }

    /// The selector that matches no object, for example an absent `LabelSelector` in an API object.
    pub const fn nothing() -> Self {
        Self { requirements: Vec::new(), nothing: true }
    }

    /// Creates a selector from requirements, which are sorted by key.
    pub fn from_requirements(mut requirements: Vec<LabelRequirement>) -> Self {
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Self { requirements, nothing: false }
    }

    /// A selector that requires exactly these labels, without validation (upstream
    /// `SelectorFromValidatedSet`).
    pub fn from_labels<'l>(labels: impl IntoIterator<Item = (&'l str, &'l str)>) -> Self {
        let requirement = |(key, value): (&str, &str)| LabelRequirement {
            key: key.to_owned(),
            operator: Operator::Equals,
            values: vec![value.to_owned()],
        };
        Self::from_requirements(labels.into_iter().map(requirement).collect())
    }

    /// The selector of an API object, from its `matchLabels` and its `matchExpressions` as (key, operator, values)
    /// (upstream `LabelSelectorAsSelector`).
    ///
    /// # Errors
    /// [`Error`] when an operator is unknown, or a requirement is invalid.
    pub fn from_api<'l>(
        labels: impl IntoIterator<Item = (&'l str, &'l str)>,
        expressions: impl IntoIterator<Item = (&'l str, &'l str, &'l [String])>,
    ) -> Result<Self, Error> {
        let mut requirements = Vec::new();
        for (key, value) in labels {
            requirements.push(LabelRequirement::new(&Path::NONE, key, Operator::Equals, vec![value.to_owned()])?);
        }
        for (key, operator, values) in expressions {
            let operator = Operator::from_api(operator).ok_or_else(|| Error::Operator(operator.to_owned()))?;
            requirements.push(LabelRequirement::new(&Path::NONE, key, operator, values.to_vec())?);
        }
        Ok(Self::from_requirements(requirements))
    }

    /// Whether the selector matches everything.
    pub fn is_empty(&self) -> bool {
        !self.nothing && self.requirements.is_empty()
    }

    /// Whether it is [`Self::nothing`].
    pub fn is_nothing(&self) -> bool {
        self.nothing
    }

    /// The requirements, sorted by key.
    pub fn requirements(&self) -> &[LabelRequirement] {
        &self.requirements
    }

    /// Whether an object with these labels satisfies all requirements.
    pub fn matches<'o>(&self, label: impl Fn(&str) -> Option<&'o str>) -> bool {
        !self.nothing && self.requirements.iter().all(|requirement| requirement.matches(label(&requirement.key)))
    }

    /// The value that the selector requires for a label, if it is a single one.
    pub fn requires_exact_match(&self, key: &str) -> Option<&str> {
        let requirement = self.requirements.iter().find(|requirement| requirement.key == key)?;
        match (requirement.operator, requirement.values.as_slice()) {
            (Operator::Equals | Operator::DoubleEquals | Operator::In, [value]) => Some(value),
            _ => None,
        }
    }
}

impl Default for LabelSelector {
    fn default() -> Self {
        Self::everything()
    }
}

impl FromStr for LabelSelector {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl fmt::Display for LabelRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        let mut values: Vec<&str> = self.values.iter().map(String::as_str).collect();
        values.sort_unstable();
        let values = values.join(",");
        match self.operator {
            Operator::In => write!(f, "{key} in ({values})"),
            Operator::NotIn => write!(f, "{key} notin ({values})"),
            Operator::Equals => write!(f, "{key}={values}"),
            Operator::DoubleEquals => write!(f, "{key}=={values}"),
            Operator::NotEquals => write!(f, "{key}!={values}"),
            Operator::GreaterThan => write!(f, "{key}>{values}"),
            Operator::LessThan => write!(f, "{key}<{values}"),
            Operator::Exists => f.write_str(key),
            Operator::DoesNotExist => write!(f, "!{key}"),
        }
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_joined(f, &self.requirements)
    }
}

/// Writes the items with commas between them.
pub(super) fn write_joined<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: &[T]) -> fmt::Result {
    items.iter().enumerate().try_for_each(|(index, item)| {
        if index > 0 {
            f.write_str(",")?;
        }
        item.fmt(f)
    })
}

#[cfg(test)]
mod tests;
