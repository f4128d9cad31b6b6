use crate::meta::ObjectMeta;

/// Ties Ingress objects to the controller that implements them.
#[kind(plural = "ingressclasses", scope = Cluster, generation, metadata = change)]
#[versions(
    v1(introduced = "1.19"),
    v1beta1(unserved, introduced = "1.18", deprecated = "1.19", replacement = "networking.k8s.io/v1 IngressClassList")
)]
#[column("Name", by_hand = ingress_class_name, reads(metadata.name, metadata.annotations), format = "name", "Name of the class, marked when it is the default one.")]
#[column("Controller", spec.controller)]
#[column("Parameters", by_hand = ingress_class_parameters, reads(spec.parameters), "Kind and name of the object with the controller's parameters.")]
#[column("Age", age)]
#[check(spec.controller, immutable)]
#[check(metadata, by_hand = validate_cluster_metadata, when(update))]
#[check(spec.controller, max_bytes = 250, format = domain_prefixed_path)]
#[check(spec.parameters, below)]
pub struct IngressClass {
    /// Name and labels; annotation `ingressclass.kubernetes.io/is-default-class` set to `true` makes this the default.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Controller identity and optional configuration reference.
    #[field(2)]
    pub spec: IngressClassSpec,
}

/// Declares which controller handles the class and with what parameters.
pub struct IngressClassSpec {
    /// Domain-prefixed controller identifier, like `example.com/ingress`; immutable, up to 250 characters.
    #[field(1)]
    pub controller: String,

    /// Optional pointer to controller-specific configuration.
    #[field(2)]
    pub parameters: Option<IngressClassParametersReference>,
}

/// Locates an object holding extra configuration for an ingress controller.
#[check(apiGroup, format = dns1123_subdomain)]
#[check(kind, required, name = path_segment)]
#[check(name, required, name = path_segment)]
#[check(scope, required, one_of(Cluster, Namespace))]
#[check(namespace, required = "`parameters.scope` is set to 'Namespace'", name = dns1123_label, when(scope = Namespace))]
#[check(namespace, forbidden = "`parameters.scope` is set to 'Cluster'", when(scope = Cluster))]
pub struct IngressClassParametersReference {
    /// API group of the configuration object; empty refers to core.
    #[field(1, proto = "aPIGroup")]
    pub api_group: Option<String>,

    /// Type of the configuration object.
    #[field(2, required)]
    pub kind: String,

    /// Configuration object's name within its scope.
    #[field(3, required)]
    pub name: String,

    /// Either `Cluster`, which is the default, or `Namespace`.
    #[field(4, always, default_hidden = "Cluster")]
    pub scope: Option<String>,

    /// Where the configuration object lives; required with `Namespace` scope, otherwise forbidden.
    #[field(5)]
    pub namespace: Option<String>,
}

mod v1beta1 {
    #[differs(IngressClassParametersReference)]
    struct IngressClassParametersReference {
        /// Either `Cluster`, which is the default, or `Namespace`.
        #[field(4, required)]
        scope: Option<String>,
    }
}
