//! Timestamps and durations in nanoseconds, and their text forms.

use machinery::scalar::Duration;

pub(crate) const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400;
/// Valid timestamps, the years 1 to 9999, in seconds since 1970.
const RANGE: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// A date and a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Civil {
    pub year: i64,
    pub month: i64,
    pub day: i64,
    /// Seconds since midnight.
    pub seconds: i64,
    pub nanos: i64,
    /// 0 is Sunday.
    pub weekday: i64,
    /// 0 is the first of January.
    pub yearday: i64,
}

/// RFC 3339 text, with any fraction.
pub(crate) fn parse_timestamp(text: &str) -> Option<i128> {
    let (date, rest) = (text.get(..10)?, text.get(10..)?);
    let days = parse_days(date)?;
    let rest = rest.strip_prefix(['T', 't'])?;
    let (clock, rest) = (rest.get(..8)?, rest.get(8..)?);
    let seconds = parse_clock(clock)?;
    let (nanos, zone) = match rest.strip_prefix('.') {
        Some(rest) => {
            let end = rest.find(|c: char| !c.is_ascii_digit()).filter(|n| *n > 0)?;
            (format!("{:0<9.9}", &rest[..end]).parse::<i64>().ok()?, &rest[end..])
        }
        None => (0, rest),
    };
    let offset = if matches!(zone, "Z" | "z") { 0 } else { parse_offset(zone)? };
    in_range(i128::from(days * DAY + seconds - offset) * i128::from(SECOND) + i128::from(nanos))
}

/// The time, if timestamps can represent it.
pub(crate) fn in_range(nanos: i128) -> Option<i128> {
    let seconds = i64::try_from(nanos.div_euclid(i128::from(SECOND))).ok()?;
    RANGE.contains(&seconds).then_some(nanos)
}

/// The midnight of a date such as `2026-11-21`.
pub(crate) fn parse_date(text: &str) -> Option<i128> {
    Some(i128::from(parse_days(text)? * DAY) * i128::from(SECOND))
}

fn parse_days(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let (year, month, day) = (digits(&text[..4])?, digits(&text[5..7])?, digits(&text[8..])?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (1..=last).contains(&day).then(|| days_of(year, month, day))
}

fn parse_clock(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if bytes.get(2) != Some(&b':') || bytes.get(5) != Some(&b':') {
        return None;
    }
    let (hour, minute, second) = (digits(text.get(..2)?)?, digits(text.get(3..5)?)?, digits(text.get(6..8)?)?);
    (hour < 24 && minute < 60 && second < 60).then_some(hour * 3600 + minute * 60 + second)
}

/// `+02:00` in seconds.
pub(crate) fn parse_offset(text: &str) -> Option<i64> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (hours, minutes) = rest.split_once(':')?;
    if hours.len() != 2 || minutes.len() != 2 {
        return None;
    }
    Some(sign * (digits(hours)? * 3600 + digits(minutes)? * 60))
}

fn digits(text: &str) -> Option<i64> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Days since 1970 of a date (Howard Hinnant's `days_from_civil`).
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date and time of day at an offset from UTC in seconds.
pub(crate) fn civil(nanos: i128, offset: i64) -> Civil {
    let whole = nanos.div_euclid(i128::from(SECOND)) as i64 + offset;
    let (days, seconds) = (whole.div_euclid(DAY), whole.rem_euclid(DAY));
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    Civil {
        year,
        month,
        day: of_year - (153 * shifted_month + 2) / 5 + 1,
        seconds,
        nanos: nanos.rem_euclid(i128::from(SECOND)) as i64,
        weekday: (days + 4).rem_euclid(7),
        yearday: days - days_of(year, 1, 1),
    }
}

/// RFC 3339, with the shortest exact fraction.
pub(crate) fn format_timestamp(nanos: i128) -> String {
    let c = civil(nanos, 0);
    let fraction = format!("{:09}", c.nanos);
    let fraction = fraction.trim_end_matches('0');
    let dot = if fraction.is_empty() { "" } else { "." };
    let (hour, minute, second) = (c.seconds / 3600, c.seconds / 60 % 60, c.seconds % 60);
    format!("{:04}-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}{dot}{fraction}Z", c.year, c.month, c.day)
}

/// Parses Go's duration syntax, such as `1h30m`.
pub(crate) fn parse_duration(text: &str) -> Option<i64> {
    Duration::parse(text).ok().map(Duration::nanos)
}

/// Seconds, in the form of `string(duration)`.
pub(crate) fn format_duration(nanos: i64) -> String {
    format!("{}s", nanos as f64 / SECOND as f64)
}
