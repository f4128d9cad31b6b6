//! Cost of calls at evaluation (cel-go's `CostTracker`, Kubernetes' `CostEstimator.CallCost`). One unit
//! is about 50 ns on upstream's scale.

use crate::value::Value;

pub(crate) const SELECT: u64 = 1;
pub(crate) const NEW_LIST: u64 = 10;
/// `+` of lists.
pub(crate) const APPEND: u64 = 1;
pub(crate) const NEW_MAP: u64 = 30;
pub(crate) const NEW_STRUCT: u64 = 40;
/// Cost per visited character.
pub(crate) const TRAVERSAL: f64 = 0.1;
/// Cost per character of a pattern.
pub(crate) const PATTERN: f64 = 0.25;
/// Length of the longest pattern of a named format.
pub(crate) const FORMAT_PATTERN: f64 = 128.0;

/// How the cost of a call depends on its arguments. Numbers are argument positions, with the target
/// first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cost {
    Fixed(u64),
    /// Scans a string once.
    Scan(usize),
    ScanTwice(usize),
    /// Scans a string once; the result is not longer than the string.
    Resized(usize),
    /// `startsWith`, `endsWith`: estimated by the affix, charged by the string.
    Affix,
    Contains,
    Replace,
    Split,
    Join,
    Regex,
    /// Compares up to the end of the shorter operand.
    Smaller,
    /// Like `Smaller` for values with characters; other comparisons cost one.
    Compare,
    Add,
    InList,
    /// Visits every element.
    Traverse,
    /// Visits every pair of elements.
    Product,
    BytesToText,
    /// `ip`: a string is parsed, a CIDR is only read.
    Address,
    /// Tests whether a network contains an address or network.
    Within,
    Format,
    Selector,
}

pub(crate) fn scaled(size: u64, factor: f64) -> u64 {
    (size as f64 * factor).ceil() as u64
}

impl Cost {
    /// Actual cost of a call.
    pub(crate) fn of(self, args: &[Value<'_>], result: &Value<'_>) -> u64 {
        let size = |at: usize| args.get(at).map_or(1, Value::size);
        let is_text = |at: usize| matches!(args.get(at), Some(Value::String(_) | Value::Bytes(_)));
        match self {
            Cost::Fixed(cost) => cost,
            Cost::Scan(at) | Cost::Resized(at) => scaled(size(at), TRAVERSAL),
            Cost::Affix => scaled(size(0), TRAVERSAL),
            Cost::ScanTwice(at) => scaled(size(at), 2.0 * TRAVERSAL),
            Cost::Replace | Cost::Split => scaled(size(0), 2.0 * TRAVERSAL),
            Cost::Join => scaled(result.size(), 2.0 * TRAVERSAL),
            Cost::Contains => scaled(size(0), TRAVERSAL) * scaled(size(1), TRAVERSAL),
            Cost::Regex => scaled(size(0) + 1, TRAVERSAL) * scaled(size(1), PATTERN),
            Cost::Smaller => smaller(args),
            Cost::Compare => {
                if is_text(0) {
                    smaller(args)
                } else {
                    1
                }
            }
            Cost::Add => {
                if is_text(0) {
                    scaled(size(0) + size(1), TRAVERSAL)
                } else {
                    1
                }
            }
            Cost::InList => {
                if matches!(args.get(1), Some(Value::List(_))) {
                    size(1)
                } else {
                    1
                }
            }
            Cost::Traverse => args.first().map_or(0, traversal),
            Cost::Product => size(0).saturating_mul(size(1)),
            Cost::BytesToText => {
                if matches!(args.first(), Some(Value::Bytes(_))) {
                    scaled(size(0), TRAVERSAL)
                } else {
                    1
                }
            }
            Cost::Address => {
                if is_text(0) {
                    scaled(size(0), TRAVERSAL)
                } else {
                    1
                }
            }
            Cost::Within => 4 + if is_text(1) { scaled(size(1), TRAVERSAL) } else { 0 },
            Cost::Format => scaled(size(1) + 1, TRAVERSAL) * scaled(1, FORMAT_PATTERN * PATTERN),
            Cost::Selector => {
                NEW_LIST + scaled(size(1), TRAVERSAL) + scaled(scaled(size(1), 0.5), (NEW_LIST + NEW_STRUCT) as f64)
            }
        }
    }
}

fn smaller(args: &[Value<'_>]) -> u64 {
    match args {
        [Value::Opaque(_), _] => 1,
        [a, b] => scaled(a.size().min(b.size()), TRAVERSAL),
        _ => 1,
    }
}

fn traversal(value: &Value<'_>) -> u64 {
    match value {
        Value::String(text) => (text.len() as f64 * TRAVERSAL) as u64,
        Value::Bytes(bytes) => (bytes.len() as f64 * TRAVERSAL) as u64,
        Value::List(list) => list.iter().map(|item| traversal(&item)).sum(),
        Value::Map(map) => map.entries().iter().map(|(key, value)| traversal(key) + traversal(value)).sum(),
        _ => 1,
    }
}
