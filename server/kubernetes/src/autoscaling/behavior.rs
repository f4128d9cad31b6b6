//! Text form of the behavior annotation. Upstream encodes its internal type, whose fields have no JSON
//! names, so members have Go's names.

use machinery::json::{self, Issues, Value};
use machinery::scalar::Quantity;

use generated::autoscaling::v2::{HPAScalingPolicy, HPAScalingRules, HorizontalPodAutoscalerBehavior};

/// Writes the annotation.
pub fn write(behavior: &HorizontalPodAutoscalerBehavior) -> String {
    let [up, down] =
        [&behavior.scale_up, &behavior.scale_down].map(|rules| rules.as_deref().map_or("null".into(), rules_text));
    format!(r#"{{"ScaleUp":{up},"ScaleDown":{down}}}"#)
}

fn rules_text(rules: &HPAScalingRules) -> String {
    let window = rules.stabilization_window_seconds.map_or("null".into(), |seconds| seconds.to_string());
    let select = rules.select_policy.as_deref().map_or("null".into(), string);
    let policies: Vec<String> = rules.policies.iter().map(policy_text).collect();
    let policies = if policies.is_empty() { "null".into() } else { format!("[{}]", policies.join(",")) };
    let tolerance = rules.tolerance.as_ref().map_or("null".into(), |quantity| string(&quantity.to_string()));
    format!(
        r#"{{"StabilizationWindowSeconds":{window},"SelectPolicy":{select},"Policies":{policies},"Tolerance":{tolerance}}}"#
    )
}

fn policy_text(policy: &HPAScalingPolicy) -> String {
    let kind = string(&policy.r#type);
    format!(r#"{{"Type":{kind},"Value":{},"PeriodSeconds":{}}}"#, policy.value, policy.period_seconds)
}

fn string(text: &str) -> String {
    let mut out = Vec::new();
    json::encode_value(&Value::String(text.to_owned()), &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// Reads the annotation; invalid text or an empty behavior counts as absent.
pub fn read(text: &str) -> Option<HorizontalPodAutoscalerBehavior> {
    let value = json::parse(text.as_bytes(), &mut Issues::ignore()).ok()?;
    value.as_object()?;
    let [scale_up, scale_down] = ["ScaleUp", "ScaleDown"].map(|name| match member(&value, name) {
        Some(rules) => read_rules(rules).map(|rules| Some(Box::new(rules))),
        None => Some(None),
    });
    let behavior = HorizontalPodAutoscalerBehavior { scale_up: scale_up?, scale_down: scale_down? };
    (behavior.scale_up.is_some() || behavior.scale_down.is_some()).then_some(behavior)
}

fn read_rules(value: &Value) -> Option<HPAScalingRules> {
    value.as_object()?;
    let policies = match member(value, "Policies") {
        Some(list) => list.as_array()?.iter().map(read_policy).collect::<Option<_>>()?,
        None => Vec::new(),
    };
    Some(HPAScalingRules {
        stabilization_window_seconds: optional(member(value, "StabilizationWindowSeconds"), int)?,
        select_policy: optional(member(value, "SelectPolicy"), text)?,
        policies,
        tolerance: optional(member(value, "Tolerance"), |v| Quantity::from_json(&v.to_string()).ok())?,
    })
}

fn read_policy(value: &Value) -> Option<HPAScalingPolicy> {
    value.as_object()?;
    Some(HPAScalingPolicy {
        r#type: optional(member(value, "Type"), text)?.unwrap_or_default(),
        value: optional(member(value, "Value"), int)?.unwrap_or_default(),
        period_seconds: optional(member(value, "PeriodSeconds"), int)?.unwrap_or_default(),
    })
}

/// A member that is present and not `null`, by its name in any case, as Go matches it.
fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    let members = value.as_object()?;
    let found =
        members.get(name).or_else(|| members.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, v)| v));
    found.filter(|value| !value.is_null())
}

/// `None` for a member of the wrong type.
fn optional<T>(value: Option<&Value>, read: impl Fn(&Value) -> Option<T>) -> Option<Option<T>> {
    value.map_or(Some(None), |value| read(value).map(Some))
}

fn int(value: &Value) -> Option<i32> {
    value.as_i64().and_then(|number| i32::try_from(number).ok())
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}
