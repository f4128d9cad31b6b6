//! Flags with only one supported value.
//!
//! This server serves one version, serves reads from memory, and has no contention profiles.
//!
//! A flag is accepted with the supported value, and with values that upstream rejects too, which
//! get upstream's error.

use crate::error::{FlagError, ValueError};
use crate::error_list::ErrorList;
use crate::values::FlagValues;
use crate::words::VERSION_BEFORE;
use machinery::features;

/// The API level that is served.
const VERSION: &str = "1.36";

/// The feature gate of coordinated leader election.
const COORDINATED: &str = features::CoordinatedLeaderElection;
const COORDINATED_FLAGS: [&str; 3] = [
    "coordinated-leadership-lease-duration",
    "coordinated-leadership-renew-deadline",
    "coordinated-leadership-retry-period",
];

impl FlagValues {
    /// Checks all of these flags.
    pub(super) fn check_fixed(&self, errors: &mut ErrorList) {
        let checks: [Result<(), FlagError>; 9] = [
            self.bool("permit-address-sharing").map(drop),
            self.duration("storage-initialization-timeout").map(drop),
            self.only("watch-cache", true, "reads are always served from memory, write true"),
            self.only("contention-profiling", false, "contention is not profiled, write false"),
            self.version("emulated-version", VERSION),
            self.version("min-compatibility-version", VERSION_BEFORE),
            self.not_emulating("emulation-forward-compatible", "EmulationForwardCompatible"),
            self.not_emulating(
                "runtime-config-emulation-forward-compatible",
                "RuntimeConfigEmulationForwardCompatible",
            ),
            self.leadership(),
        ];
        for check in checks.into_iter().chain([self.count()]) {
            errors.checked(check);
        }
    }

    fn only(&self, flag: &str, value: bool, why: &'static str) -> Result<(), FlagError> {
        if self.bool(flag)? == value { Ok(()) } else { Err(self.invalid(flag, ValueError::Fixed(why))) }
    }

    fn version(&self, flag: &str, only: &'static str) -> Result<(), FlagError> {
        match self.list(flag).iter().find(|text| text.trim_start_matches("kube=") != only) {
            Some(other) => Err(self.invalid(flag, ValueError::NotServed { version: (*other).to_owned(), only })),
            None => Ok(()),
        }
    }

    /// `ServerRunOptions.Validate`
    fn not_emulating(&self, flag: &str, option: &'static str) -> Result<(), FlagError> {
        if !self.bool(flag)? {
            return Ok(());
        }
        Err(FlagError::Emulation { option })
    }

    /// `validateCoordinatedLeadershipFlags`
    fn leadership(&self) -> Result<(), FlagError> {
        let [lease, deadline, retry] = COORDINATED_FLAGS;
        if self.duration(lease)? <= self.duration(deadline)? {
            return Err(FlagError::NotGreater { more: lease, less: deadline });
        }
        if self.duration(deadline)? <= self.duration(retry)? {
            return Err(FlagError::NotGreater { more: deadline, less: retry });
        }
        match COORDINATED_FLAGS.iter().find(|flag| self.is_given(flag) && self.has_gate(COORDINATED)) {
            Some(flag) => Err(FlagError::Unsupported { flag, gate: COORDINATED }),
            None => Ok(()),
        }
    }

    fn count(&self) -> Result<(), FlagError> {
        match self.number::<i64>("apiserver-count")? {
            1.. => Ok(()),
            count => Err(FlagError::ServerCount { count }),
        }
    }
}
