//! RFC 3339 timestamps, with the leniency and the error messages of Go's `time.Parse`.

use super::digits::append_padded;
use super::error::ScalarError;
use super::go_text::quote_time;

/// Seconds since 1970, and nanoseconds of the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instant {
    pub seconds: i64,
    pub nanos: u32,
}

/// The expected fraction of a second.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fraction {
    /// Optional, with any number of digits (Go's layout `time.RFC3339`).
    Optional,
    /// Exactly six digits (upstream's `metav1.RFC3339Micro`).
    Micro,
}

impl Fraction {
    fn layout(self) -> &'static str {
        match self {
            Self::Optional => "2006-01-02T15:04:05Z07:00",
            Self::Micro => "2006-01-02T15:04:05.000000Z07:00",
        }
    }
}

/// Parses a timestamp and converts it to UTC.
pub(super) fn parse(text: &str, fraction: Fraction) -> Result<Instant, ScalarError> {
    match parse_strict(text.as_bytes(), fraction) {
        Some(instant) => Ok(instant),
        None => Parser { text, at: 0, fraction }.parse(),
    }
}

/// Parses the most common form of timestamps: `2006-01-02T15:04:05Z`, with or without six digits of
/// fraction.
fn parse_strict(text: &[u8], fraction: Fraction) -> Option<Instant> {
    let (date_time, nanos) = match (fraction, text) {
        (Fraction::Optional, [date_time @ .., b'Z']) if date_time.len() == 19 => (date_time, 0),
        (_, [date_time @ .., b'.', a, b, c, d, e, f, b'Z']) if date_time.len() == 19 => {
            (date_time, number(&[*a, *b, *c, *d, *e, *f])? * 1000)
        }
        _ => return None,
    };
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T', h1, h2, b':', n1, n2, b':', s1, s2] = date_time else {
        return None;
    };
    let (year, month, day) = (number(&[y1, y2, y3, y4])?, number(&[m1, m2])?, number(&[d1, d2])?);
    let (hour, minute, second) = (number(&[h1, h2])?, number(&[n1, n2])?, number(&[s1, s2])?);
    let valid = (1..=12).contains(&month) && day >= 1 && day <= days_in_month(year, month);
    (valid && hour < 24 && minute < 60 && second < 60)
        .then(|| Instant { seconds: unix_seconds(year, month, day, hour, minute, second), nanos })
}

fn number(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |value, digit| digit.is_ascii_digit().then(|| value * 10 + u32::from(digit - b'0')))
}

/// Go's layout parser for these two layouts: slower and more lenient. It also creates the errors.
struct Parser<'a> {
    text: &'a str,
    at: usize,
    fraction: Fraction,
}

/// The reason why an element of the layout does not match.
enum Refusal {
    /// The text does not have the form of the element.
    Bad,
    /// The value is out of range.
    Range(&'static str),
}

impl Parser<'_> {
    fn parse(mut self) -> Result<Instant, ScalarError> {
        let year = self.element("2006", Self::year)?;
        self.literal("-")?;
        let month = self.element("01", |parser| parser.two_digits(1..=12, "month"))?;
        self.literal("-")?;
        let day = self.element("02", |parser| parser.two_digits(0..=99, "day"))?;
        self.literal("T")?;
        let hour = self.element("15", Self::hour)?;
        self.literal(":")?;
        let minute = self.element("04", |parser| parser.two_digits(0..=59, "minute"))?;
        self.literal(":")?;
        let (second, mut nanos) = self.element("05", Self::second)?;
        if self.fraction == Fraction::Micro {
            nanos = self.element(".000000", Self::micros)?;
        }
        let offset = self.element("Z07:00", Self::offset)?;
        if self.at < self.text.len() {
            return Err(self.message(format_args!(": extra text: {}", quote_time(&self.text[self.at..]))));
        }
        if day < 1 || day > days_in_month(year, month) {
            return Err(self.message(format_args!(": day out of range")));
        }
        Ok(Instant { seconds: unix_seconds(year, month, day, hour, minute, second) - offset, nanos })
    }

    fn element<T>(
        &mut self,
        layout: &'static str,
        read: impl FnOnce(&mut Self) -> Result<T, Refusal>,
    ) -> Result<T, ScalarError> {
        let start = self.at;
        read(self).map_err(|refusal| match refusal {
            Refusal::Bad => self.mismatch(start, layout),
            Refusal::Range(what) => self.message(format_args!(": {what} out of range")),
        })
    }

    fn literal(&mut self, literal: &'static str) -> Result<(), ScalarError> {
        if !self.rest().starts_with(literal.as_bytes()) {
            return Err(self.mismatch(self.at, literal));
        }
        self.at += literal.len();
        Ok(())
    }

    fn year(&mut self) -> Result<u32, Refusal> {
        let year = self.rest().get(..4).and_then(number).ok_or(Refusal::Bad)?;
        self.at += 4;
        Ok(year)
    }

    fn two_digits(&mut self, range: std::ops::RangeInclusive<u32>, what: &'static str) -> Result<u32, Refusal> {
        let value = self.rest().get(..2).and_then(number).ok_or(Refusal::Bad)?;
        self.at += 2;
        if range.contains(&value) { Ok(value) } else { Err(Refusal::Range(what)) }
    }

