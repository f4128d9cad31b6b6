//! Types of plain scalars in goyaml v2: those of YAML 1.1, with a few extensions.

/// The resolved value of a scalar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Plain {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    /// A date, which stays text but is quoted if it is written as a string.
    Timestamp,
    Text,
}

impl Plain {
    /// The short tag of the type.
    pub(super) fn tag(self) -> &'static str {
        match self {
            Plain::Null => "!!null",
            Plain::Bool(_) => "!!bool",
            Plain::Int(_) | Plain::Uint(_) => "!!int",
            Plain::Float(_) => "!!float",
            Plain::Timestamp => "!!timestamp",
            Plain::Text => "!!str",
        }
    }
}

/// Resolves text without quotes and without a tag.
pub(super) fn plain(text: &str) -> Plain {
    match text.as_bytes().first() {
        None => Plain::Null,
        Some(b'+' | b'-' | b'0'..=b'9') => word(text).unwrap_or_else(|| number(text)),
        Some(b'.') => word(text).or_else(|| float(text)).unwrap_or(Plain::Text),
        Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~') => {
            word(text).unwrap_or(Plain::Text)
        }
        Some(_) => Plain::Text,
    }
}

fn word(text: &str) -> Option<Plain> {
    Some(match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Plain::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Plain::Bool(false),
        "~" | "null" | "Null" | "NULL" => Plain::Null,
        ".nan" | ".NaN" | ".NAN" => Plain::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Plain::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Plain::Float(f64::NEG_INFINITY),
        _ => return None,
    })
}

fn number(text: &str) -> Plain {
    if is_timestamp(text) {
        return Plain::Timestamp;
    }
    let digits = text.replace('_', "");
    integer(&digits).or_else(|| if is_float(&digits) { float(&digits) } else { None }).unwrap_or(Plain::Text)
}

/// Parses an integer like Go's `strconv.ParseInt` and `ParseUint` with base 0: the prefix
/// determines the base, a leading 0 means octal.
fn integer(digits: &str) -> Option<Plain> {
    let (sign, magnitude) = match digits.as_bytes().first()? {
        b'-' => (-1, &digits[1..]),
        b'+' => (1, &digits[1..]),
        _ => (1, digits),
    };
    let (base, rest) = match magnitude.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &magnitude[2..]),
        [b'0', b'o' | b'O', ..] => (8, &magnitude[2..]),
        [b'0', b'b' | b'B', ..] => (2, &magnitude[2..]),
        [b'0', _, ..] => (8, &magnitude[1..]),
        _ => (10, magnitude),
    };
    // The standard library accepts another sign here, Go does not.
    if !rest.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let value = u64::from_str_radix(rest, base).ok()?;
    match i64::try_from(i128::from(value) * sign) {
        Ok(value) => Some(Plain::Int(value)),
        Err(_) if digits.starts_with(|c: char| c.is_ascii_digit()) => Some(Plain::Uint(value)),
        Err(_) => None,
    }
}

/// Whether the text matches `^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`.
fn is_float(text: &str) -> bool {
    let skip_digits = |text: &'_ str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    let whole = skip_digits(rest);
    rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let length = skip_digits(fraction);
        if whole == 0 && length == 0 {
            return false;
        }
        rest = &fraction[length..];
    } else if whole == 0 {
        return false;
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        return !exponent.is_empty() && skip_digits(exponent) == exponent.len();
    }
    rest.is_empty()
}

/// Parses decimal text like Go's `strconv.ParseFloat`; out of range is not a number.
fn float(text: &str) -> Option<Plain> {
    let decimal = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    text.parse().ok().filter(|value: &f64| decimal && value.is_finite()).map(Plain::Float)
}

/// Whether goyaml treats the text as a date, with or without a time.
fn is_timestamp(text: &str) -> bool {
    date_and_time(text).is_some()
}

fn date_and_time(text: &str) -> Option<()> {
    let (year, rest) = text.split_at_checked(4)?;
    if !year.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let (month, rest) = up_to_two_digits(rest.strip_prefix('-')?)?;
    let (day, rest) = up_to_two_digits(rest.strip_prefix('-')?)?;
    let year: u32 = year.parse().ok()?;
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        _ => return None,
    };
    if day == 0 || day > days {
        return None;
    }
    match rest.as_bytes().first() {
        None => Some(()),
        Some(b'T' | b't') => zone(time_of_day(&rest[1..])?),
        Some(b' ') => time_of_day(&rest[1..])?.is_empty().then_some(()),
        Some(_) => None,
    }
}

/// Parses `15:4:5.999999999`; returns the remaining text.
fn time_of_day(text: &str) -> Option<&str> {
    let (hour, rest) = up_to_two_digits(text)?;
    let (minute, rest) = up_to_two_digits(rest.strip_prefix(':')?)?;
    let (second, rest) = up_to_two_digits(rest.strip_prefix(':')?)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    match rest.strip_prefix(['.', ',']) {
        Some(fraction) if fraction.starts_with(|c: char| c.is_ascii_digit()) => {
            Some(fraction.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        _ => Some(rest),
    }
}

/// Parses `Z` or `+07:00`.
fn zone(text: &str) -> Option<()> {
    if text == "Z" {
        return Some(());
    }
    let (hours, minutes) = text.strip_prefix(['+', '-'])?.split_once(':')?;
    let in_range = |digits: &str, most: u32| {
        digits.len() == 2 && up_to_two_digits(digits).is_some_and(|(value, rest)| rest.is_empty() && value <= most)
    };
    (in_range(hours, 24) && in_range(minutes, 60)).then_some(())
}

fn up_to_two_digits(text: &str) -> Option<(u32, &str)> {
    let length = text.bytes().take(2).take_while(u8::is_ascii_digit).count();
    text[..length].parse().ok().map(|value| (value, &text[length..]))
}
