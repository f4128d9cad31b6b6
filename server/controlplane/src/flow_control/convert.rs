//! Conversion of stored flow schemas and priority levels to the types of flow control.

use flowcontrol::{
    Distinguisher, FlowSchema, PathRule, PolicyRulesWithSubjects, PriorityLevel, Queuing, ResourceRule, Subject,
    mandatory_levels,
};
use generated::flowcontrol::v1;

/// Converts a flow schema.
pub fn schema(schema: &v1::FlowSchema) -> FlowSchema {
    let spec = &schema.spec;
    FlowSchema {
        name: schema.metadata.name.clone(),
        uid: schema.metadata.uid.clone(),
        precedence: spec.matching_precedence,
        level: spec.priority_level_configuration.name.clone(),
        distinguisher: spec.distinguisher_method.as_ref().and_then(|method| distinguisher(&method.r#type)),
        rules: spec.rules.iter().map(rule).collect(),
    }
}

fn distinguisher(name: &str) -> Option<Distinguisher> {
    match name {
        v1::flow_distinguisher_method_type::BY_USER => Some(Distinguisher::ByUser),
        v1::flow_distinguisher_method_type::BY_NAMESPACE => Some(Distinguisher::ByNamespace),
        _ => None,
    }
}

fn rule(rule: &v1::PolicyRulesWithSubjects) -> PolicyRulesWithSubjects {
    let resources = |rule: &v1::ResourcePolicyRule| ResourceRule {
        verbs: rule.verbs.clone(),
        groups: rule.api_groups.clone(),
        resources: rule.resources.clone(),
        cluster_scope: rule.cluster_scope,
        namespaces: rule.namespaces.clone(),
    };
    let paths = |rule: &v1::NonResourcePolicyRule| PathRule {
        verbs: rule.verbs.clone(),
        paths: rule.non_resource_urls.clone(),
    };
    PolicyRulesWithSubjects {
        subjects: rule.subjects.iter().filter_map(subject).collect(),
        resources: rule.resource_rules.iter().map(resources).collect(),
        paths: rule.non_resource_rules.iter().map(paths).collect(),
    }
}

fn subject(subject: &v1::Subject) -> Option<Subject> {
    match subject.kind.as_str() {
        v1::subject_kind::USER => Some(Subject::User(subject.user.as_ref()?.name.clone())),
        v1::subject_kind::GROUP => Some(Subject::Group(subject.group.as_ref()?.name.clone())),
        v1::subject_kind::SERVICE_ACCOUNT => {
            let account = subject.service_account.as_ref()?;
            Some(Subject::ServiceAccount { namespace: account.namespace.clone(), name: account.name.clone() })
        }
        _ => None,
    }
}

/// Converts a priority level. Returns `None` for an inconsistent object, which validation should
/// prevent.
pub fn level(level: &v1::PriorityLevelConfiguration) -> Option<PriorityLevel> {
    let (name, spec) = (level.metadata.name.clone(), &level.spec);
    let [exempt, _] = mandatory_levels();
    // Only the mandatory level `exempt` may be exempt.
    if (spec.r#type == v1::priority_level_enablement::EXEMPT) != (name == exempt.name) {
        return None;
    }
    let uid = level.metadata.uid.clone();
    let unsigned = |number: Option<i32>| number.and_then(|number| u32::try_from(number).ok());
    match (&spec.limited, &spec.exempt) {
        (Some(limited), None) => Some(PriorityLevel {
            name,
            uid,
            shares: unsigned(limited.nominal_concurrency_shares)?,
            lendable_percent: unsigned(limited.lendable_percent).unwrap_or_default(),
            borrowing_percent: unsigned(limited.borrowing_limit_percent),
            queuing: queuing(&limited.limit_response)?,
        }),
        (None, Some(spec)) => Some(PriorityLevel {
            name,
            uid,
            shares: unsigned(spec.nominal_concurrency_shares).unwrap_or_default(),
            lendable_percent: unsigned(spec.lendable_percent).unwrap_or_default(),
            ..exempt
        }),
        _ => None,
    }
}

fn queuing(response: &v1::LimitResponse) -> Option<Queuing> {
    match (response.r#type.as_str(), &response.queuing) {
        (v1::limit_response_type::REJECT, None) => Some(Queuing::Reject),
        (v1::limit_response_type::QUEUE, Some(queuing)) => Some(Queuing::Queues {
            count: usize::try_from(queuing.queues).ok().filter(|count| *count > 0)?,
            hand_size: usize::try_from(queuing.hand_size).ok().filter(|size| *size > 0)?,
            length: usize::try_from(queuing.queue_length_limit).ok()?,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machinery::json;
    use machinery::reflect::Mut;

    fn configuration(name: &str, spec: &str) -> v1::PriorityLevelConfiguration {
        let mut level = v1::PriorityLevelConfiguration::default();
        let text = format!("{{\"metadata\":{{\"name\":{name:?}}},\"spec\":{spec}}}");
        let value = serde_json::from_str(&text).unwrap();
        json::from_value(&value, Mut::of(&mut level), &mut json::Issues::ignore()).unwrap();
        level
    }

    #[test]
    fn rejects_inconsistent_levels() {
        let queue = r#"{"type":"Limited","limited":{"nominalConcurrencyShares":30,"lendablePercent":33,"borrowingLimitPercent":9,
            "limitResponse":{"type":"Queue","queuing":{"queues":64,"handSize":6,"queueLengthLimit":50}}}}"#;
        let expect = PriorityLevel {
            name: "system".into(),
            uid: String::new(),
            shares: 30,
            lendable_percent: 33,
            borrowing_percent: Some(9),
            queuing: Queuing::Queues { count: 64, hand_size: 6, length: 50 },
        };
        assert_eq!(level(&configuration("system", queue)), Some(expect));
        let exempt = r#"{"type":"Exempt","exempt":{"nominalConcurrencyShares":3}}"#;
        assert_eq!(level(&configuration("exempt", exempt)).map(|l| (l.shares, l.queuing)), Some((3, Queuing::Exempt)));
        for (name, spec) in [
            ("exempt", queue),
            ("other", exempt),
            ("x", r#"{"type":"Limited"}"#),
            ("x", r#"{"type":"Limited","limited":{"nominalConcurrencyShares":1,"limitResponse":{"type":"Queue"}}}"#),
        ] {
            assert_eq!(level(&configuration(name, spec)), None, "{name} {spec}");
        }
    }
}
