/// Whose tokens are believed, and who comes in without credentials (`--authentication-config`).
#[kind]
#[versions(v1, v1beta1, v1alpha1)]
#[proto(none)]
pub struct AuthenticationConfiguration {
    /// Issuers of tokens; each issuer URL once.
    #[field(json_only, required, list = atomic)]
    pub jwt: Vec<JWTAuthenticator>,

    /// Who comes in without credentials; when absent, `--anonymous-auth` says it.
    #[field(json_only)]
    pub anonymous: Option<AnonymousAuthConfig>,
}

/// Who comes in without credentials.
#[proto(none)]
pub struct AnonymousAuthConfig {
    /// Whether anybody does.
    #[field(json_only, required)]
    pub enabled: bool,

    /// Where to; everywhere when empty.
    #[field(json_only, list = atomic)]
    pub conditions: Vec<AnonymousAuthCondition>,
}

/// A way in for requests without credentials.
#[proto(none)]
pub struct AnonymousAuthCondition {
    /// The path of the request, without a query.
    #[field(json_only, required)]
    pub path: String,
}

/// How tokens of one issuer become users.
#[proto(none)]
pub struct JWTAuthenticator {
    /// Who issues, and how that is made sure of.
    #[field(json_only, required)]
    pub issuer: Issuer,

    /// What claims have to be like.
    #[field(json_only, list = atomic)]
    pub claim_validation_rules: Vec<ClaimValidationRule>,

    /// Which claims say who the user is.
    #[field(json_only, required)]
    pub claim_mappings: ClaimMappings,

    /// What the user has to be like.
    #[field(json_only, list = atomic)]
    pub user_validation_rules: Vec<UserValidationRule>,
}

/// Who issues tokens.
#[proto(none)]
pub struct Issuer {
    /// The claim `iss`, and where the discovery document is found unless said otherwise; https only.
    #[field(json_only, required)]
    pub url: String,

    /// Where the discovery document is found instead; https only.
    #[field(json_only, json = "discoveryURL")]
    pub discovery_url: Option<String>,

    /// Authorities of the issuer's certificate in PEM; those of the system when empty.
    #[field(json_only)]
    pub certificate_authority: String,

    /// Whom tokens have to be meant for.
    #[field(json_only, required, list = atomic)]
    pub audiences: Vec<String>,

    /// How several audiences are compared with those of a token.
    #[field(json_only)]
    pub audience_match_policy: AudienceMatchPolicyType,

    /// Which egress connections to the issuer take.
    #[field(json_only)]
    pub egress_selector_type: EgressSelectorType,
}

/// How several audiences are compared with those of a token.
#[open]
pub enum AudienceMatchPolicyType {
    MatchAny,
}

/// A way out of the server.
#[open]
pub enum EgressSelectorType {
    #[value("controlplane")]
    ControlPlane,
    #[value("cluster")]
    Cluster,
}

/// What claims have to be like: a value, or an expression that holds.
#[proto(none)]
pub struct ClaimValidationRule {
    /// Name of a claim that has to have a value.
    #[field(json_only)]
    pub claim: String,

    /// The value, empty if not said.
    #[field(json_only)]
    pub required_value: String,

    /// Expression over `claims` that has to be true.
    #[field(json_only)]
    pub expression: String,

    /// What the log says when the expression is false.
    #[field(json_only)]
    pub message: String,
}

/// Which claims say who the user is.
#[proto(none)]
pub struct ClaimMappings {
    /// The name.
    #[field(json_only, required)]
    pub username: PrefixedClaimOrExpression,

    /// The groups.
    #[field(json_only)]
    pub groups: PrefixedClaimOrExpression,

    /// What tells users of one name apart.
    #[field(json_only, required)]
    pub uid: ClaimOrExpression,

    /// What else is said of the user.
    #[field(json_only, list = atomic)]
    pub extra: Vec<ExtraMapping>,
}

/// A claim with a prefix put before it, or an expression.
#[proto(none)]
pub struct PrefixedClaimOrExpression {
    /// Name of a claim.
    #[field(json_only)]
    pub claim: String,

    /// Put before the value; required with a claim, may be empty.
    #[field(json_only)]
    pub prefix: Option<String>,

    /// Expression over `claims`.
    #[field(json_only)]
    pub expression: String,
}

/// A claim, or an expression.
#[proto(none)]
pub struct ClaimOrExpression {
    /// Name of a claim.
    #[field(json_only)]
    pub claim: String,

    /// Expression over `claims`.
    #[field(json_only)]
    pub expression: String,
}

/// What is said of the user under a key.
#[proto(none)]
pub struct ExtraMapping {
    /// Path with a domain before it, in lower case.
    #[field(json_only, required)]
    pub key: String,

    /// Expression over `claims` that makes a string or a list of strings.
    #[field(json_only, required)]
    pub value_expression: String,
}

/// What the user has to be like.
#[proto(none)]
pub struct UserValidationRule {
    /// Expression over `user` that has to be true.
    #[field(json_only, required)]
    pub expression: String,

    /// What the log says when it is false.
    #[field(json_only)]
    pub message: String,
}
