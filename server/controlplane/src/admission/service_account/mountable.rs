//! Which secrets a pod may use (`limitSecretReferences`).

use generated::core::v1::{EnvFromSource, EnvVar, PodSpec, ServiceAccount};

/// Refuses the first secret that the account does not name.
pub fn check(spec: &PodSpec, account: &ServiceAccount) -> Result<(), String> {
    let named = |secret: &str| account.secrets.iter().any(|reference| reference.name == secret);
    let refused = |what: String| {
        format!("{what} is not allowed because service account {} does not reference that", account.metadata.name)
    };
    for volume in &spec.volumes {
        if let Some(secret) = volume.volume_source.secret.as_ref().filter(|secret| !named(&secret.secret_name)) {
            let what = format!("volume with secret.secretName={:?}", secret.secret_name);
            return Err(format!("{} secret", refused(what)));
        }
    }
    for (kind, name, env, env_from) in containers(spec) {
        let used =
            env.iter().find_map(|var| secret_of(var).filter(|secret| !named(secret)).map(|secret| (var, secret)));
        if let Some((var, secret)) = used {
            let what = format!("{kind} {name} with envVar {} referencing secret.secretName={secret:?}", var.name);
            return Err(format!("{} secret", refused(what)));
        }
        let whole =
            env_from.iter().filter_map(|source| source.secret_ref.as_ref()).map(|r| &r.local_object_reference.name);
        if let Some(secret) = whole.into_iter().find(|secret| !named(secret)) {
            let what = format!("{kind} {name} with envFrom referencing secret.secretName={secret:?}");
            return Err(format!("{} secret", refused(what)));
        }
    }
    let pulls = |secret: &str| account.image_pull_secrets.iter().any(|reference| reference.name == secret);
    match spec.image_pull_secrets.iter().enumerate().find(|(_, reference)| !pulls(&reference.name)) {
        Some((at, reference)) => {
            Err(format!("{} imagePullSecret", refused(format!("imagePullSecrets[{at}].name={:?}", reference.name))))
        }
        None => Ok(()),
    }
}

fn secret_of(var: &EnvVar) -> Option<&str> {
    Some(var.value_from.as_ref()?.secret_key_ref.as_ref()?.local_object_reference.name.as_str())
}

type Parts<'p> = (&'static str, &'p str, &'p [EnvVar], &'p [EnvFromSource]);

/// What is said of the containers of all kinds, in upstream's order.
fn containers(spec: &PodSpec) -> impl Iterator<Item = Parts<'_>> {
    let init = spec.init_containers.iter().map(|c| ("init container", c.name.as_str(), &c.env[..], &c.env_from[..]));
    let usual = spec.containers.iter().map(|c| ("container", c.name.as_str(), &c.env[..], &c.env_from[..]));
    let ephemeral = spec.ephemeral_containers.iter().map(|c| &c.ephemeral_container_common);
    let ephemeral = ephemeral.map(|c| ("ephemeral container", c.name.as_str(), &c.env[..], &c.env_from[..]));
    init.chain(usual).chain(ephemeral)
}
