//! Limits the secrets of a pod to those that its service account references (upstream:
//! `limitSecretReferences`).
//!
//! Upstream checks a list of fields and omits projected volumes and secrets of storage drivers.
//! Here all secret references in the spec are checked.

use std::collections::HashSet;

use generated::core::v1::{EnvFromSource, EnvVar, PodSpec, ServiceAccount};

use kubernetes::core::pod_references::{PodReference, ReferenceKind, visit_pod};

/// The field of pull secrets, which service accounts list separately from mountable secrets.
const PULL_SECRETS: &str = "imagePullSecrets";
/// The field of ephemeral containers.
const EPHEMERAL: &str = "ephemeralContainers";

/// The secrets that a write adds to a pod, each with its use.
pub struct NewSecrets<'o> {
    spec: &'o PodSpec,
    uses: Vec<Use<'o>>,
}

/// A secret that a service account does not reference.
#[derive(Debug, thiserror::Error)]
#[error("{what} is not allowed because service account {account} does not reference that {kind}")]
pub struct Unreferenced {
    /// The use of the secret.
    what: String,
    account: String,
    kind: &'static str,
}

/// A reference to a secret.
struct Use<'o> {
    name: &'o str,
    pulls: bool,
    path: String,
}

impl Use<'_> {
    fn of<'o>(reference: &PodReference<'o, '_>) -> Option<Use<'o>> {
        let is_secret = reference.kind == ReferenceKind::Secret;
        is_secret.then(|| Use {
            name: reference.name,
            pulls: reference.field == PULL_SECRETS,
            path: reference.path.to_string(),
        })
    }
}

impl<'o> NewSecrets<'o> {
    /// Returns the secrets of a spec. For an update these are the secrets of ephemeral containers
    /// and those that `old` does not use.
    pub fn of(spec: &'o PodSpec, old: Option<&PodSpec>) -> Self {
        let known: HashSet<(&str, bool)> =
            old.map(uses).unwrap_or_default().iter().map(|known| (known.name, known.pulls)).collect();
        let mut uses = uses(spec);
        uses.retain(|used| {
            old.is_none() || used.path.starts_with(EPHEMERAL) || !known.contains(&(used.name, used.pulls))
        });
        NewSecrets { spec, uses }
    }

    pub fn is_empty(&self) -> bool {
        self.uses.is_empty()
    }

    /// Checks that the service account references the secrets.
    ///
    /// # Errors
    /// The first secret that it does not reference.
    pub fn check(&self, account: &ServiceAccount) -> Result<(), Unreferenced> {
        let of_pulls = account.image_pull_secrets.iter().map(|reference| (reference.name.as_str(), true));
        let of_mounts = account.secrets.iter().map(|reference| (reference.name.as_str(), false));
        let allowed: HashSet<(&str, bool)> = of_pulls.chain(of_mounts).collect();
        let is_refused = |used: &&Use<'_>| !allowed.contains(&(used.name, used.pulls));
        let Some(refused) = self.uses.iter().find(is_refused) else { return Ok(()) };
        let name = refused.name;
        let (what, kind) = match refused.pulls {
            true => (format!("{}={name:?}", refused.path), "imagePullSecret"),
            false => (self.describe(refused), "secret"),
        };
        Err(Unreferenced { what, account: account.metadata.name.clone(), kind })
    }

    /// Describes a use in upstream's wording, where upstream has one.
    fn describe(&self, used: &Use<'_>) -> String {
        let name = used.name;
        if used.path.starts_with("volumes[") && used.path.ends_with("].secret.secretName") {
            return format!("volume with secret.secretName={name:?}");
        }
        let place = containers(self.spec).find_map(|container| container.place_of(used));
        let place = place.unwrap_or_else(|| format!("spec.{}", used.path));
        format!("{place} referencing secret.secretName={name:?}")
    }
}

fn uses(spec: &PodSpec) -> Vec<Use<'_>> {
    let mut uses = Vec::new();
    visit_pod(spec, &mut |reference| uses.extend(Use::of(reference)));
    uses
}

/// The data of a container for error messages.
struct Container<'o> {
    /// `containers[0]`
    path: String,
    kind: &'static str,
    name: &'o str,
    env: &'o [EnvVar],
    env_from: &'o [EnvFromSource],
}

impl Container<'_> {
    /// Returns the location of a secret in this container in upstream's wording.
    fn place_of(&self, used: &Use<'_>) -> Option<String> {
        let within = used.path.strip_prefix(&self.path)?;
        let (kind, name) = (self.kind, self.name);
        let position = |list: &str, within: &str| within.strip_prefix(list)?.split_once(']')?.0.parse::<usize>().ok();
        if let Some(var) = position(".env[", within).and_then(|index| self.env.get(index)) {
            return Some(format!("{kind} {name} with envVar {}", var.name));
        }
        position(".envFrom[", within).filter(|index| *index < self.env_from.len())?;
        Some(format!("{kind} {name} with envFrom"))
    }
}

macro_rules! described {
    ($containers:expr, $field:literal, $kind:literal, $common:ident => $of:expr) => {
        $containers.iter().enumerate().map(|(index, $common)| Container {
            path: format!(concat!($field, "[{}]"), index),
            kind: $kind,
            name: &$of.name,
            env: &$of.env,
            env_from: &$of.env_from,
        })
    };
}

/// Returns the containers of all types.
fn containers(spec: &PodSpec) -> impl Iterator<Item = Container<'_>> {
    let init = described!(spec.init_containers, "initContainers", "init container", c => c);
    let main = described!(spec.containers, "containers", "container", c => c);
    let ephemeral = described!(spec.ephemeral_containers, "ephemeralContainers", "ephemeral container",
        c => c.ephemeral_container_common);
    init.chain(main).chain(ephemeral)
}
