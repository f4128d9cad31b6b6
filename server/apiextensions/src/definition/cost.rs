//! What the rules of a schema may cost, as far as that is known when they are written (`TotalCost`, `getCostErrorMessage`).

use apimachinery::apiextensions::v1::JSONSchemaProps;
use machinery::field_error::FieldError;
use machinery::field_path::Path;

use crate::rules::REQUEST;

/// Most that one expression may cost.
const OF_EXPRESSION: u64 = 10_000_000;
/// Most that all rules of a schema may cost.
const OF_SCHEMA: u64 = 100_000_000;
/// How many of the dearest rules are named.
const NAMED: usize = 4;

/// How often a part of a schema can occur in an object, at most; nothing when there is no limit.
pub type Count = Option<u64>;

/// How often what is directly in a schema's values can occur (`extractMaxElements`).
pub fn count_below(props: &JSONSchemaProps, count: Count) -> Count {
    let most = match props.r#type.as_str() {
        "object" if props.additional_properties.is_some() => props.max_properties,
        "array" => props.max_items,
        _ => Some(1),
    };
    Some(count?.saturating_mul(u64::try_from(most?).unwrap_or(0)))
}

/// The cost of a rule on all values that an object can have; without a limit there are as many as a request holds.
pub fn of_rule(cost: u64, count: Count, least_bytes: u64) -> u64 {
    cost.saturating_mul(count.unwrap_or(REQUEST / (least_bytes + 1)))
}

/// The fault of an expression that costs too much.
pub fn fault(path: &Path<'_>, what: &str, cost: u64) -> Option<FieldError> {
    (cost > OF_EXPRESSION).then(|| FieldError::forbidden(path, excess(what, cost, OF_EXPRESSION)))
}

fn excess(what: &str, cost: u64, limit: u64) -> String {
    let times = cost as f64 / limit as f64;
    let factor = match times {
        // What is so far beyond is not made good by a little.
        _ if times > 100.0 => "more than 100x".to_owned(),
        _ if times < 1.5 => format!("{times:.6}x"),
        _ => format!("{times:.1}x"),
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
    )
}

/// What all rules of a schema cost together.
#[derive(Default)]
pub struct Total {
    sum: u64,
    /// The dearest first, each with what is said of it.
    dearest: Vec<(u64, FieldError)>,
}

impl Total {
    /// Adds the expression at a path.
    pub fn add(&mut self, path: &Path<'_>, cost: u64) {
        self.sum = self.sum.saturating_add(cost);
        if cost < OF_SCHEMA / 100 {
            return;
        }
        let why = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
        self.dearest.push((cost, FieldError::forbidden(path, why)));
        self.dearest.sort_by_key(|(cost, _)| std::cmp::Reverse(*cost));
        self.dearest.truncate(NAMED);
    }

    /// The faults of a schema that costs too much.
    pub fn faults(self, path: &Path<'_>) -> Vec<FieldError> {
        if self.sum <= OF_SCHEMA {
            return Vec::new();
        }
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        let whole = FieldError::forbidden(path, excess(what, self.sum, OF_SCHEMA));
        self.dearest.into_iter().map(|(_, fault)| fault).chain([whole]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_dear_rules() {
        let path = Path::new("rule");
        for (cost, expect) in [
            (10_000_000, None),
            (10_000_001, Some("factor of 1.000000x")),
            (14_990_000, Some("factor of 1.499000x")),
            (25_600_000, Some("factor of 2.6x")),
            (u64::MAX, Some("factor of more than 100x")),
        ] {
            let said = fault(&path, "estimated rule cost", cost).map(|fault| fault.detail.to_string());
            assert_eq!(said.is_some(), expect.is_some(), "{cost}");
            assert!(said.unwrap_or_default().contains(expect.unwrap_or_default()), "{cost}");
        }
    }

    #[test]
    fn the_dearest_rules_are_named() {
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
