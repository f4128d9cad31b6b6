//! Authentication by bootstrap tokens of joining nodes, which are secrets in `kube-system`
//! (`plugin/pkg/auth/authenticator/token/bootstrap`).

use authn::{AuthenticationError, UserAuthenticator, is_same_secret};
use generated::core::v1::{Secret, secret_type};
use machinery::scalar::Time;
use registry::MetaExt;
use request::{BoxFuture, User};

use super::token_getter::ServiceAccountTokenGetter;

const NAMESPACE: &str = "kube-system";
const SECRET_TYPE: &str = secret_type::BOOTSTRAP_TOKEN;
const SECRET_PREFIX: &str = "bootstrap-token-";
const USER_PREFIX: &str = "system:bootstrap:";
const GROUP: &str = "system:bootstrappers";
const GROUP_PREFIX: &str = "system:bootstrappers:";

const ID_LENGTH: usize = 6;
const SECRET_LENGTH: usize = 16;

/// Authenticates bootstrap tokens.
pub struct BootstrapTokens(pub ServiceAccountTokenGetter);

impl UserAuthenticator for BootstrapTokens {
    fn name(&self) -> &'static str {
        "bootstraptoken"
    }

    fn user<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Option<User>, AuthenticationError>> {
        Box::pin(async move {
            let Some((id, secret)) = parse(token) else { return Ok(None) };
            match self.0.secret(NAMESPACE, &format!("{SECRET_PREFIX}{id}")).await {
                Ok(stored) => Ok(user_of_secret(&stored, id, secret, self.0.now())),
                Err(status) if status.code == 404 => Ok(None),
                Err(status) => Err(AuthenticationError(status.message)),
            }
        })
    }
}

/// Parses ID and secret of a token of the form `[a-z0-9]{6}.[a-z0-9]{16}`.
fn parse(token: &str) -> Option<(&str, &str)> {
    let (id, secret) = token.split_once('.')?;
    let plain = |text: &str| text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let fits = id.len() == ID_LENGTH && secret.len() == SECRET_LENGTH && plain(id) && plain(secret);
    fits.then_some((id, secret))
}

/// Returns the user of a token if the stored secret is valid and matches.
fn user_of_secret(stored: &Secret, id: &str, secret: &str, now: Time) -> Option<User> {
    let entry = |name: &str| stored.data.get(name).map_or(&b""[..], |value| value.as_ref());
    let text = |name: &str| std::str::from_utf8(entry(name)).unwrap_or("");
    let refuse = |why: &str| {
        // The log names the secret but not its content.
        tracing::info!(secret = stored.metadata.name, why, "bootstrap token rejected");
        None
    };
    if stored.metadata.is_deleting() {
        return refuse("the secret is being deleted");
    }
    if stored.r#type != SECRET_TYPE {
        return refuse("the secret is of another type");
    }
    if !is_same_secret(entry("token-secret"), secret.as_bytes()) {
        return refuse("the token does not match");
    }
    if text("token-id") != id {
        return refuse("the id is that of another token");
    }
    if has_expired(text("expiration"), now) {
        return refuse("the token has expired");
    }
    if text("usage-bootstrap-authentication") != "true" {
        return refuse("the token is not meant for authentication");
    }
    match groups(text("auth-extra-groups")) {
        Some(groups) => Some(User::new(format!("{USER_PREFIX}{id}"), groups)),
        None => refuse("a group is not one of bootstrap tokens"),
    }
}

/// Whether an expiration has passed. An invalid time counts as expired.
fn has_expired(expiration: &str, now: Time) -> bool {
    !expiration.is_empty() && Time::parse(expiration).map_or(true, |at| at.unix() <= now.unix())
}

/// Returns the groups of a token: the common one and those of the secret, if all are bootstrap
/// groups.
fn groups(extra: &str) -> Option<Vec<String>> {
    let extra = extra.split(',').filter(|_| !extra.is_empty());
    let mut groups: Vec<String> =
        extra.map(|group| is_bootstrap_group(group).then(|| group.to_owned())).collect::<Option<_>>()?;
    groups.push(GROUP.to_owned());
    groups.sort();
    groups.dedup();
    Some(groups)
}

/// Whether a group is `system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]`.
fn is_bootstrap_group(group: &str) -> bool {
    let Some(name) = group.strip_prefix(GROUP_PREFIX) else { return false };
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = name.as_bytes();
    bytes.len() <= 256
        && bytes.last().is_some_and(|last| plain(*last))
        && bytes.iter().all(|b| plain(*b) || matches!(b, b':' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(changes: &[(&str, &str)]) -> Secret {
        let mut secret = Secret { r#type: SECRET_TYPE.into(), ..Secret::default() };
        let usual =
            [("token-id", "aaaaaa"), ("token-secret", "0123456789abcdef"), ("usage-bootstrap-authentication", "true")];
        for (key, value) in usual.iter().chain(changes) {
            secret.data.insert((*key).into(), value.as_bytes().to_vec().into());
        }
        secret
    }

    #[test]
    fn parses_tokens() {
        assert_eq!(parse("aaaaaa.0123456789abcdef"), Some(("aaaaaa", "0123456789abcdef")));
        for token in
            ["aaaaaa", "aaaaaa.0123", "AAAAAA.0123456789abcdef", "aaaaaa.0123456789abcdef.x", "aaaa/a.0123456789abcdef"]
        {
            assert_eq!(parse(token), None, "{token}");
        }
    }

    #[test]
    fn rejects_tokens_of_invalid_secrets() {
        let user = |changes: &[(&str, &str)]| {
            let user = user_of_secret(&secret(changes), "aaaaaa", "0123456789abcdef", Time::from_unix(1_700_000_000))?;
            Some(format!("{} {}", user.name, user.groups.join(",")))
        };
        assert_eq!(user(&[]).unwrap(), "system:bootstrap:aaaaaa system:bootstrappers");
        assert_eq!(
            user(&[("auth-extra-groups", "system:bootstrappers:b,system:bootstrappers:a")]).unwrap(),
            "system:bootstrap:aaaaaa system:bootstrappers,system:bootstrappers:a,system:bootstrappers:b"
        );
        for refused in [
            ("token-secret", "0123456789abcdee"),
            ("token-id", "bbbbbb"),
            ("usage-bootstrap-authentication", "yes"),
            ("expiration", "2001-01-01T00:00:00Z"),
            ("expiration", "tomorrow"),
            ("auth-extra-groups", "system:masters"),
            ("auth-extra-groups", "system:bootstrappers:b,dev"),
        ] {
            assert_eq!(user(&[refused]), None, "{refused:?}");
        }
        assert!(user(&[("expiration", "2999-01-01T00:00:00Z")]).is_some());
    }
}
