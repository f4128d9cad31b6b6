//! What pods may say: by feature gates, and by what stored ones say already.
//! By hand: they follow from gates and from all of what is stored.

use machinery::features;
use machinery::field_path::Path;
use machinery::format::field;
use machinery::gates::uses_gate;
use machinery::hooks::{Context, Validation};
use machinery::options;
use machinery::reflect::Ref;

use super::affinity::{has_invalid_values_of_nodes, has_invalid_values_of_pods};
use super::annotations::deletion_cost;
use super::resources::has_indivisible_huge_pages;
use super::sysctl::HostNamespaces;
use super::topology;
use super::visit::all_containers;
use generated::core::v1::{Pod, PodSpec, PodTemplateSpec};
use generated::meta::v1::ObjectMeta;

/// What is asked of `matchLabelKeys` in spread constraints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchLabelKeysRule {
    /// Creating the pod has merged them into the selector (KEP-3243).
    #[default]
    Merged,
    /// The selector is without them.
    Separate,
}

/// `PodValidationOptions`; what begins with `allow` is kept for stored objects.
#[derive(Clone, Debug, Default)]
pub struct PodOptions {
    /// The spec is that of a pod, not of a template.
    pub is_pod: bool,
    pub env_files: bool,
    pub container_restart_rules: bool,
    pub restart_all_containers: bool,
    pub pod_level_resources: bool,
    pub resize_pod_level_resources: bool,
    pub compare_tolerations: bool,
    pub user_namespaces_in_host_network: bool,
    pub only_recursive_label_changes: bool,
    pub match_label_keys: MatchLabelKeysRule,
    pub allow_any_token_path: bool,
    pub allow_indivisible_huge_pages: bool,
    pub allow_init_resize_restarts: bool,
    pub allow_invalid_deletion_cost: bool,
    pub allow_invalid_spread_selector: bool,
    pub allow_invalid_values_of_nodes: bool,
    pub allow_invalid_values_of_pods: bool,
    pub allow_sysctls_of_host: bool,
    pub allow_user_namespaces_with_devices: bool,
}

impl PodOptions {
    /// For a pod that replaces `old`.
    pub fn of_pod(context: &Context, old: Option<&Pod>) -> Self {
        PodOptions { is_pod: true, ..Self::of(context, old.map(|old| (&old.metadata, &old.spec))) }
    }

    /// For a template that replaces `old` (`GetValidationOptionsFromPodTemplate`).
    pub fn of_template(context: &Context, old: Option<&PodTemplateSpec>) -> Self {
        Self::of(context, old.map(|old| (&old.metadata, &old.spec)))
    }

    /// Chooses what declared checks and functions ask for.
    pub fn choose(&self, v: &mut Validation<'_>) {
        let separate = self.match_label_keys == MatchLabelKeysRule::Separate;
        let allow_privileged = v.context.allow_privileged;
        for (option, is_chosen) in [
            (options::IN_POD, self.is_pod),
            (options::PRIVILEGED_ALLOWED, allow_privileged),
            (options::ENV_FILES, self.env_files),
            (options::CONTAINER_RESTART_RULES, self.container_restart_rules),
            (options::RESTART_ALL_CONTAINERS, self.restart_all_containers),
            (options::INIT_RESIZE_RESTARTS, self.allow_init_resize_restarts),
            (options::COMPARED_TOLERATIONS, self.compare_tolerations),
            (options::USER_NAMESPACES_IN_HOST_NETWORK, self.user_namespaces_in_host_network),
            (options::USER_NAMESPACES_WITH_DEVICES, self.allow_user_namespaces_with_devices),
            (options::ONLY_RECURSIVE_LABEL_CHANGES, self.only_recursive_label_changes),
            (options::ANY_TOKEN_PATH, self.allow_any_token_path),
            (options::INDIVISIBLE_HUGE_PAGES, self.allow_indivisible_huge_pages),
            (options::SYSCTLS_OF_HOST, self.allow_sysctls_of_host),
            (options::ANY_SPREAD_SELECTOR, self.allow_invalid_spread_selector),
            (options::SEPARATE_LABEL_KEYS, separate),
            (options::ANY_VALUES_OF_NODES, self.allow_invalid_values_of_nodes),
            (options::ANY_VALUES_OF_PODS, self.allow_invalid_values_of_pods),
        ] {
            v.set_option(option, is_chosen);
        }
    }

