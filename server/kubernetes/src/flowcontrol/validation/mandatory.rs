//! Mandatory objects, which exist on every server and are immutable
//! (`pkg/apis/flowcontrol/internalbootstrap`).

use generated::flowcontrol::v1::{
    ExemptPriorityLevelConfiguration, FlowDistinguisherMethod, FlowSchemaSpec, GroupSubject, LimitResponse,
    LimitedPriorityLevelConfiguration, NonResourcePolicyRule, PolicyRulesWithSubjects,
    PriorityLevelConfigurationReference, PriorityLevelConfigurationSpec, ResourcePolicyRule, Subject,
    flow_distinguisher_method_type, limit_response_type, priority_level_enablement, subject_kind,
};

pub const EXEMPT: &str = "exempt";
pub const CATCH_ALL: &str = "catch-all";

/// The required spec of a mandatory flow schema with this name.
pub fn flow_schema(name: &str) -> Option<FlowSchemaSpec> {
    let (matching_precedence, by_user, groups) = match name {
        EXEMPT => (1, false, &["system:masters"][..]),
        CATCH_ALL => (10_000, true, &["system:unauthenticated", "system:authenticated"][..]),
        _ => return None,
    };
    Some(FlowSchemaSpec {
        priority_level_configuration: PriorityLevelConfigurationReference { name: name.to_owned() },
        matching_precedence,
        distinguisher_method: by_user
            .then(|| Box::new(FlowDistinguisherMethod { r#type: flow_distinguisher_method_type::BY_USER.to_owned() })),
        rules: vec![everything_of(groups)],
    })
}

fn everything_of(groups: &[&str]) -> PolicyRulesWithSubjects {
    let all = || vec!["*".to_owned()];
    let subject = |name: &&str| Subject {
        kind: subject_kind::GROUP.to_owned(),
        group: Some(Box::new(GroupSubject { name: (*name).to_owned() })),
        ..Subject::default()
    };
    PolicyRulesWithSubjects {
        subjects: groups.iter().map(subject).collect(),
        resource_rules: vec![ResourcePolicyRule {
            verbs: all(),
            api_groups: all(),
            resources: all(),
            cluster_scope: true,
            namespaces: all(),
        }],
        non_resource_rules: vec![NonResourcePolicyRule { verbs: all(), non_resource_urls: all() }],
    }
}

/// The required spec of a mandatory priority level with this name.
pub fn priority_level(name: &str) -> Option<PriorityLevelConfigurationSpec> {
    let exempt = ExemptPriorityLevelConfiguration { nominal_concurrency_shares: Some(0), lendable_percent: Some(0) };
    let limited = LimitedPriorityLevelConfiguration {
        nominal_concurrency_shares: Some(5),
        limit_response: LimitResponse { r#type: limit_response_type::REJECT.to_owned(), queuing: None },
        lendable_percent: Some(0),
        borrowing_limit_percent: None,
    };
    let (kind, limited, exempt) = match name {
        EXEMPT => (priority_level_enablement::EXEMPT, None, Some(Box::new(exempt))),
        CATCH_ALL => (priority_level_enablement::LIMITED, Some(Box::new(limited)), None),
        _ => return None,
    };
    Some(PriorityLevelConfigurationSpec { r#type: kind.to_owned(), limited, exempt })
}
