//! Credentials for admission webhooks: users of a kubeconfig, by server name.

use std::collections::HashMap;
use std::path::Path;

use machinery::{json, yaml};
use serde_json::Value;

use crate::kubeconfig::{authorization, material, named, read, text};
use crate::token::Authorization;
use crate::{ClientIdentity, Error};

/// The default port, which names of users may omit.
const HTTPS: u16 = 443;
/// Kinds of credentials that upstream supports and this server does not.
const UNSUPPORTED: [&str; 3] = ["as", "exec", "auth-provider"];

/// Users by server name (upstream: `webhook.NewDefaultAuthenticationInfoResolver`).
#[derive(Default)]
pub struct Users {
    by_name: HashMap<String, User>,
    /// The user of the current context.
    current: String,
}

/// Credentials of this server.
#[derive(Clone, Default)]
pub struct User {
    pub(crate) identity: Option<ClientIdentity>,
    pub(crate) authorization: Option<Authorization>,
}

impl Users {
    /// Loads a kubeconfig. Relative paths in it are relative to its directory.
    ///
    /// # Errors
    /// Returns an error if the file, or a file that it refers to, is unreadable, or if the
    /// credentials of a user are not supported.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let text = read(path)?;
        let parsed = yaml::to_value(&text, &mut json::Issues::ignore()).map_err(Error::from);
        let directory = path.parent().unwrap_or(Path::new("."));
        parsed.and_then(|config| Self::of(&config, directory)).map_err(Error::within(path.display()))
    }

    fn of(config: &Value, directory: &Path) -> Result<Self, Error> {
        let mut by_name = HashMap::new();
        for entry in config["users"].as_array().into_iter().flatten() {
            let (name, user) = (text(entry, "name"), &entry["user"]);
            let user = User::of(user, directory)
                .map_err(|source| Error::User { name: name.to_owned(), source: Box::new(source) })?;
            by_name.insert(name.to_owned(), user);
        }
        let context = named(config, "contexts", text(config, "current-context"));
        let current = context.map(|entry| text(&entry["context"], "user")).unwrap_or_default();
        Ok(Users { by_name, current: current.to_owned() })
    }

    /// Returns the user for a server. The order is: name and port, domain (`*.example.com:8443`),
    /// both without the HTTPS port, all servers (`*`), the user of the current context.
    pub fn of_server(&self, host: &str, port: u16) -> Option<&User> {
        let with_port = format!("{host}:{port}");
        let without_port = (port == HTTPS).then_some(host);
        let of_name = [with_port.as_str()].into_iter().chain(without_port).find_map(|name| self.of_name(name));
        of_name.or_else(|| self.by_name.get("*")).or_else(|| self.by_name.get(&self.current))
    }

    fn of_name(&self, name: &str) -> Option<&User> {
        let domains = name.match_indices('.').map(|(at, _)| format!("*{}", &name[at..]));
        self.by_name.get(name).or_else(|| domains.into_iter().find_map(|domain| self.by_name.get(&domain)))
    }
}

impl User {
    fn of(user: &Value, directory: &Path) -> Result<Self, Error> {
        if let Some(kind) = UNSUPPORTED.into_iter().find(|name| !user[*name].is_null()) {
            return Err(Error::Unsupported { kind });
        }
        let certificate = material(user, "client-certificate", directory)?;
        let key = material(user, "client-key", directory)?;
        Ok(User { identity: certificate.zip(key), authorization: authorization(user, directory)? })
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use serde_json::json;

    use super::*;

    #[test]
    fn finds_user_by_server_name() {
        let user = |name: &str| json!({"name": name, "user": {"token": name}});
        let names =
            ["a.ns.svc", "a.ns.svc:8443", "*.ns.svc", "*.example.com:8443", "*.example.com", "b.example.com:443"];
        let mut config = json!({"users": names.map(user), "current-context": "c",
            "contexts": [{"name": "c", "context": {"user": "current"}}]});
        let check = |config: &Value, host: &str, port: u16, expect: Option<&str>| {
            let users = Users::of(config, Path::new(".")).unwrap();
            let found = users.of_server(host, port).and_then(|user| user.authorization.as_ref()?.header());
            let expect = expect.map(|name| HeaderValue::from_str(&format!("Bearer {name}")).unwrap());
            assert_eq!(found, expect, "{host}:{port}");
        };
        check(&config, "a.ns.svc", 443, Some("a.ns.svc"));
        check(&config, "a.ns.svc", 8443, Some("a.ns.svc:8443"));
        check(&config, "a.ns.svc", 80, None);
        check(&config, "b.ns.svc", 443, Some("*.ns.svc"));
        check(&config, "b.ns.svc", 8443, None);
        check(&config, "x.y.example.com", 8443, Some("*.example.com:8443"));
        check(&config, "x.example.com", 443, Some("*.example.com"));
        check(&config, "b.example.com", 443, Some("b.example.com:443"));
        check(&config, "other", 443, None);
        let add = |config: &mut Value, name: &str| config["users"].as_array_mut().unwrap().push(user(name));
        add(&mut config, "current");
        check(&config, "other", 443, Some("current"));
        add(&mut config, "*");
        check(&config, "other", 443, Some("*"));
    }

    #[test]
    fn rejects_unsupported_users() {
        let check = |user: Value, expect: &str| {
            let config = json!({"users": [{"name": "a", "user": user}]});
            let why = Users::of(&config, Path::new("/nowhere")).err().unwrap().to_string();
            assert!(why.starts_with("user \"a\": ") && why.contains(expect), "{why}");
        };
        check(json!({"exec": {"command": "x"}}), "\"exec\" is not supported");
        check(json!({"as": "x"}), "\"as\" is not supported");
        check(json!({"tokenFile": "t"}), "/nowhere/t: No such file");
        check(json!({"client-certificate-data": "%"}), "client-certificate-data");
    }
}