    /// `GetValidationOptionsFromPodSpecAndMeta`
    fn of(context: &Context, old: Option<(&ObjectMeta, &PodSpec)>) -> Self {
        let spec = old.map(|(_, spec)| spec);
        let on = |gate| context.enabled(gate) || spec.is_some_and(|spec| uses_gate(Ref::of(spec), gate));
        let of_gates = PodOptions {
            env_files: on(features::EnvFiles),
            container_restart_rules: on(features::ContainerRestartRules),
            restart_all_containers: context.enabled(features::RestartAllContainersOnContainerExits),
            pod_level_resources: context.enabled(features::PodLevelResources),
            resize_pod_level_resources: context.enabled(features::InPlacePodLevelResourcesVerticalScaling),
            compare_tolerations: context.enabled(features::TaintTolerationComparisonOperators),
            user_namespaces_in_host_network: context.enabled(features::UserNamespacesHostNetworkSupport),
            only_recursive_label_changes: !context.enabled(features::SELinuxMount),
            match_label_keys: match_label_keys_rule(context, spec),
            allow_invalid_deletion_cost: !context.enabled(features::PodDeletionCost),
            ..PodOptions::default()
        };
        old.map_or(of_gates.clone(), |(meta, spec)| of_gates.relaxed(context, meta, spec))
    }

    /// Lets an update leave what is stored.
    fn relaxed(self, context: &Context, meta: &ObjectMeta, spec: &PodSpec) -> Self {
        let (affinity, spreads) = (spec.affinity.as_deref(), &spec.topology_spread_constraints);
        let security = spec.security_context.as_deref();
        let own_users = spec.host_users == Some(false);
        let host = HostNamespaces::of(spec);
        let host_sysctl = security.is_some_and(|c| c.sysctls.iter().any(|s| host.refusal(&s.name).is_some()));
        PodOptions {
            compare_tolerations: self.compare_tolerations || compares_tolerations(spec),
            user_namespaces_in_host_network: self.user_namespaces_in_host_network || (own_users && spec.host_network),
            only_recursive_label_changes: self.only_recursive_label_changes
                && security.is_none_or(|c| c.se_linux_change_policy.is_none()),
            restart_all_containers: self.restart_all_containers || restarts_all_containers(spec),
            allow_any_token_path: has_odd_token_path(spec),
            allow_indivisible_huge_pages: all_containers(spec).any(|c| has_indivisible_huge_pages(c.resources)),
            allow_init_resize_restarts: has_init_resize_restart(spec),
            allow_invalid_deletion_cost: self.allow_invalid_deletion_cost || deletion_cost(&meta.annotations).is_err(),
            allow_invalid_spread_selector: topology::has_invalid_selector(context, spreads),
            allow_invalid_values_of_nodes: affinity.is_some_and(has_invalid_values_of_nodes),
            allow_invalid_values_of_pods: affinity.is_some_and(has_invalid_values_of_pods),
            allow_sysctls_of_host: host_sysctl,
            allow_user_namespaces_with_devices: own_users && all_containers(spec).any(|c| !c.volume_devices.is_empty()),
            ..self
        }
    }
}

/// The rule that the gate asks for, or the other one where the stored constraints break that.
fn match_label_keys_rule(context: &Context, old: Option<&PodSpec>) -> MatchLabelKeysRule {
    use MatchLabelKeysRule::{Merged, Separate};
    if !context.enabled(features::MatchLabelKeysInPodTopologySpread) {
        return Separate;
    }
    let merge = context.enabled(features::MatchLabelKeysInPodTopologySpreadSelectorMerge);
    let (rule, other) = if merge { (Merged, Separate) } else { (Separate, Merged) };
    let broken = old.is_some_and(|old| topology::breaks_rule(context, &old.topology_spread_constraints, rule));
    if broken { other } else { rule }
}

fn compares_tolerations(spec: &PodSpec) -> bool {
    spec.tolerations.iter().any(|toleration| matches!(toleration.operator.as_str(), "Lt" | "Gt"))
}

fn restarts_all_containers(spec: &PodSpec) -> bool {
    let mut rules = spec.containers.iter().chain(&spec.init_containers).flat_map(|c| &c.restart_policy_rules);
    rules.any(|rule| rule.action == "RestartAllContainers")
}

/// `hasNonLocalProjectedTokenPath`
fn has_odd_token_path(spec: &PodSpec) -> bool {
    let projected = spec.volumes.iter().filter_map(|volume| volume.volume_source.projected.as_deref());
    let mut tokens = projected.flat_map(|p| &p.sources).filter_map(|source| source.service_account_token.as_deref());
    tokens.any(|token| !field::volume_path(&Path::NONE, &token.path).is_empty())
}

fn has_init_resize_restart(spec: &PodSpec) -> bool {
    let inits = spec.init_containers.iter().filter(|container| !super::container::is_sidecar(container));
    inits.flat_map(|container| &container.resize_policy).any(|policy| policy.restart_policy == "RestartContainer")
}
