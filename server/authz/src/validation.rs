//! Validation of the authorization configuration (upstream: `apis/apiserver/validation`, `kubeapiserver/authorizer`).

use std::collections::BTreeSet;
use std::path::Path as FilePath;

use apimachinery::apiserverconfig::v1::{
    AuthorizationConfiguration, AuthorizerConfiguration, WebhookConfiguration, WebhookConnectionInfo,
};
use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::format::content::is_dns1123_subdomain;
use machinery::scalar::Duration;

use crate::Error;
use crate::conditions::{self, MatchConditions};

/// The types of authorizers, sorted by name.
const TYPES: [&str; 6] = ["ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"];
pub(super) const WEBHOOK: &str = "Webhook";
const MAX_CONDITIONS: usize = 64;
const LONGEST_TIMEOUT: i64 = 30;

/// Compiles the match conditions of each authorizer. Each of the `required` types has to be configured.
///
/// # Errors
/// All errors of the configuration.
pub(super) fn compile(
    configuration: &AuthorizationConfiguration,
    required: &BTreeSet<String>,
) -> Result<Vec<MatchConditions>, Error> {
    let mut check = Check { errors: Vec::new() };
    let conditions = check.configuration(configuration);
    if !check.errors.is_empty() {
        return Err(Error::Fields(check.errors));
    }
    let built_in = configuration.authorizers.iter().filter(|authorizer| authorizer.r#type != WEBHOOK);
    let mut wrong: Vec<Error> = built_in
        .clone()
        .map(|authorizer| (authorizer, authorizer.r#type.to_lowercase()))
        .filter(|(authorizer, expected)| authorizer.name != *expected)
        .map(|(AuthorizerConfiguration { name, r#type, .. }, expected)| Error::AuthorizerName {
            expected,
            of: r#type.clone(),
            name: name.clone(),
        })
        .collect();
    let present: BTreeSet<String> = built_in.map(|authorizer| authorizer.r#type.clone()).collect();
    let missing: Vec<String> = required.difference(&present).cloned().collect();
    if !missing.is_empty() {
        wrong.push(Error::MissingTypes(missing));
    }
    if wrong.is_empty() { Ok(conditions) } else { Err(Error::Authorizers(wrong)) }
}

struct Check {
    errors: Vec<FieldError>,
}

impl Check {
    fn invalid(&mut self, path: &Path<'_>, value: impl Into<BadValue>, why: impl Into<String>) {
        self.errors.push(FieldError::invalid(path, value, why.into()));
    }

    fn required(&mut self, path: &Path<'_>, why: &'static str) {
        self.errors.push(FieldError::required(path, why));
    }

    fn one_of(&mut self, path: &Path<'_>, value: &str, known: &[&str]) {
        match value {
            "" => self.required(path, ""),
            value if known.contains(&value) => {}
            value => self.errors.push(FieldError::not_supported(path, value, known)),
        }
    }

    fn configuration(&mut self, configuration: &AuthorizationConfiguration) -> Vec<MatchConditions> {
        let root = Path::new("authorizers");
        if configuration.authorizers.is_empty() {
            self.required(&root, "at least one authorization mode must be defined");
        }
        let (mut types, mut names) = (BTreeSet::new(), BTreeSet::new());
        let each = configuration.authorizers.iter().enumerate();
        each.map(|(i, authorizer)| self.authorizer(authorizer, &root.index(i), &mut types, &mut names)).collect()
    }

    fn authorizer<'c>(
        &mut self,
        authorizer: &'c AuthorizerConfiguration,
        path: &Path<'_>,
        types: &mut BTreeSet<&'c str>,
        names: &mut BTreeSet<&'c str>,
    ) -> MatchConditions {
        let (of, name) = (authorizer.r#type.as_str(), authorizer.name.as_str());
        let shown = path.child("type");
        if !TYPES.contains(&of) {
            self.one_of(&shown, of, &TYPES);
            return MatchConditions::default();
        }
        if !types.insert(of) && of != WEBHOOK {
            self.errors.push(FieldError::duplicate(&shown, of));
            return MatchConditions::default();
        }
        let shown = path.child("name");
        let is_new = names.insert(name);
        let messages = is_dns1123_subdomain(name);
        if name.is_empty() {
            self.required(&shown, "");
        } else if !is_new {
            self.errors.push(FieldError::duplicate(&shown, name));
        } else if !messages.is_empty() {
            self.invalid(&shown, name, format!("authorizer name is invalid: {}", messages.join(", ")));
        }
        match (of, &authorizer.webhook) {
            (WEBHOOK, Some(webhook)) => return self.webhook(webhook, path),
            (WEBHOOK, None) => self.required(&path.child("webhook"), "required when type=Webhook"),
            (_, Some(_)) => {
                self.invalid(&path.child("webhook"), "non-null", "may only be specified when type=Webhook");
            }
            (_, None) => {}
        }
        MatchConditions::default()
    }

    fn webhook(&mut self, webhook: &WebhookConfiguration, path: &Path<'_>) -> MatchConditions {
        self.timeout(webhook.timeout, &path.child("timeout"));
        for (time, name) in [(webhook.authorized_ttl, "authorizedTTL"), (webhook.unauthorized_ttl, "unauthorizedTTL")] {
            match time.nanos() {
                0 => self.required(&path.child(name), ""),
                ..0 => self.invalid(&path.child(name), time.to_string(), "must be > 0s"),
                _ => {}
            }
        }
        let version = path.child("subjectAccessReviewVersion");
        self.one_of(&version, &webhook.subject_access_review_version, &["v1", "v1beta1"]);
        let version = path.child("matchConditionSubjectAccessReviewVersion");
        match webhook.match_condition_subject_access_review_version.as_str() {
            "" if webhook.match_conditions.is_empty() => {}
            "" => self.required(&version, "required if match conditions are specified"),
            value => self.one_of(&version, value, &["v1"]),
        }
        self.one_of(&path.child("failurePolicy"), &webhook.failure_policy, &["NoOpinion", "Deny"]);
        self.connection(&webhook.connection_info, &path.child("connectionInfo"));
        self.conditions(webhook, &path.child("matchConditions"))
    }

    fn timeout(&mut self, timeout: Duration, path: &Path<'_>) {
        match timeout {
            zero if zero.nanos() == 0 => self.required(path, ""),
            time if time.nanos() < 0 || time > Duration::from_secs(LONGEST_TIMEOUT) => {
                self.invalid(path, time.to_string(), "must be > 0s and <= 30s");
            }
            _ => {}
        }
    }

    fn connection(&mut self, info: &WebhookConnectionInfo, path: &Path<'_>) {
        let (shown, file) = (path.child("kubeConfigFile"), info.kube_config_file.as_deref());
        match (info.r#type.as_str(), file) {
            ("KubeConfigFile", None | Some("")) => self.required(&shown, ""),
            ("KubeConfigFile", Some(file)) => {
                if let Err(why) = check_file(FilePath::new(file)) {
                    self.invalid(&shown, file, why.to_string());
                }
            }
            ("InClusterConfig", Some(file)) => {
                self.invalid(&shown, file, "can only be set when type=KubeConfigFile");
            }
            // This server does not run in a cluster, so it has no service account to use.
            ("InClusterConfig", None) => {
                self.invalid(&path.child("type"), "InClusterConfig", "is not supported by this server");
            }
            (other, _) => self.one_of(&path.child("type"), other, &["InClusterConfig", "KubeConfigFile"]),
        }
    }

    fn conditions(&mut self, webhook: &WebhookConfiguration, path: &Path<'_>) -> MatchConditions {
        let count = webhook.match_conditions.len();
        if count > MAX_CONDITIONS {
            self.errors.push(FieldError::too_many(path, Some(count), MAX_CONDITIONS));
            return MatchConditions::default();
        }
        let (mut seen, mut programs) = (BTreeSet::new(), Vec::new());
        for (i, condition) in webhook.match_conditions.iter().enumerate() {
            let path = path.index(i);
            let (path, source) = (path.child("expression"), condition.expression.as_str());
            if source.trim().is_empty() {
                self.required(&path, "");
            } else if !seen.insert(source) {
                self.errors.push(FieldError::duplicate(&path, source));
            } else {
                match conditions::compile(source) {
                    Ok(program) => programs.push(program),
                    Err(why) => self.invalid(&path, source, why.to_string()),
                }
            }
        }
        MatchConditions::new(programs)
    }
}

fn check_file(file: &FilePath) -> Result<(), Error> {
    if !file.is_absolute() {
        return Err(Error::RelativePath);
    }
    match std::fs::metadata(file) {
        Err(source) => Err(Error::FileStatus(source)),
        Ok(info) if !info.is_file() => Err(Error::NotAFile),
        Ok(_) => Ok(()),
    }
}
