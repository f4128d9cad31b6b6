//! Tokens from a file: `token,user,uid,"group1,group2"` a line (upstream: `tokenfile`).

use std::collections::HashMap;
use std::path::Path;

use request::{BoxFuture, User};
use sha2::{Digest, Sha256};

use crate::Error;
use crate::token_authenticator::UserAuthenticator;
use crate::verdict::AuthenticationError;

/// The tokens of a file, keyed by their hashes, so that the duration of a lookup reveals nothing about a token.
#[derive(Debug, Default)]
pub struct TokenFile(HashMap<[u8; 32], User>);

impl TokenFile {
    /// Reads a file.
    ///
    /// # Errors
    /// When the file cannot be read, or a line is invalid.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(options::Error::file(path))?;
        Self::parse(&text).map_err(|source| Error::TokenFile { path: path.into(), source: Box::new(source) })
    }

    /// Parses the lines of a file.
    ///
    /// Skips empty lines and lines with an empty token. Of duplicate tokens, the last applies.
    ///
    /// # Errors
    /// When a line is invalid.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut tokens = HashMap::new();
        for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let record = record(line).ok_or(Error::Quotes(i + 1))?;
            let [token, name, uid, rest @ ..] = record.as_slice() else {
                return Err(Error::Columns { line: i + 1, found: record.len() });
            };
            if token.is_empty() {
                tracing::warn!(line = i + 1, "empty token found in token file");
                continue;
            }
            let groups = rest.first().map_or("", String::as_str).split(',').map(str::trim).filter(|g| !g.is_empty());
            let user = User { uid: uid.clone(), ..User::new(name, groups) };
            if tokens.insert(hash(token), user).is_some() {
                tracing::warn!(line = i + 1, "duplicate token found in token file");
            }
        }
        Ok(TokenFile(tokens))
    }
}

impl UserAuthenticator for TokenFile {
    fn name(&self) -> &'static str {
        "tokenfile"
    }

    fn user<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Option<User>, AuthenticationError>> {
        Box::pin(std::future::ready(Ok(self.0.get(&hash(token)).cloned())))
    }
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// Splits a CSV line into trimmed fields. A quoted field may contain commas and doubled quotes.
///
/// Returns `None` if the quotes are unbalanced.
fn record(line: &str) -> Option<Vec<String>> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let after = match rest.trim_start().strip_prefix('"') {
            Some(quoted) => {
                let (field, after) = quoted_field(quoted)?;
                fields.push(field);
                after
            }
            None => {
                let (field, after) = rest.split_at(rest.find(',').unwrap_or(rest.len()));
                fields.push(field.trim().to_owned());
                after
            }
        };
        match after.trim_start().strip_prefix(',') {
            Some(more) => rest = more,
            None if after.trim().is_empty() => return Some(fields),
            None => return None,
        }
    }
}

/// Returns the text up to the closing quote, and the text after the quote.
fn quoted_field(text: &str) -> Option<(String, &str)> {
    let mut field = String::new();
    let mut rest = text;
    loop {
        let (before, after) = rest.split_once('"')?;
        field.push_str(before);
        match after.strip_prefix('"') {
            Some(more) => {
                field.push('"');
                rest = more;
            }
            None => return Some((field, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn user(file: &str, token: &str) -> Option<User> {
        TokenFile::parse(file).unwrap().user(token).await.unwrap()
    }

    #[tokio::test]
    async fn finds_user_of_token() {
        let file = "admintoken,admin,uid-admin,\"system:masters\"\r\n\nbobtoken, bob ,uid-bob,\"dev,ops\"\nplain,carol,3\none,dan,4,dev,ignored\n";
        let bob = user(file, "bobtoken").await.unwrap();
        assert_eq!((bob.name.as_str(), bob.uid.as_str()), ("bob", "uid-bob"));
        assert_eq!(bob.groups, ["dev", "ops"]);
        assert_eq!(user(file, "admintoken").await.unwrap().groups, ["system:masters"]);
        assert!(user(file, "plain").await.unwrap().groups.is_empty());
        assert_eq!(user(file, "one").await.unwrap().groups, ["dev"]);
        assert_eq!(user(file, "nope").await, None);
        assert_eq!(user(file, "").await, None);
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| TokenFile::parse(text).unwrap_err().to_string();
        assert_eq!(
            error("a,b,c\na,b"),
            "line 2: token file must have at least 3 columns (token, user name, user uid), found 2"
        );
        assert!(error("a,\"b,c").starts_with("line 1: a quote"));
    }

    #[test]
    fn parses_quoted_fields() {
        assert_eq!(record("a, \"b \"\"x\"\", c\" ,").unwrap(), ["a", "b \"x\", c", ""]);
    }
}
