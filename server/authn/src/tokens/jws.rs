//! Signed tokens in JWS compact serialization: header, payload and signature in base64url, separated by dots.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use options::Algorithm;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::keys::{SigningKey, VerifyingKey};
use crate::Error;

/// A parsed token. Its signature and claims are not verified.
pub struct Jws<'t> {
    algorithm: Algorithm,
    /// The key ID in the header; empty if there is none.
    pub key_id: String,
    payload: Vec<u8>,
    signed: &'t [u8],
    signature: Vec<u8>,
}

impl<'t> Jws<'t> {
    /// Parses a token; `None` if it is malformed, or if its algorithm is not supported.
    pub fn parse(token: &'t str) -> Option<Self> {
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, payload) = signed.split_once('.')?;
        let header = URL_SAFE_NO_PAD.decode(header).ok()?;
        let header: serde_json::Value = serde_json::from_slice(&header).ok()?;
        // Critical header parameters (RFC 7515, 4.1.11) are not supported.
        if header.get("crit").is_some() {
            return None;
        }
        Some(Jws {
            algorithm: Algorithm::of_name(header["alg"].as_str()?)?,
            key_id: header["kid"].as_str().unwrap_or("").to_owned(),
            payload: URL_SAFE_NO_PAD.decode(payload).ok()?,
            signed: signed.as_bytes(),
            signature: URL_SAFE_NO_PAD.decode(signature).ok()?,
        })
    }

    /// Returns the algorithm that the header names.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Parses the unverified claims. The issuer in them selects the keys for the verification.
    pub fn claims<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.payload)
    }

    /// Whether this key signed the token.
    pub fn is_signed_by(&self, key: &VerifyingKey) -> bool {
        key.verify(self.algorithm, self.signed, &self.signature)
    }

    /// Signs claims, which have to be a JSON object, and returns the token.
    ///
    /// # Errors
    /// When the key cannot sign.
    pub fn sign(key: &SigningKey, claims: &[u8]) -> Result<String, Error> {
        let header = json!({"alg": key.public.algorithm().name(), "kid": key.public.id}).to_string();
        let mut token = URL_SAFE_NO_PAD.encode(header);
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(claims, &mut token);
        let signature = key.sign(token.as_bytes())?;
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(signature, &mut token);
        Ok(token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384};
    use rsa::RsaPrivateKey;
    use rsa::pkcs8::{EncodePrivateKey, LineEnding};
    use serde_json::Value;

    fn keys() -> Vec<SigningKey> {
        let ecdsa = [&PKCS_ECDSA_P256_SHA256, &PKCS_ECDSA_P384_SHA384].map(|algorithm| {
            SigningKey::from_pem(KeyPair::generate_for(algorithm).unwrap().serialize_pem().as_bytes()).unwrap()
        });
        let rsa = RsaPrivateKey::new(&mut rsa::rand_core::OsRng, 2048).unwrap();
        let rsa = rsa.to_pkcs8_pem(LineEnding::LF).unwrap();
        ecdsa.into_iter().chain([SigningKey::from_pem(rsa.as_bytes()).unwrap()]).collect()
    }

    #[test]
    fn verifies_only_with_signing_key() {
        let keys = keys();
        for (i, key) in keys.iter().enumerate() {
            let token = Jws::sign(key, br#"{"sub":"me"}"#).unwrap();
            let jws = Jws::parse(&token).unwrap();
            assert_eq!((&jws.key_id, jws.claims::<Value>().unwrap()), (&key.public.id, json!({"sub": "me"})));
            for (j, other) in keys.iter().enumerate() {
                assert_eq!(jws.is_signed_by(&other.public), i == j);
            }
            let published = VerifyingKey::from_jwk_set(&json!({"keys": [key.public.jwk()]}));
            assert_eq!(published, std::slice::from_ref(&key.public));
            let (head, signature) = token.rsplit_once('.').unwrap();
            let forged = format!("{}.{signature}", head.replace('.', ".e30"));
            assert!(Jws::parse(&forged).is_none_or(|jws| !jws.is_signed_by(&key.public)));
        }
    }

    #[test]
    fn rejects_malformed_and_unsupported_tokens() {
        let header = |text: &str| URL_SAFE_NO_PAD.encode(text);
        for token in [
            String::new(),
            "a.b.c".into(),
            format!("{}.e30.", header(r#"{"alg":"none"}"#)),
            format!("{}.e30.AAAA", header(r#"{"alg":"HS256"}"#)),
            format!("{}.e30.AAAA", header(r#"{"alg":"RS256","crit":["b64"]}"#)),
            format!("{}.e30", header(r#"{"alg":"RS256"}"#)),
        ] {
            assert!(Jws::parse(&token).is_none(), "{token}");
        }
    }
}
