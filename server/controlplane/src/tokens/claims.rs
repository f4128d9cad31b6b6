//! Claims of service account tokens (`pkg/serviceaccount/claims.go`), in upstream's field order.

use machinery::scalar::Time;
use serde::{Deserialize, Serialize};

use super::invalid_token::InvalidToken;

/// The tolerated clock skew in seconds.
pub const LEEWAY: i64 = 60;

/// The claims of a bound token.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Claims {
    #[serde(rename = "aud", default, deserialize_with = "one_or_several")]
    pub audiences: Vec<String>,
    #[serde(rename = "exp", default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<NumericDate>,
    #[serde(rename = "iat", default, skip_serializing_if = "Option::is_none")]
    pub issued: Option<NumericDate>,
    #[serde(rename = "iss", default)]
    pub issuer: String,
    #[serde(rename = "jti", default)]
    pub id: String,
    #[serde(rename = "kubernetes.io", default)]
    pub kubernetes: Kubernetes,
    #[serde(rename = "nbf", default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<NumericDate>,
    #[serde(rename = "sub", default)]
    pub subject: String,
}

/// The objects that a token is bound to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kubernetes {
    #[serde(default)]
    pub namespace: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<Reference>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<Reference>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Reference>,
    #[serde(rename = "serviceaccount", default)]
    pub account: Reference,
    /// The time from which the client should have renewed the token.
    #[serde(rename = "warnafter", default, skip_serializing_if = "Option::is_none")]
    pub warn_after: Option<NumericDate>,
}

/// A reference to an object by name and UID.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uid: String,
}

impl Claims {
    /// Checks that the token is valid at this time.
    ///
    /// # Errors
    /// When the token has expired, or is not valid yet.
    pub fn check_time(&self, now: Time) -> Result<(), InvalidToken> {
        let (early, late) = (now.unix() - LEEWAY, now.unix() + LEEWAY);
        if self.not_before.is_some_and(|from| late < from.0) {
            return Err(InvalidToken::NotYetValid);
        }
        if self.expires.is_some_and(|until| early > until.0) {
            return Err(InvalidToken::Expired);
        }
        if self.issued.is_some_and(|at| late < at.0) {
            return Err(InvalidToken::IssuedInFuture);
        }
        Ok(())
    }

    /// Returns the seconds since the client should have renewed the token, if any.
    pub fn stale_for(&self, now: Time) -> Option<i64> {
        self.kubernetes.warn_after.map(|after| now.unix() - after.0).filter(|seconds| *seconds > 0)
    }
}

/// Seconds since the Unix epoch. Other issuers may write fractions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NumericDate(pub i64);

impl<'de> Deserialize<'de> for NumericDate {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The cast saturates.
        f64::deserialize(deserializer).map(|seconds| NumericDate(seconds as i64))
    }
}

/// Accepts a single audience or a list.
fn one_or_several<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Audiences {
        One(String),
        Several(Vec<String>),
    }
    Ok(match Audiences::deserialize(deserializer)? {
        Audiences::One(one) => vec![one],
        Audiences::Several(several) => several,
    })
}

/// Only the issuer claim, to select the authenticator.
#[derive(Deserialize)]
pub struct Issued {
    #[serde(rename = "iss", default)]
    pub issuer: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_validity_period() {
        let claims = Claims {
            expires: Some(NumericDate(1000)),
            not_before: Some(NumericDate(100)),
            issued: Some(NumericDate(100)),
            ..Claims::default()
        };
        let at = |seconds| claims.check_time(Time::from_unix(seconds)).map_err(|refusal| refusal.to_string());
        assert_eq!(at(500), Ok(()));
        assert_eq!(at(100 - LEEWAY), Ok(()));
        assert_eq!(at(99 - LEEWAY), Err("service account token is not valid yet".to_owned()));
        assert_eq!(at(1000 + LEEWAY), Ok(()));
        assert_eq!(at(1001 + LEEWAY), Err("service account token has expired".to_owned()));
    }

    #[test]
    fn encodes_claims_in_order() {
        let mut claims = Claims { audiences: vec!["a".into()], issuer: "me".into(), ..Claims::default() };
        claims.kubernetes.account.name = "robot".into();
        let text = serde_json::to_string(&claims).unwrap();
        let expect = r#"{"aud":["a"],"iss":"me","jti":"","kubernetes.io":{"namespace":"","serviceaccount":{"name":"robot"}},"sub":""}"#;
        assert_eq!(text, expect);
        let read: Claims = serde_json::from_str(r#"{"aud":"a","exp":12.5}"#).unwrap();
        assert_eq!((read.audiences.as_slice(), read.expires), (&["a".to_owned()][..], Some(NumericDate(12))));
    }
}
