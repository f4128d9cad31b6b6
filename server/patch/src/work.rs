//! Limits on the depth of documents and on the work of one patch.

use serde_json::Value;

pub(crate) use machinery::limits::MAX_DEPTH;

/// Maximum number of values that the operations of one patch may move or visit. Moving a value in an
/// array takes about 10 ns.
const MAX_WORK: usize = 64_000_000;

/// The remaining work of the operations of one patch, in values moved or visited.
#[derive(Debug)]
pub(crate) struct RemainingWork(usize);

/// The error when a patch exceeds the limit of work.
#[derive(Debug)]
pub(crate) struct TooMuchWork;

impl Default for RemainingWork {
    fn default() -> Self {
        RemainingWork(MAX_WORK)
    }
}

impl RemainingWork {
    pub fn spend(&mut self, values: usize) -> Result<(), TooMuchWork> {
        self.0 = self.0.checked_sub(values).ok_or(TooMuchWork)?;
        Ok(())
    }
}

/// Counts the values of a document, itself included; `None` if more than `depth` containers are nested.
///
/// The recursion ends at that depth for any document.
pub(crate) fn count_within(value: &Value, depth: usize) -> Option<usize> {
    let count = |sum: usize, value: &Value| Some(sum + count_within(value, depth - 1)?);
    match value {
        Value::Array(_) | Value::Object(_) if depth == 0 => None,
        Value::Array(items) => items.iter().try_fold(1, count),
        Value::Object(members) => members.values().try_fold(1, count),
        _ => Some(1),
    }
}

/// Returns the length of a value as JSON in bytes, without escapes; `None` when it exceeds `limit`.
pub(crate) fn size_within(value: &Value, limit: usize) -> Option<usize> {
    let size = match value {
        Value::Null | Value::Bool(true) => 4,
        Value::Bool(false) => 5,
        Value::Number(number) => number.to_string().len(),
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().try_fold(2, |sum, item| add(sum, size_within(item, limit)? + 1, limit))?,
        Value::Object(members) => members
            .iter()
            .try_fold(2, |sum, (key, value)| add(sum, key.len() + size_within(value, limit)? + 4, limit))?,
    };
    (size <= limit).then_some(size)
}

fn add(sum: usize, more: usize, limit: usize) -> Option<usize> {
    Some(sum + more).filter(|sum| *sum <= limit)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_values_up_to_a_depth() {
        let value = json!({"a": [1, {"b": []}], "c": null});
        assert_eq!(count_within(&value, 4), Some(6));
        assert_eq!(count_within(&value, 3), None);
        assert_eq!(count_within(&json!(1), 0), Some(1));
    }

    #[test]
    fn measures_up_to_a_limit() {
        let value = json!({"a": [true, "text"]});
        assert!(size_within(&value, 100).is_some_and(|size| (19..=24).contains(&size)));
        assert_eq!(size_within(&value, 10), None);
    }
}
