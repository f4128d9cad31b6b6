//! Leases and their candidates (upstream: `pkg/apis/coordination/validation`).

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::format::is_qualified_name;
use machinery::hooks::Validation;
use semver::Version;

use generated::coordination::v1::{Lease, coordinated_lease_strategy::OLDEST_EMULATION_VERSION};
use generated::coordination::v1beta1::{LeaseCandidate, LeaseCandidateSpec};

/// `ValidateLease`, `ValidateLeaseUpdate`
pub fn validate_lease(v: &mut Validation<'_>, _: &Path<'_>, lease: &Lease, _: Option<&Lease>) {
    let (path, spec) = (Path::new("spec"), &lease.spec);
    let strategy = spec.strategy.as_deref();
    if let Some(strategy) = strategy {
        validate_strategy(v, &path.child("strategy"), strategy);
    }
    let preferred = spec.preferred_holder.as_deref().unwrap_or_default();
    if !preferred.is_empty() && strategy.unwrap_or_default().is_empty() {
        v.forbidden(&path.child("preferredHolder"), "may only be specified if `strategy` is defined");
    }
}

/// `ValidateCoordinatedLeaseStrategy`, which names the field once more.
fn validate_strategy(v: &mut Validation<'_>, path: &Path<'_>, strategy: &str) {
    let path = path.child("strategy");
    if strategy.contains('/') {
        let messages = is_qualified_name(strategy);
        messages.into_iter().for_each(|message| v.invalid(&path, BadValue::json_string(strategy), message));
    } else {
        v.one_of(&path, strategy, &[OLDEST_EMULATION_VERSION]);
    }
}

/// `ValidateLeaseCandidate`, `ValidateLeaseCandidateUpdate`
pub fn validate_lease_candidate(
    v: &mut Validation<'_>,
    _: &Path<'_>,
    new: &LeaseCandidate,
    old: Option<&LeaseCandidate>,
) {
    let path = Path::new("spec");
    let (new, old) = (&new.spec, old.map(|old| &old.spec));
    let lease = path.child("leaseName");
    v.filled(&lease, &new.lease_name);
    validate_versions(v, &path, new);
    let strategy = path.child("strategy");
    v.filled(&strategy, &new.strategy);
    if new.strategy == OLDEST_EMULATION_VERSION && !is_emulating(&new.emulation_version) {
        let detail = "must be specified when `strategy` is 'OldestEmulationVersion'";
        v.required(&path.child("emulationVersion"), detail);
    }
    if !new.strategy.is_empty() {
        validate_strategy(v, &strategy, &new.strategy);
    }
    if old.is_some_and(|old| old.lease_name != new.lease_name) {
        v.invalid(&lease, &new.lease_name, "field is immutable");
    }
}

/// Whether a version is one, and not 0.0.0.
fn is_emulating(version: &str) -> bool {
    Version::parse(version).is_ok_and(|version| version.cmp_precedence(&Version::new(0, 0, 0)).is_ne())
}

/// What a server runs is not older than what it emulates; unreadable versions count as 0.0.0.
fn validate_versions(v: &mut Validation<'_>, path: &Path<'_>, spec: &LeaseCandidateSpec) {
    let (binary_path, emulation_path) = (path.child("binaryVersion"), path.child("emulationVersion"));
    let mut parse = |path: &Path<'_>, text: &str| match Version::parse(text) {
        Ok(version) => version,
        Err(_) => {
            if !text.is_empty() {
                v.invalid(path, text, "must be a valid semantic version");
            }
            Version::new(0, 0, 0)
        }
    };
    let emulation = parse(&emulation_path, &spec.emulation_version);
    let binary = parse(&binary_path, &spec.binary_version);
    v.filled(&binary_path, &spec.binary_version);
    let both = !spec.binary_version.is_empty() && !spec.emulation_version.is_empty();
    if both && binary.cmp_precedence(&emulation).is_lt() {
        v.invalid(&binary_path, &spec.binary_version, "must be greater than or equal to `emulationVersion`");
    }
}
