//! Searches the logs of every test server for secrets.
//!
//! The server logs at the highest verbosity, with an audit log of all requests. The search runs
//! after the server has ended.

use std::fs;
use std::path::{Path, PathBuf};

/// Records the objects of all requests except those of secret kinds, as Kubernetes' documentation
/// recommends.
const POLICY: &str = r#"
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: Metadata
  resources:
  - {group: "", resources: [configmaps, secrets, serviceaccounts/token]}
  - {group: authentication.k8s.io, resources: [tokenreviews]}
- level: RequestResponse
"#;

/// Prefixes of JSON web tokens and of private keys in PEM, plain and in base64.
const FORMS: [&str; 6] = [
    "eyJhbGciOi",
    "eyJ0eXAiOi",
    "PRIVATE KEY-----",
    "LS0tLS1CRUdJTiBQUklWQVRFIEtFWQ",
    "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVk",
    "LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWQ",
];

/// The log files of a server, and the secrets that must not appear in them.
pub struct Logs {
    /// `None` when the test configures an audit log.
    audit: Option<PathBuf>,
    /// The tokens of the server's token file.
    tokens: Vec<String>,
}

impl Logs {
    /// Returns the logs of a server with these flags, and the flags including those of the logs.
    pub fn prepare(folder: &Path, given: &[&str]) -> (Logs, Vec<String>) {
        let mut flags = vec!["-v=10".to_owned()];
        let audit = (!given.iter().any(|flag| flag.starts_with("--audit-"))).then(|| folder.join("audit.log"));
        if let Some(log) = &audit {
            let policy = folder.join("audit-policy.yaml");
            fs::create_dir_all(folder).unwrap();
            fs::write(&policy, POLICY).unwrap();
            flags.push(format!("--audit-policy-file={}", policy.display()));
            flags.push(format!("--audit-log-path={}", log.display()));
        }
        let files = given.iter().filter_map(|flag| flag.strip_prefix("--token-auth-file="));
        let texts: Vec<_> = files.map(|file| fs::read_to_string(file).unwrap()).collect();
        let tokens = texts.iter().flat_map(|text| text.lines()).filter_map(|line| line.split(',').next());
        (Logs { audit, tokens: tokens.map(str::to_owned).collect() }, flags)
    }

    /// Returns the content of the audit log.
    pub fn audit(&self) -> String {
        self.audit.as_ref().map(|file| fs::read_to_string(file).unwrap_or_default()).unwrap_or_default()
    }

    /// Fails when the log or the audit log contains a token, a key or one of `more`.
    pub fn search(&self, log: &str, more: &[&str]) {
        let secrets = || FORMS.into_iter().chain(self.tokens.iter().map(String::as_str)).chain(more.iter().copied());
        for (name, text) in [("log", log), ("audit log", &self.audit())] {
            for line in text.lines() {
                let found = secrets().find(|secret| line.contains(secret));
                assert!(found.is_none(), "{} is in the {name}: {line}", found.unwrap_or_default());
            }
        }
    }
}
