//! Hand-written validation of lease candidates that definitions cannot declare
//! (`pkg/apis/coordination/validation`).

use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::json_name;
use semver::Version;

use generated::coordination::v1::coordinated_lease_strategy::OLDEST_EMULATION_VERSION;
use generated::coordination::v1beta1::LeaseCandidateSpec;

/// Checks that the binary version is not lower than the emulation version. Hand-written, because
/// versions are compared; invalid ones count as 0.0.0.
pub fn validate_versions(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    new: &LeaseCandidateSpec,
    _: Option<&LeaseCandidateSpec>,
) {
    let none = Version::new(0, 0, 0);
    let [binary, emulation] =
        [&new.binary_version, &new.emulation_version].map(|text| Version::parse(text).unwrap_or(none.clone()));
    let both = !new.binary_version.is_empty() && !new.emulation_version.is_empty();
    if both && binary.cmp_precedence(&emulation).is_lt() {
        let detail = "must be greater than or equal to `emulationVersion`";
        v.invalid(&path.child(json_name!(LeaseCandidateSpec.binary_version)), &new.binary_version, detail);
    }
    if new.strategy == OLDEST_EMULATION_VERSION && emulation.cmp_precedence(&none).is_eq() {
        let detail = "must be specified when `strategy` is 'OldestEmulationVersion'";
        v.required(&path.child(json_name!(LeaseCandidateSpec.emulation_version)), detail);
    }
}
