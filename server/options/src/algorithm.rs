//! The signature algorithms of tokens (`--oidc-signing-algs`).

/// A signature algorithm (RFC 7518).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    RS256,
    RS384,
    RS512,
    PS256,
    PS384,
    PS512,
    ES256,
    ES384,
}

impl Algorithm {
    const ALL: [(Algorithm, &'static str); 8] = [
        (Algorithm::RS256, "RS256"),
        (Algorithm::RS384, "RS384"),
        (Algorithm::RS512, "RS512"),
        (Algorithm::PS256, "PS256"),
        (Algorithm::PS384, "PS384"),
        (Algorithm::PS512, "PS512"),
        (Algorithm::ES256, "ES256"),
        (Algorithm::ES384, "ES384"),
    ];

    /// Returns all supported algorithms.
    pub fn all() -> Vec<Self> {
        Self::ALL.iter().map(|(algorithm, _)| *algorithm).collect()
    }

    /// The name in the header of a token (`alg`).
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(algorithm, _)| *algorithm == self).map_or("", |(_, name)| name)
    }

    /// Returns the algorithm with a name. `none` and algorithms with shared secrets are not supported.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(algorithm, _)| *algorithm)
    }
}
