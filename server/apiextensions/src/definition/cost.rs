//! Estimated cost of the rules of a schema (`TotalCost`, `getCostErrorMessage`).

use apimachinery::apiextensions::v1::JSONSchemaProps;
use machinery::field_error::FieldError;
use machinery::field_path::Path;

use crate::rules::REQUEST;

/// Maximum cost of one expression.
const OF_EXPRESSION: u64 = 10_000_000;
/// Maximum total cost of the rules of a schema.
const OF_SCHEMA: u64 = 100_000_000;
/// Number of the most expensive rules that errors name.
const NAMED: usize = 4;

/// Maximum number of occurrences of a schema in an object; nothing if unlimited.
pub type MaxOccurrences = Option<u64>;

/// Returns the maximum number of occurrences of direct children of a schema's values
/// (`extractMaxElements`).
pub fn count_below(props: &JSONSchemaProps, count: MaxOccurrences) -> MaxOccurrences {
    let most = match props.r#type.as_str() {
        "object" if props.additional_properties.is_some() => props.max_properties,
        "array" => props.max_items,
        _ => Some(1),
    };
    Some(count?.saturating_mul(u64::try_from(most?).unwrap_or(0)))
}

/// Returns the total cost of a rule on all values of an object. Without a limit the request size
/// bounds their number.
pub fn of_rule(cost: u64, count: MaxOccurrences, least_bytes: u64) -> u64 {
    cost.saturating_mul(count.unwrap_or(REQUEST / (least_bytes + 1)))
}

/// Returns the error for an expression that exceeds its limit.
pub fn fault(path: &Path<'_>, what: &str, cost: u64) -> Option<FieldError> {
    (cost > OF_EXPRESSION).then(|| FieldError::forbidden(path, excess(what, cost, OF_EXPRESSION)))
}

fn excess(what: &str, cost: u64, limit: u64) -> String {
    let times = cost as f64 / limit as f64;
    let factor = match times {
        // Beyond this factor the exact number is not useful.
        _ if times > 100.0 => "more than 100x".to_owned(),
        _ if times < 1.5 => format!("{times:.6}x"),
        _ => format!("{times:.1}x"),
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
    )
}

/// The total cost of the rules of a schema.
#[derive(Default)]
pub struct Total {
    sum: u64,
    /// Costs and errors of the most expensive rules, in descending order.
    most_expensive: Vec<(u64, FieldError)>,
}

impl Total {
    /// Adds the cost of the expression at a path.
    pub fn add(&mut self, path: &Path<'_>, cost: u64) {
        self.sum = self.sum.saturating_add(cost);
        if cost < OF_SCHEMA / 100 {
            return;
        }
        let why = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
        self.most_expensive.push((cost, FieldError::forbidden(path, why)));
        self.most_expensive.sort_by_key(|(cost, _)| std::cmp::Reverse(*cost));
        self.most_expensive.truncate(NAMED);
    }

    /// Returns the errors of a schema that exceeds its limit.
    pub fn faults(self, path: &Path<'_>) -> Vec<FieldError> {
        if self.sum <= OF_SCHEMA {
            return Vec::new();
        }
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        let whole = FieldError::forbidden(path, excess(what, self.sum, OF_SCHEMA));
        self.most_expensive.into_iter().map(|(_, fault)| fault).chain([whole]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_expensive_rules() {
        let path = Path::new("rule");
        for (cost, expect) in [
            (10_000_000, None),
            (10_000_001, Some("factor of 1.000000x")),
            (14_990_000, Some("factor of 1.499000x")),
            (25_600_000, Some("factor of 2.6x")),
            (u64::MAX, Some("factor of more than 100x")),
        ] {
            let detail = fault(&path, "estimated rule cost", cost).map(|fault| fault.detail.to_string());
            assert_eq!(detail.is_some(), expect.is_some(), "{cost}");
            assert!(detail.unwrap_or_default().contains(expect.unwrap_or_default()), "{cost}");
        }
    }

    #[test]
    fn names_most_expensive_rules() {
        let count = |costs: &[u64]| {
            let mut total = Total::default();
            costs.iter().for_each(|cost| total.add(&Path::new("rule"), *cost));
            total.faults(&Path::new("schema")).len()
        };
        for (costs, expect) in [
            (&[][..], 0),
            (&[60_000_000, 40_000_000], 0),
            (&[60_000_000, 40_000_001], 3),
            (&[90_000_000, 10_000_000, 900_000], 3),
            (&[16_000_000, 50_000_000, 900_000, 34_000_000, 50_000_000, 50_000_001], 5),
            (&[u64::MAX / 2, u64::MAX / 2, 1, 10], 3),
        ] {
            assert_eq!(count(costs), expect, "{costs:?}");
        }
    }
}