    /// Parses the hour, which may have one digit.
    fn hour(&mut self) -> Result<u32, Refusal> {
        if let [digit @ b'0'..=b'9', rest @ ..] = self.rest()
            && !matches!(rest, [b'0'..=b'9', ..])
        {
            let hour = u32::from(digit - b'0');
            self.at += 1;
            return Ok(hour);
        }
        self.two_digits(0..=23, "hour")
    }

    /// Parses the seconds, and a fraction if the layout does not have one.
    fn second(&mut self) -> Result<(u32, u32), Refusal> {
        let second = self.two_digits(0..=59, "second")?;
        let [b'.' | b',', digits @ ..] = self.rest() else { return Ok((second, 0)) };
        let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if length == 0 || self.fraction == Fraction::Micro {
            return Ok((second, 0));
        }
        let mut nanos = number(&digits[..length.min(9)]).ok_or(Refusal::Bad)?;
        for _ in length..9 {
            nanos *= 10;
        }
        self.at += 1 + length;
        Ok((second, nanos))
    }

    /// Parses six digits of fraction. Go's parser also accepts a sign.
    fn micros(&mut self) -> Result<u32, Refusal> {
        let digits = match self.rest() {
            [b'.' | b',', digits @ ..] if digits.len() >= 6 => &digits[..6],
            _ => return Err(Refusal::Bad),
        };
        let unsigned = digits.strip_prefix(b"-").or_else(|| digits.strip_prefix(b"+")).unwrap_or(digits);
        let micros = number(unsigned).ok_or(Refusal::Bad)?;
        if digits[0] == b'-' && micros > 0 {
            return Err(Refusal::Range("fractional second"));
        }
        self.at += 7;
        Ok(micros * 1000)
    }

    /// Parses the offset from UTC, in seconds east.
    fn offset(&mut self) -> Result<i64, Refusal> {
        if self.rest().first() == Some(&b'Z') {
            self.at += 1;
            return Ok(0);
        }
        let &[sign, h1, h2, b':', m1, m2, ..] = self.rest() else { return Err(Refusal::Bad) };
        let hours = number(&[h1, h2]).ok_or(Refusal::Bad)?;
        let minutes = number(&[m1, m2]);
        if hours > 24 {
            return Err(Refusal::Range("time zone offset hour"));
        }
        let minutes = minutes.ok_or(Refusal::Bad)?;
        if minutes > 60 {
            return Err(Refusal::Range("time zone offset minute"));
        }
        self.at += 6;
        let seconds = i64::from((hours * 60 + minutes) * 60);
        match sign {
            b'+' => Ok(seconds),
            b'-' => Ok(-seconds),
            _ => Err(Refusal::Bad),
        }
    }

    fn rest(&self) -> &[u8] {
        &self.text.as_bytes()[self.at..]
    }

    fn mismatch(&self, start: usize, layout: &str) -> ScalarError {
        let (value, rest) = (quote_time(self.text), quote_time(&self.text[start..]));
        let whole = self.fraction.layout();
        ScalarError::time(format_args!("parsing time {value} as \"{whole}\": cannot parse {rest} as \"{layout}\""))
    }

    fn message(&self, message: std::fmt::Arguments<'_>) -> ScalarError {
        ScalarError::time(format_args!("parsing time {}{message}", quote_time(self.text)))
    }
}

fn days_in_month(year: u32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 31,
    }
}

fn unix_seconds(year: u32, month: u32, day: u32, hour: u32, minute: u32, second: u32) -> i64 {
    days_from_civil(i64::from(year), i64::from(month), i64::from(day)) * 86_400
        + i64::from(hour * 3600 + minute * 60 + second)
}

/// The days since 1970 of a date in the proleptic Gregorian calendar.
///
/// Years start in March, so that the leap day is the last one. They are counted in eras of 400
/// years, which all have the same number of days.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The date of a day since 1970; the inverse of [`days_from_civil`].
fn civil_from_days(days: i64) -> (i64, u64, u64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month as u64, day as u64)
}

/// Appends `2006-01-02T15:04:05`, without fraction and zone.
pub(super) fn append_date_time(out: &mut Vec<u8>, seconds: i64) {
    let (year, month, day) = civil_from_days(seconds.div_euclid(86_400));
    let second = seconds.rem_euclid(86_400) as u64;
    let digit = |value: u64| b'0' + (value % 10) as u8;
    let two = |value: u64| [digit(value / 10), digit(value)];
    let [[m1, m2], [d1, d2]] = [two(month), two(day)];
    let [[h1, h2], [n1, n2], [s1, s2]] = [two(second / 3600), two(second / 60 % 60), two(second % 60)];
    let rest = [b'-', m1, m2, b'-', d1, d2, b'T', h1, h2, b':', n1, n2, b':', s1, s2];
    if let Ok(year @ 1000..=9999) = u64::try_from(year) {
        out.extend_from_slice(&[digit(year / 1000), digit(year / 100), digit(year / 10), digit(year)]);
    } else {
        if year < 0 {
            out.push(b'-');
        }
        append_padded(out, year.unsigned_abs(), 4);
    }
    out.extend_from_slice(&rest);
}
