//! The one-time code of the link that the server prints, and the tokens of its users.

use std::collections::HashMap;
use std::time::Duration;

use request::User;
use tokio::time::Instant;

use crate::secrets::{self, Fingerprint};

/// How long the code of the link is valid.
pub const CODE_LIFE: Duration = Duration::from_secs(15 * 60);
/// How long the token is valid that a code is exchanged for.
pub const TOKEN_LIFE: Duration = Duration::from_secs(12 * 3600);
/// The prefix of these tokens, which distinguishes them from others without a lookup.
const PREFIX: &str = "console-link.";

/// The code that is not yet used, and the valid tokens.
#[derive(Default)]
pub struct Links {
    code: Option<Code>,
    tokens: HashMap<Fingerprint, Issued>,
}

struct Code {
    fingerprint: Fingerprint,
    user: User,
    expires: Instant,
}

struct Issued {
    user: User,
    expires: Instant,
}

impl Links {
    /// Creates a code that signs this user in. An older code is no longer valid.
    pub fn issue(&mut self, user: User) -> String {
        let code = secrets::random();
        let expires = Instant::now() + CODE_LIFE;
        self.code = Some(Code { fingerprint: secrets::fingerprint(&code), user, expires });
        code
    }

    /// Exchanges a code for a token. Returns `None` for a code that is wrong, used or expired.
    pub fn exchange(&mut self, code: &str) -> Option<(String, User)> {
        let fingerprint = secrets::fingerprint(code);
        let now = Instant::now();
        let Code { user, .. } = self.code.take_if(|code| code.fingerprint == fingerprint && code.expires > now)?;
        self.tokens.retain(|_, issued| issued.expires > now);
        let token = format!("{PREFIX}{}", secrets::random());
        let issued = Issued { user: user.clone(), expires: now + TOKEN_LIFE };
        self.tokens.insert(secrets::fingerprint(&token), issued);
        Some((token, user))
    }

    /// The user of a token that a code was exchanged for.
    pub fn user(&self, token: &str) -> Option<User> {
        if !token.starts_with(PREFIX) {
            return None;
        }
        let issued = self.tokens.get(&secrets::fingerprint(token))?;
        (issued.expires > Instant::now()).then(|| issued.user.clone())
    }

    /// Invalidates a token.
    pub fn revoke(&mut self, token: &str) {
        self.tokens.remove(&secrets::fingerprint(token));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admin() -> User {
        User::new("admin", ["system:masters"])
    }

    #[tokio::test(start_paused = true)]
    async fn code_is_exchanged_once() {
        let mut links = Links::default();
        let code = links.issue(admin());
        assert!(links.exchange("wrong").is_none());
        let (token, user) = links.exchange(&code).unwrap();
        assert_eq!((user, links.user(&token)), (admin(), Some(admin())));
        assert!(links.exchange(&code).is_none(), "a used code");
        assert_eq!(links.user(&format!("{token}x")), None);
        links.revoke(&token);
        assert_eq!(links.user(&token), None);
    }

    #[tokio::test(start_paused = true)]
    async fn code_and_token_expire() {
        let mut links = Links::default();
        let code = links.issue(admin());
        tokio::time::advance(CODE_LIFE).await;
        assert!(links.exchange(&code).is_none());
        let code = links.issue(admin());
        let (token, _) = links.exchange(&code).unwrap();
        tokio::time::advance(TOKEN_LIFE).await;
        assert_eq!(links.user(&token), None);
    }

    #[tokio::test]
    async fn new_code_replaces_the_old_one() {
        let mut links = Links::default();
        let (old, new) = (links.issue(admin()), links.issue(admin()));
        assert!(links.exchange(&old).is_none());
        assert!(links.exchange(&new).is_some());
    }
}
