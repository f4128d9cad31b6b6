//! Authentication by the headers of a front proxy (upstream: `headerrequest`).
//!
//! The headers apply only if the client certificate is signed by the front proxy's certificate authority.

use http::{HeaderMap, HeaderName, HeaderValue};
use options::RequestHeaders;
use request::user::unescaped_extra_key;
use request::{ClientCertificate, User};

use crate::verdict::AuthenticationError;

/// Authenticates the user in the headers of a request by a trusted front proxy.
#[derive(Clone, Debug)]
pub(crate) struct RequestHeaderAuthenticator(pub(crate) RequestHeaders);

impl RequestHeaderAuthenticator {
    /// Whether a request has a header that names a user. The caller checks the proxy certificate.
    pub(crate) fn has_user_name(&self, headers: &HeaderMap) -> bool {
        self.0.user_names.iter().any(|name| headers.contains_key(name))
    }

    /// Returns the user that the headers name, if the proxy certificate is valid and trusted.
    pub(crate) fn authenticate(
        &self,
        proxy: &ClientCertificate,
        headers: &HeaderMap,
    ) -> Result<Option<User>, AuthenticationError> {
        let proxy = match proxy {
            ClientCertificate::None => return Ok(None),
            ClientCertificate::Invalid(why) => return Err(AuthenticationError(why.clone())),
            ClientCertificate::Valid(proxy) => proxy,
        };
        if !self.0.allowed_names.is_empty() && !self.0.allowed_names.contains(&proxy.name) {
            return Err(AuthenticationError(format!("x509: subject with cn={} is not allowed", proxy.name)));
        }
        let Some(name) = first(headers, &self.0.user_names) else { return Ok(None) };
        let mut user =
            User { uid: first(headers, &self.0.uids).unwrap_or_default(), ..User::new(name, Vec::<String>::new()) };
        let groups = self.0.groups.iter().flat_map(|name| headers.get_all(name)).map(text);
        user.groups = groups.filter(|group| !group.is_empty()).collect();
        for prefix in self.0.extra_prefixes.iter().filter(|prefix| !prefix.is_empty()) {
            for (name, value) in headers.iter() {
                if let Some(key) = name.as_str().strip_prefix(prefix.as_str()) {
                    user.extra.entry(unescaped_extra_key(key)).or_default().push(text(value));
                }
            }
        }
        Ok(Some(user))
    }
}

/// The first value that is not empty.
fn first(headers: &HeaderMap, names: &[HeaderName]) -> Option<String> {
    names.iter().filter_map(|name| headers.get(name)).map(text).find(|value| !value.is_empty())
}

fn text(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers() -> RequestHeaderAuthenticator {
        RequestHeaderAuthenticator(RequestHeaders::standard("proxy"))
    }

    fn request() -> HeaderMap {
        let pairs = [
            ("X-Remote-User", "jane"),
            ("X-Remote-Uid", "42"),
            ("X-Remote-Group", "dev"),
            ("X-Remote-Group", "ops"),
            ("X-Remote-Extra-Example.com%2fScope", "a"),
            ("Accept", "*/*"),
        ];
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name.parse::<HeaderName>().unwrap(), HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn accepts_user_of_trusted_proxy() {
        let proxy = |name: &str| ClientCertificate::of(User::new(name, ["x"]));
        let sent = request();
        let user = headers().authenticate(&proxy("proxy"), &sent).unwrap().unwrap();
        assert_eq!((user.name.as_str(), user.uid.as_str()), ("jane", "42"));
        assert_eq!(user.groups, ["dev", "ops"]);
        assert_eq!(user.extra["example.com/scope"], ["a"]);
        let refused = headers().authenticate(&proxy("other"), &request()).unwrap_err();
        assert_eq!(refused.0, "x509: subject with cn=other is not allowed");
        let wrong = ClientCertificate::Invalid("expired".into());
        assert_eq!(headers().authenticate(&wrong, &request()).unwrap_err().0, "expired");
        assert_eq!(headers().authenticate(&ClientCertificate::None, &request()), Ok(None));
        assert_eq!(headers().authenticate(&proxy("proxy"), &HeaderMap::new()), Ok(None));
    }
}
