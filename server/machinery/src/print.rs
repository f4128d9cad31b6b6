//! Table columns: what a declaration says of them and how their cells are made.

use crate::reflect::{List, Map, Ref, Value};
use crate::scalar::Time;

/// A column of a table.
pub struct Column {
    pub name: &'static str,
    /// OpenAPI type: string, integer, number, boolean, date.
    pub kind: &'static str,
    pub format: &'static str,
    pub priority: i32,
    pub description: &'static str,
    pub cell: CellRule,
}

/// How a cell is made.
pub enum CellRule {
    /// The value at a JSON path, or the text when absent or empty.
    Path(&'static [&'static str], Option<&'static str>),
    /// How long ago.
    Age(&'static [&'static str], Option<&'static str>),
    /// How many, or the text when absent.
    Len(&'static [&'static str], Option<&'static str>),
    /// `k=v,k=v`; `<none>`, or the text, when empty.
    Labels(&'static [&'static str], Option<&'static str>),
    /// The text of a label selector; `<none>`, or the text, when empty.
    Selector(&'static [&'static str], Option<&'static str>),
    /// Comma-joined strings, or the text when there are none.
    Join(&'static [&'static str], Option<&'static str>),
    /// A hatch.
    ByHand(fn(Ref<'_>, &PrintContext) -> Cell),
}

/// What cells depend on besides the object.
pub struct PrintContext {
    /// The moment ages are counted to.
    pub now: Time,
}

/// A cell of a table row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Null,
    Text(String),
    Int(i64),
    Bool(bool),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(text.to_string())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell::Text(text)
    }
}

impl From<i64> for Cell {
    fn from(n: i64) -> Self {
        Cell::Int(n)
    }
}

impl CellRule {
    /// The cell of this object.
    pub fn cell(&self, object: Ref<'_>, context: &PrintContext) -> Cell {
        match self {
            CellRule::Path(path, or) => match at_path(object, path) {
                Some(value) if or.is_none() || !value.is_empty() => scalar_cell(value),
                _ => or.map_or(Cell::Null, Cell::from),
            },
            CellRule::Age(path, or) => match at_path(object, path) {
                Some(Value::Time(t)) if !t.is_zero() => Cell::Text(human_age(context.now, t)),
                Some(Value::MicroTime(t)) if !t.is_zero() => Cell::Text(human_age(context.now, Time::from_unix(t.unix_micros().div_euclid(1_000_000)))),
                _ => Cell::from(or.unwrap_or("<unknown>")),
            },
            CellRule::Len(path, or) => match (at_path(object, path).map_or(0, len_of), or) {
                (0, Some(text)) => Cell::from(*text),
                (n, _) => Cell::Int(n as i64),
            },
            CellRule::Labels(path, or) => or_none(*or, match at_path(object, path) {
                Some(Value::Map(Map::String(labels))) => format_labels(labels.iter()),
                _ => "<none>".into(),
            }),
            CellRule::Selector(path, or) => or_none(*or, match at_path(object, path) {
                Some(Value::Struct(selector)) => format_selector(selector),
                _ => "<none>".into(),
            }),
            CellRule::Join(path, or) => match at_path(object, path) {
                Some(Value::List(List::String(items))) if !items.is_empty() => Cell::Text(items.join(",")),
                _ => or.map_or_else(|| Cell::from(""), Cell::from),
            },
            CellRule::ByHand(f) => f(object, context),
        }
    }
}

/// The value at a path of JSON names, through present structs only.
pub fn at_path<'a>(object: Ref<'a>, path: &[&str]) -> Option<Value<'a>> {
    let (last, parents) = path.split_last()?;
    let mut here = object;
    for name in parents {
        match here.by_name(name)? {
            Value::Struct(inner) => here = inner,
            Value::Map(Map::Quantity(map)) => return map.get(*last).map(Value::Quantity),
            Value::Map(Map::String(map)) => return map.get(*last).map(|s| Value::String(s)),
            _ => return None,
        }
    }
    match here.by_name(last)? {
        Value::Null => None,
        value => Some(value),
    }
}

/// The text of a selectable field: as a field selector compares it; empty when absent.
pub fn text_at(object: Ref<'_>, path: &[&str]) -> String {
    match at_path(object, path).map(scalar_cell) {
        Some(Cell::Text(text)) => text,
        Some(Cell::Int(n)) => n.to_string(),
        Some(Cell::Bool(b)) => b.to_string(),
        Some(Cell::Null) | None => String::new(),
    }
}

fn or_none(or: Option<&str>, text: String) -> Cell {
    Cell::Text(if text == "<none>" { or.map_or(text, str::to_string) } else { text })
}

