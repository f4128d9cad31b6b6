//! Validation and compilation of the issuer configuration (upstream: `apis/apiserver/validation`).

use std::collections::BTreeSet;

use apimachinery::apiserverconfig::v1::{
    AuthenticationConfiguration, ClaimMappings, ClaimValidationRule, ExtraMapping, Issuer, JWTAuthenticator,
    PrefixedClaimOrExpression, UserValidationRule,
};
use cel::{Environment, Program, Type};
use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::format::field::domain_prefixed_path;
use machinery::format::url::Url;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use super::mapping::{AttributeSource, CLAIMS, CompiledClaimMappings, CompiledRule, USER, claims_type, user_type};

const MAX_ISSUERS: usize = 64;
const MATCH_ANY: &str = "MatchAny";
const BOTH: &str = "claim and expression can't both be set";

/// Compiles the claim mappings of every issuer. `disallowed` issuers must not be configured.
///
/// # Errors
/// All errors of the configuration.
pub(super) fn compile(
    configuration: &AuthenticationConfiguration,
    disallowed: &[String],
) -> Result<Vec<CompiledClaimMappings>, Vec<FieldError>> {
    let mut check = Check {
        disallowed,
        claims: Environment::new([(CLAIMS, claims_type())]),
        user: Environment::new([(USER, user_type())]),
        errors: Vec::new(),
    };
    let mappings = check.configuration(configuration);
    if check.errors.is_empty() { Ok(mappings) } else { Err(check.errors) }
}

struct Check<'c> {
    disallowed: &'c [String],
    claims: Environment,
    user: Environment,
    errors: Vec<FieldError>,
}

