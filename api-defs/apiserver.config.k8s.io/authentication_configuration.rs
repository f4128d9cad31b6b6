/// Configuration of token issuers and anonymous requests (`--authentication-config`).
#[kind]
#[versions(v1, v1beta1, v1alpha1)]
#[proto(none)]
pub struct AuthenticationConfiguration {
    /// Authenticators for JWTs; each issuer URL may occur once.
    #[field(json_only, required, list = atomic)]
    pub jwt: Vec<JWTAuthenticator>,

    /// Settings for requests without credentials; `--anonymous-auth` applies when absent.
    #[field(json_only)]
    pub anonymous: Option<AnonymousAuthConfig>,
}

/// Settings for requests without credentials.
#[proto(none)]
pub struct AnonymousAuthConfig {
    /// Whether anonymous requests are accepted.
    #[field(json_only, required)]
    pub enabled: bool,

    /// Paths that accept anonymous requests; all paths when empty.
    #[field(json_only, list = atomic)]
    pub conditions: Vec<AnonymousAuthCondition>,
}

/// Condition under which an anonymous request is accepted.
#[proto(none)]
pub struct AnonymousAuthCondition {
    /// URL path to match, without a query.
    #[field(json_only, required)]
    pub path: String,
}

/// Maps the tokens of one issuer to users.
#[proto(none)]
pub struct JWTAuthenticator {
    /// Issuer of the tokens and the way to verify it.
    #[field(json_only, required)]
    pub issuer: Issuer,

    /// Rules that the claims of a token have to meet.
    #[field(json_only, list = atomic)]
    pub claim_validation_rules: Vec<ClaimValidationRule>,

    /// Mapping of claims to the attributes of the user.
    #[field(json_only, required)]
    pub claim_mappings: ClaimMappings,

    /// Rules that the mapped user has to meet.
    #[field(json_only, list = atomic)]
    pub user_validation_rules: Vec<UserValidationRule>,
}

/// An issuer of tokens.
#[proto(none)]
pub struct Issuer {
    /// Value of the claim `iss`, and default base of the discovery URL; https only.
    #[field(json_only, required)]
    pub url: String,

    /// URL of the discovery document if it is not below `url`; https only.
    #[field(json_only, json = "discoveryURL")]
    pub discovery_url: Option<String>,

    /// PEM certificates to verify the issuer's TLS certificate; system roots if empty.
    #[field(json_only)]
    pub certificate_authority: String,

    /// Accepted audiences of tokens.
    #[field(json_only, required, list = atomic)]
    pub audiences: Vec<String>,

    /// Comparison of several audiences with those of a token.
    #[field(json_only)]
    pub audience_match_policy: AudienceMatchPolicyType,

    /// Egress selection for connections to the issuer.
    #[field(json_only)]
    pub egress_selector_type: EgressSelectorType,
}

/// Comparison of several audiences with those of a token.
#[open]
pub enum AudienceMatchPolicyType {
    MatchAny,
}

/// Egress selection for outgoing connections of the server.
#[open]
pub enum EgressSelectorType {
    #[value("controlplane")]
    ControlPlane,
    #[value("cluster")]
    Cluster,
}

/// Rule for claims: a required value, or a CEL expression.
#[proto(none)]
pub struct ClaimValidationRule {
    /// Name of the claim to check.
    #[field(json_only)]
    pub claim: String,

    /// Required value of the claim; defaults to the empty string.
    #[field(json_only)]
    pub required_value: String,

    /// CEL expression over `claims` that must evaluate to true.
    #[field(json_only)]
    pub expression: String,

    /// Message to log when the expression evaluates to false.
    #[field(json_only)]
    pub message: String,
}

/// Mapping of claims to the attributes of the user.
#[proto(none)]
pub struct ClaimMappings {
    /// Source of the username.
    #[field(json_only, required)]
    pub username: PrefixedClaimOrExpression,

    /// Source of the groups.
    #[field(json_only)]
    pub groups: PrefixedClaimOrExpression,

    /// Source of the unique id of the user.
    #[field(json_only, required)]
    pub uid: ClaimOrExpression,

    /// Sources of extra attributes of the user.
    #[field(json_only, list = atomic)]
    pub extra: Vec<ExtraMapping>,
}

/// Attribute source: a claim with a prefix, or a CEL expression.
#[proto(none)]
pub struct PrefixedClaimOrExpression {
    /// Name of the claim.
    #[field(json_only)]
    pub claim: String,

    /// Prefix of the value; required with a claim, may be empty.
    #[field(json_only)]
    pub prefix: Option<String>,

    /// CEL expression over `claims`.
    #[field(json_only)]
    pub expression: String,
}

/// Attribute source: a claim, or a CEL expression.
#[proto(none)]
pub struct ClaimOrExpression {
    /// Name of the claim.
    #[field(json_only)]
    pub claim: String,

    /// CEL expression over `claims`.
    #[field(json_only)]
    pub expression: String,
}

/// Source of one extra attribute of the user.
#[proto(none)]
pub struct ExtraMapping {
    /// Key of the attribute: a domain-prefixed path in lower case.
    #[field(json_only, required)]
    pub key: String,

    /// CEL expression over `claims` that returns a string or a list of strings.
    #[field(json_only, required)]
    pub value_expression: String,
}

/// Rule for the mapped user.
#[proto(none)]
pub struct UserValidationRule {
    /// CEL expression over `user` that must evaluate to true.
    #[field(json_only, required)]
    pub expression: String,

    /// Message to log when the expression evaluates to false.
    #[field(json_only)]
    pub message: String,
}
