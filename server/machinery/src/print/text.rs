//! Texts that several kinds of cells use: ages, labels, selectors, truncated lists.

use crate::reflect::{List, Map, Ref, Value};
use crate::scalar::Time;

/// `k=v,k=v` in the given order; `<none>` if empty (`labels.FormatLabels`).
pub fn format_labels<'a>(labels: impl Iterator<Item = (&'a String, &'a String)>) -> String {
    or(labels.map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(","), "<none>")
}

/// The text, or a replacement if it is empty.
pub fn or(text: impl Into<String>, instead: &str) -> String {
    let text = text.into();
    if text.is_empty() { instead.to_string() } else { text }
}

/// The first `max` items, comma-separated, and the number of the remaining ones of `total`.
pub fn join_at_most(items: &[String], max: usize, total: usize) -> String {
    let text = items.iter().take(max).map(String::as_str).collect::<Vec<_>>().join(",");
    if total > max { format!("{text} + {} more...", total - max) } else { text }
}

/// The text of a `LabelSelector` (`metav1.FormatLabelSelector`): `<none>` if it selects everything,
/// `<error>` if it is malformed.
pub fn format_selector(selector: Ref<'_>) -> String {
    match selector_requirements(selector) {
        Some(mut requirements) => {
            requirements.sort();
            or(requirements.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(","), "<none>")
        }
        None => "<error>".into(),
    }
}

/// Pairs of key and text of the requirements; `None` if an operator is unknown.
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

/// An age as kubectl prints it (`duration.HumanDuration`); `<unknown>` for the zero time.
pub fn human_age(now: Time, then: impl Into<Time>) -> String {
    let then = then.into();
    if then.is_zero() { "<unknown>".into() } else { human_duration(now.unix() - then.unix()) }
}

/// A duration in at most two units.
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
    use super::{human_age, human_duration, join_at_most};
    use crate::scalar::Time;

    #[test]
    fn durations_take_at_most_two_units() {
        for (seconds, want) in [
            (-5, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (601, "10m"),
            (3 * 3600, "3h"),
            (3 * 3600 + 60, "3h1m"),
            (9 * 3600, "9h"),
            (49 * 3600, "2d1h"),
            (9 * 86_400, "9d"),
            (800 * 86_400, "2y70d"),
            (3000 * 86_400, "8y"),
        ] {
            assert_eq!(human_duration(seconds), want, "{seconds} seconds");
        }
    }

    #[test]
    fn unset_time_has_no_age() {
        assert_eq!(human_age(Time::from_unix(100), Time::ZERO), "<unknown>");
        assert_eq!(human_age(Time::from_unix(100), Time::from_unix(40)), "60s");
    }

    #[test]
    fn truncated_lists_show_number_of_omitted_items() {
        let items: Vec<String> = ["a", "b", "c"].map(String::from).into();
        assert_eq!(join_at_most(&items, 3, 3), "a,b,c");
        assert_eq!(join_at_most(&items, 2, 3), "a,b + 1 more...");
        assert_eq!(join_at_most(&[], 2, 0), "");
    }
}
