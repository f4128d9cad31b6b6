//! The sessions of signed-in browsers, in memory.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::secrets::{self, Fingerprint};

/// A session ends when no request has used it for as long.
pub const IDLE: Duration = Duration::from_secs(3600);
/// A session ends after as long, whether or not it is used.
pub const LIFE: Duration = Duration::from_secs(12 * 3600);
/// Sessions of one user; a further one ends the user's oldest.
const MAX_OF_USER: usize = 32;
/// Sessions of all users; a further one ends the oldest.
const MAX: usize = 1024;

/// The two halves of a new session.
pub struct Halves {
    /// For the cookie, which scripts cannot read.
    pub cookie: String,
    /// For the page, which sends it in a header. Cookies reach servers on other ports of the host
    /// too; this half does not.
    pub key: String,
}

/// All sessions, by the digest of their cookies.
#[derive(Default)]
pub struct Sessions(HashMap<Fingerprint, Session>);

struct Session {
    key: Fingerprint,
    token: String,
    user: String,
    began: Instant,
    used: Instant,
}

impl Session {
    fn is_valid(&self, now: Instant) -> bool {
        now - self.began < LIFE && now - self.used < IDLE
    }
}

impl Sessions {
    /// Begins a session of this user. Returns the tokens of the sessions that ended for it, too.
    pub fn begin(&mut self, token: String, user: &str) -> (Halves, Vec<String>) {
        let now = Instant::now();
        let expired = self.0.extract_if(|_, session| !session.is_valid(now));
        let mut ended: Vec<String> = expired.map(|(_, session)| session.token).collect();
        if self.0.values().filter(|session| session.user == user).count() >= MAX_OF_USER {
            ended.extend(self.end_oldest(|session| session.user == user));
        }
        if self.0.len() >= MAX {
            ended.extend(self.end_oldest(|_| true));
        }
        let halves = Halves { cookie: secrets::random(), key: secrets::random() };
        let key = secrets::fingerprint(&halves.key);
        let session = Session { key, token, user: user.to_owned(), began: now, used: now };
        self.0.insert(secrets::fingerprint(&halves.cookie), session);
        (halves, ended)
    }

    fn end_oldest(&mut self, is_candidate: impl Fn(&Session) -> bool) -> Option<String> {
        let candidates = self.0.iter().filter(|(_, session)| is_candidate(session));
        let oldest = *candidates.min_by_key(|(_, session)| session.used)?.0;
        self.0.remove(&oldest).map(|session| session.token)
    }

    /// The token of the session with these halves.
    pub fn token(&mut self, cookie: &str, key: &str) -> Option<String> {
        let (id, key, now) = (secrets::fingerprint(cookie), secrets::fingerprint(key), Instant::now());
        let session = self.0.get_mut(&id).filter(|session| session.key == key && session.is_valid(now))?;
        session.used = now;
        Some(session.token.clone())
    }

    /// Ends the session with these halves, and returns its token.
    pub fn end(&mut self, cookie: &str, key: &str) -> Option<String> {
        self.token(cookie, key)?;
        self.0.remove(&secrets::fingerprint(cookie)).map(|session| session.token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn session_needs_both_halves() {
        let mut sessions = Sessions::default();
        let (a, _) = sessions.begin("token-a".into(), "a");
        let (b, _) = sessions.begin("token-b".into(), "b");
        assert_eq!(sessions.token(&a.cookie, &a.key).as_deref(), Some("token-a"));
        for (cookie, key) in
            [(&a.cookie, &b.key), (&b.cookie, &a.key), (&a.key, &a.cookie), (&a.cookie, &String::new())]
        {
            assert_eq!(sessions.token(cookie, key), None);
            assert_eq!(sessions.end(cookie, key), None);
        }
        assert_eq!(sessions.end(&a.cookie, &a.key).as_deref(), Some("token-a"));
        assert_eq!(sessions.token(&a.cookie, &a.key), None);
    }

    #[tokio::test(start_paused = true)]
    async fn idle_and_old_sessions_end() {
        let mut sessions = Sessions::default();
        let (idle, _) = sessions.begin("idle".into(), "a");
        let (used, _) = sessions.begin("used".into(), "a");
        for _ in 0..LIFE.as_secs() / IDLE.as_secs() * 2 - 1 {
            tokio::time::advance(IDLE / 2).await;
            assert!(sessions.token(&used.cookie, &used.key).is_some());
        }
        assert!(sessions.token(&idle.cookie, &idle.key).is_none());
        tokio::time::advance(IDLE / 2).await;
        assert!(sessions.token(&used.cookie, &used.key).is_none());
        let (_, ended) = sessions.begin("next".into(), "a");
        assert_eq!(ended.len(), 2, "expired sessions are removed");
    }

    #[tokio::test(start_paused = true)]
    async fn number_of_sessions_is_bounded() {
        let mut sessions = Sessions::default();
        let (first, _) = sessions.begin("first".into(), "a");
        for n in 1..MAX_OF_USER {
            tokio::time::advance(Duration::from_millis(1)).await;
            assert!(sessions.begin(n.to_string(), "a").1.is_empty());
        }
        let (other, _) = sessions.begin("other".into(), "b");
        assert_eq!(sessions.begin("further".into(), "a").1, ["first"]);
        assert!(sessions.token(&first.cookie, &first.key).is_none());
        assert!(sessions.token(&other.cookie, &other.key).is_some());
        for n in 0..2 * MAX {
            sessions.begin(String::new(), &n.to_string());
        }
        assert_eq!(sessions.0.len(), MAX);
    }
}