impl Check<'_> {
    fn invalid(&mut self, path: &Path<'_>, value: impl Into<BadValue>, why: impl Into<String>) {
        self.errors.push(FieldError::invalid(path, value, why.into()));
    }

    fn required(&mut self, path: &Path<'_>, why: impl Into<String>) {
        self.errors.push(FieldError::required(path, why.into()));
    }

    /// Adds a text to `seen`, or an error if it is a duplicate. Returns whether it is new.
    fn unique<'t>(&mut self, seen: &mut BTreeSet<&'t str>, path: &Path<'_>, text: &'t str) -> bool {
        let is_new = seen.insert(text);
        if !is_new {
            self.errors.push(FieldError::duplicate(path, text));
        }
        is_new
    }

    fn configuration(&mut self, configuration: &AuthenticationConfiguration) -> Vec<CompiledClaimMappings> {
        let root = Path::new("jwt");
        let count = configuration.jwt.len();
        if count > MAX_ISSUERS {
            self.errors.push(FieldError::too_many(&root, Some(count), MAX_ISSUERS));
            return Vec::new();
        }
        let (mut urls, mut discovery_urls, mut mappings) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        for (i, authenticator) in configuration.jwt.iter().enumerate() {
            let path = root.index(i);
            mappings.push(self.authenticator(authenticator, &path));
            let issuer = path.child("issuer");
            self.unique(&mut urls, &issuer.child("url"), &authenticator.issuer.url);
            if let Some(url) = authenticator.issuer.discovery_url.as_deref().filter(|url| !url.is_empty()) {
                self.unique(&mut discovery_urls, &issuer.child("discoveryURL"), url);
            }
        }
        if let Some(anonymous) = &configuration.anonymous
            && !anonymous.enabled
            && !anonymous.conditions.is_empty()
        {
            let path = Path::new("anonymous");
            let paths: Vec<_> = anonymous.conditions.iter().map(|c| serde_json::json!({"Path": c.path})).collect();
            let shown = BadValue::Json(serde_json::Value::from(paths).to_string());
            self.invalid(&path.child("conditions"), shown, "enabled should be set to true when conditions are defined");
        }
        mappings
    }

    fn authenticator(&mut self, authenticator: &JWTAuthenticator, path: &Path<'_>) -> CompiledClaimMappings {
        self.issuer(&authenticator.issuer, &path.child("issuer"));
        let rules = path.child("claimValidationRules");
        let (required, claim_rules) = self.claim_rules(&authenticator.claim_validation_rules, &rules);
        let mapping = CompiledClaimMappings { required, claim_rules, ..CompiledClaimMappings::default() };
        let mapping = self.mappings(&authenticator.claim_mappings, mapping, &path.child("claimMappings"));
        let user_rules = self.user_rules(&authenticator.user_validation_rules, &path.child("userValidationRules"));
        CompiledClaimMappings { user_rules, ..mapping }
    }

    fn issuer(&mut self, issuer: &Issuer, path: &Path<'_>) {
        let url = path.child("url");
        if issuer.url.is_empty() {
            self.required(&url, "");
        } else {
            if self.disallowed.contains(&issuer.url) {
                let disallowed: BTreeSet<&str> = self.disallowed.iter().map(String::as_str).collect();
                let disallowed = disallowed.into_iter().collect::<Vec<_>>().join(" ");
                self.invalid(
                    &url,
                    issuer.url.as_str(),
                    format!("URL must not overlap with disallowed issuers: [{disallowed}]"),
                );
            }
            self.url(&issuer.url, &url);
        }
        if let Some(discovery) = issuer.discovery_url.as_deref().filter(|url| !url.is_empty()) {
            let path = path.child("discoveryURL");
            if !issuer.url.is_empty() && issuer.url.trim_end_matches('/') == discovery.trim_end_matches('/') {
                self.invalid(&path, discovery, "discoveryURL must be different from URL");
            }
            self.url(discovery, &path);
        }
        self.audiences(issuer, path);
        let authorities = issuer.certificate_authority.as_bytes();
        if !authorities.is_empty() && !CertificateDer::pem_slice_iter(authorities).any(|found| found.is_ok()) {
            let why = "data does not contain any valid RSA or ECDSA certificates";
            self.invalid(&path.child("certificateAuthority"), "<omitted>", why);
        }
        let egress = issuer.egress_selector_type.as_str();
        if !egress.is_empty() {
            let why = match egress {
                "controlplane" | "cluster" => "egress selector is not supported by this server yet",
                _ => "egress selector must be either controlplane or cluster",
            };
            self.invalid(&path.child("egressSelectorType"), BadValue::json_string(egress), why);
        }
    }

    fn url(&mut self, text: &str, path: &Path<'_>) {
        let url = match Url::parse(text) {
            Ok(url) => url,
            Err(why) => return self.invalid(path, text, why.to_string()),
        };
        for (wrong, why) in [
            (url.scheme != "https", "URL scheme must be https"),
            (url.user.is_some(), "URL must not contain a username or password"),
            (!url.query.is_empty(), "URL must not contain a query"),
            (!url.fragment.is_empty(), "URL must not contain a fragment"),
        ] {
            if wrong {
                self.invalid(path, text, why);
            }
        }
    }

    fn audiences(&mut self, issuer: &Issuer, path: &Path<'_>) {
        let audiences = path.child("audiences");
        if issuer.audiences.is_empty() {
            return self.required(&audiences, format!("at least one {audiences} is required"));
        }
        let mut seen = BTreeSet::new();
        for (i, audience) in issuer.audiences.iter().enumerate() {
            let path = audiences.index(i);
            if audience.is_empty() {
                self.required(&path, "");
            }
            self.unique(&mut seen, &path, audience);
        }
        let (policy, shown) = (issuer.audience_match_policy.as_str(), path.child("audienceMatchPolicy"));
        if issuer.audiences.len() > 1 && policy != MATCH_ANY {
            let why = "audienceMatchPolicy must be MatchAny for multiple audiences";
            self.invalid(&shown, BadValue::json_string(policy), why);
        } else if !["", MATCH_ANY].contains(&policy) {
            let why = "audienceMatchPolicy must be empty or MatchAny for single audience";
            self.invalid(&shown, BadValue::json_string(policy), why);
        }
    }

    /// Compiles claim validation rules to required claims and conditions.
    fn claim_rules(
        &mut self,
        rules: &[ClaimValidationRule],
        path: &Path<'_>,
    ) -> (Vec<(String, String)>, Vec<CompiledRule>) {
        let (mut claims, mut expressions) = (BTreeSet::new(), BTreeSet::new());
        let (mut required, mut compiled) = (Vec::new(), Vec::new());
        for (i, rule) in rules.iter().enumerate() {
            let path = path.index(i);
            match (rule.claim.as_str(), rule.expression.as_str()) {
                ("", "") => self.required(&path, "claim or expression is required"),
                (claim, "") => {
                    if !rule.message.is_empty() {
                        let why = "may not be specified when claim is set";
                        self.invalid(&path.child("message"), rule.message.as_str(), why);
                    }
                    self.unique(&mut claims, &path.child("claim"), claim);
                    required.push((claim.to_owned(), rule.required_value.clone()));
                }
                ("", expression) => {
                    if !rule.required_value.is_empty() {
                        let why = "may not be specified when expression is set";
                        self.invalid(&path.child("requiredValue"), rule.required_value.as_str(), why);
                    }
                    let path = path.child("expression");
                    if self.unique(&mut expressions, &path, expression) {
                        let program = self.expression(false, expression, &path, true);
                        compiled.extend(program.map(|program| CompiledRule { program, message: rule.message.clone() }));
                    }
                }
                (claim, _) => self.invalid(&path, claim, BOTH),
            }
        }
        (required, compiled)
    }

    fn mappings(
        &mut self,
        mappings: &ClaimMappings,
        mapping: CompiledClaimMappings,
        path: &Path<'_>,
    ) -> CompiledClaimMappings {
        let username = self.prefixed(&mappings.username, &path.child("username"), true);
        let groups = self.prefixed(&mappings.groups, &path.child("groups"), false);
        let uid = path.child("uid");
        let uid = match (mappings.uid.claim.as_str(), mappings.uid.expression.as_str()) {
            ("", "") => AttributeSource::Unset,
            (claim, "") => AttributeSource::Claim { name: claim.to_owned(), prefix: String::new() },
            ("", expression) => {
                let program = self.expression(false, expression, &uid.child("expression"), false);
                program.map_or(AttributeSource::Unset, AttributeSource::Expression)
            }
            _ => {
                self.invalid(&uid, "", BOTH);
                AttributeSource::Unset
            }
        };
        let extra = self.extra(&mappings.extra, &path.child("extra"));
        let mapping = CompiledClaimMappings { username, groups, uid, extra, ..mapping };
        self.email(mappings, &mapping, path);
        mapping
    }

    /// Requires `email_verified` to be used if the user name is the claim `email`.
    fn email(&mut self, mappings: &ClaimMappings, mapping: &CompiledClaimMappings, path: &Path<'_>) {
        let AttributeSource::Expression(username) = &mapping.username else { return };
        let is_used_by = |program: &Program| program.selects(CLAIMS, "email_verified");
        let verified = is_used_by(username)
            || mapping.extra.iter().any(|(_, program)| is_used_by(program))
            || mapping.claim_rules.iter().any(|rule| is_used_by(&rule.program));
        if username.selects(CLAIMS, "email") && !verified {
            let path = path.child("username");
            let why = "claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression";
            self.invalid(&path.child("expression"), mappings.username.expression.as_str(), why);
        }
    }

    fn prefixed(&mut self, source: &PrefixedClaimOrExpression, path: &Path<'_>, is_required: bool) -> AttributeSource {
        match (source.claim.as_str(), source.expression.as_str()) {
            ("", "") if is_required => self.required(path, "claim or expression is required"),
            ("", "") => {}
            (claim, "") => match &source.prefix {
                None => {
                    let why =
                        "prefix is required when claim is set. It can be set to an empty string to disable prefixing";
                    self.required(&path.child("prefix"), why);
                }
                Some(prefix) => return AttributeSource::Claim { name: claim.to_owned(), prefix: prefix.clone() },
            },
            ("", expression) => {
                if let Some(prefix) = &source.prefix {
                    let why = "may not be specified when expression is set";
                    self.invalid(&path.child("prefix"), prefix.as_str(), why);
                }
                let program = self.expression(false, expression, &path.child("expression"), false);
                return program.map_or(AttributeSource::Unset, AttributeSource::Expression);
            }
            _ => self.invalid(path, "", BOTH),
        }
        AttributeSource::Unset
    }

    fn extra(&mut self, mappings: &[ExtraMapping], path: &Path<'_>) -> Vec<(String, Program)> {
        let (mut seen, mut compiled) = (BTreeSet::new(), Vec::new());
        for (i, mapping) in mappings.iter().enumerate() {
            let path = path.index(i);
            let (shown, key) = (path.child("key"), mapping.key.as_str());
            self.errors.extend(domain_prefixed_path(&shown, key));
            if key != key.to_lowercase() {
                self.invalid(&shown, key, "must be lowercase");
            }
            if is_of_kubernetes(key) {
                let why = "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use";
                self.invalid(&shown, key, why);
            }
            if !self.unique(&mut seen, &shown, key) {
                continue;
            }
            let path = path.child("valueExpression");
            if mapping.value_expression.is_empty() {
                self.required(&path, "");
                continue;
            }
            let program = self.expression(false, &mapping.value_expression, &path, false);
            compiled.extend(program.map(|program| (key.to_owned(), program)));
        }
        compiled
    }

    fn user_rules(&mut self, rules: &[UserValidationRule], path: &Path<'_>) -> Vec<CompiledRule> {
        let (mut seen, mut compiled) = (BTreeSet::new(), Vec::new());
        for (i, rule) in rules.iter().enumerate() {
            let path = path.index(i);
            let path = path.child("expression");
            if rule.expression.is_empty() {
                self.required(&path, "");
            } else if self.unique(&mut seen, &path, &rule.expression) {
                let program = self.expression(true, &rule.expression, &path, true);
                compiled.extend(program.map(|program| CompiledRule { program, message: rule.message.clone() }));
            }
        }
        compiled
    }

    /// Compiles an expression over the claims, or over the user. A condition has to evaluate to a bool.
    fn expression(&mut self, of_user: bool, source: &str, path: &Path<'_>, is_condition: bool) -> Option<Program> {
        let environment = if of_user { &self.user } else { &self.claims };
        let why = match cel::compile(source, environment) {
            Ok(program) if is_condition && *program.output() != Type::Bool => "must evaluate to bool".to_owned(),
            Ok(program) => return Some(program),
            Err(why) => format!("compilation failed: {why}"),
        };
        self.invalid(path, source, why);
        None
    }
}

/// Whether the domain of a key is reserved for Kubernetes.
fn is_of_kubernetes(key: &str) -> bool {
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    ["kubernetes.io", "k8s.io"]
        .iter()
        .any(|reserved| domain.strip_suffix(reserved).is_some_and(|before| before.is_empty() || before.ends_with('.')))
}