fn scalar_cell(value: Value<'_>) -> Cell {
    match value {
        Value::Bool(v) => Cell::Bool(v),
        Value::I32(v) => Cell::Int(v.into()),
        Value::I64(v) => Cell::Int(v),
        Value::String(v) => Cell::from(v),
        Value::Quantity(v) => Cell::Text(v.to_string()),
        Value::IntOrString(v) => Cell::Text(v.to_string()),
        Value::Time(v) => Cell::Text(v.to_string()),
        Value::MicroTime(v) => Cell::Text(v.to_string()),
        _ => Cell::Null,
    }
}

fn len_of(value: Value<'_>) -> usize {
    match value {
        Value::List(v) => v.len(),
        Value::Map(v) => v.len(),
        Value::StructList(v) => v.len(),
        Value::StructMap(v) => v.len(),
        Value::Bytes(v) => v.len(),
        _ => 0,
    }
}

/// `k=v,k=v` in the order given, `<none>` when empty (`labels.FormatLabels`).
pub fn format_labels<'a>(labels: impl Iterator<Item = (&'a String, &'a String)>) -> String {
    let text = labels.map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(",");
    if text.is_empty() { "<none>".into() } else { text }
}

/// A `LabelSelector`'s text (`metav1.FormatLabelSelector`): `<none>` when it selects everything, `<error>` when malformed.
pub fn format_selector(selector: Ref<'_>) -> String {
    match selector_requirements(selector) {
        Some(mut requirements) => {
            requirements.sort();
            if requirements.is_empty() {
                return "<none>".into();
            }
            requirements.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(",")
        }
        None => "<error>".into(),
    }
}

/// (key, text) of each requirement; `None` when an operator is unknown.
fn selector_requirements(selector: Ref<'_>) -> Option<Vec<(String, String)>> {
    let mut out = Vec::new();
    if let Some(Value::Map(Map::String(labels))) = selector.by_name("matchLabels") {
        out.extend(labels.iter().map(|(k, v)| (k.clone(), format!("{k}={v}"))));
    }
    if let Some(Value::StructList(expressions)) = selector.by_name("matchExpressions") {
        for expression in expressions.iter() {
            let key = expression.by_name("key")?.as_str()?;
            let mut values = match expression.by_name("values") {
                Some(Value::List(List::String(values))) => values.clone(),
                _ => Vec::new(),
            };
            values.sort();
            let values = values.join(",");
            let text = match expression.by_name("operator")?.as_str()? {
                "In" => format!("{key} in ({values})"),
                "NotIn" => format!("{key} notin ({values})"),
                "Exists" => key.to_string(),
                "DoesNotExist" => format!("!{key}"),
                _ => return None,
            };
            out.push((key.to_string(), text));
        }
    }
    Some(out)
}

/// How long ago, as kubectl prints it (`duration.HumanDuration`).
pub fn human_age(now: Time, then: Time) -> String {
    human_duration(now.unix() - then.unix())
}

/// A span of seconds in at most two units.
pub fn human_duration(seconds: i64) -> String {
    let two = |a: i64, unit_a: &str, b: i64, unit_b: &str| {
        if b == 0 { format!("{a}{unit_a}") } else { format!("{a}{unit_a}{b}{unit_b}") }
    };
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        s if s < -1 => "<invalid>".into(),
        s if s < 0 => "0s".into(),
        s if s < 120 => format!("{s}s"),
        s if minutes < 10 => two(minutes, "m", s % 60, "s"),
        _ if minutes < 180 => format!("{minutes}m"),
        _ if hours < 8 => two(hours, "h", minutes % 60, "m"),
        _ if hours < 48 => format!("{hours}h"),
        _ if hours < 24 * 8 => two(days, "d", hours % 24, "h"),
        _ if days < 365 * 2 => format!("{days}d"),
        _ if days < 365 * 8 => two(days / 365, "y", days % 365, "d"),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::human_duration;

    #[test]
    fn durations_take_at_most_two_units() {
        for (seconds, want) in [
            (-5, "<invalid>"), (-1, "0s"), (0, "0s"), (119, "119s"), (120, "2m"), (125, "2m5s"), (601, "10m"), (3 * 3600, "3h"),
            (3 * 3600 + 60, "3h1m"), (9 * 3600, "9h"), (49 * 3600, "2d1h"), (9 * 86_400, "9d"), (800 * 86_400, "2y70d"), (3000 * 86_400, "8y"),
        ] {
            assert_eq!(human_duration(seconds), want, "{seconds} seconds");
        }
    }
}
