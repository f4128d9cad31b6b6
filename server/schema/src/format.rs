//! String formats of schemas (`kube-openapi/pkg/validation/strfmt`). Unknown formats are ignored.

use std::net::IpAddr;
use std::sync::OnceLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use machinery::format::url::Url;
use machinery::format::{is_dns1123_label, is_dns1123_subdomain};
use machinery::scalar::Duration;
use regex::Regex;

/// Names of the string formats, without dashes.
const TEXTS: [&str; 26] = [
    "bsonobjectid",
    "uri",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "byte",
    "password",
    "date",
    "duration",
    "datetime",
    "k8sshortname",
    "k8slongname",
];

/// Whether a format applies to a type (`StripUnsupportedFormatsPostProcess`).
pub fn is_of_type(format: &str, kind: &str) -> bool {
    match kind {
        "" | "string" => is_text(format),
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        _ => false,
    }
}

/// Whether a format is a string format.
pub(crate) fn is_text(format: &str) -> bool {
    TEXTS.contains(&plain(format).as_str())
}

fn plain(format: &str) -> String {
    format.replace('-', "")
}

/// Whether a text matches a format.
pub(crate) fn matches(format: &str, text: &str) -> bool {
    match plain(format).as_str() {
        "bsonobjectid" => text.len() == 24 && text.bytes().all(|b| b.is_ascii_hexdigit()),
        "uri" => Url::parse_request(text).is_ok(),
        "email" => is_email(text),
        "hostname" => is_hostname(text),
        "ipv4" => text.parse::<IpAddr>().is_ok_and(|ip| ip.is_ipv4()),
        "ipv6" => text.parse::<IpAddr>().is_ok_and(|ip| ip.is_ipv6()),
        "cidr" => is_cidr(text),
        "mac" => is_mac(text),
        "isbn" => is_isbn10(text) || is_isbn13(text),
        "isbn10" => is_isbn10(text),
        "isbn13" => is_isbn13(text),
        "byte" => !text.is_empty() && STANDARD.decode(text).is_ok(),
        "password" => true,
        "date" => is_date(text),
        "duration" => is_duration(text),
        "datetime" => is_date_time(text),
        "k8sshortname" => is_dns1123_label(text).is_empty(),
        "k8slongname" => is_dns1123_subdomain(text).is_empty(),
        other => regular(other).is_none_or(|regex| regex.is_match(text)),
    }
}

/// Keys of two expressions of the host name check in the table of [`regular`]: all characters, and
/// the last label.
const HOST_CHARACTERS: &str = "host characters";
const LETTERS: &str = "letters";

/// The regular expression of a format, compiled at the first use.
fn regular(format: &str) -> Option<&'static Regex> {
    const HEX: &str = "[0-9a-fA-F]";
    static COMPILED: OnceLock<Vec<(&'static str, Regex)>> = OnceLock::new();
    let compiled = COMPILED.get_or_init(|| {
        let uuid = |version: &str, variant: &str| {
            format!("^{HEX}{{8}}-?{HEX}{{4}}-?{version}{HEX}{{3}}-?{variant}{HEX}{{3}}-?{HEX}{{12}}$")
        };
        let number = "(?:[0-9]|[1-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5])";
        let patterns = [
            ("uuid", uuid(HEX, HEX)),
            ("uuid3", uuid("3", HEX)),
            ("uuid4", uuid("4", "[89abAB]")),
            ("uuid5", uuid("5", "[89abAB]")),
            ("ssn", r"^\d{3}[- ]?\d{2}[- ]?\d{4}$".to_owned()),
            ("hexcolor", format!("^#?({HEX}{{3}}|{HEX}{{6}})$")),
            ("rgbcolor", format!(r"^rgb\(\s*{number}\s*,\s*{number}\s*,\s*{number}\s*\)$")),
            ("creditcard", r"^\d{13,19}$".to_owned()),
            (HOST_CHARACTERS, r"^[\p{L}\p{S}0-9.-]+$".to_owned()),
            (LETTERS, r"^\p{L}+$".to_owned()),
        ];
        patterns.into_iter().filter_map(|(name, text)| Some((name, Regex::new(&text).ok()?))).collect()
    });
    compiled.iter().find(|(name, _)| *name == format).map(|(_, regex)| regex)
}

fn is_email(text: &str) -> bool {
    let address = match text.split_once('<') {
        Some((_, rest)) => rest.strip_suffix('>').unwrap_or(""),
        None => text,
    };
    let Some((local, domain)) = address.rsplit_once('@') else { return false };
    let atom = |c: char| c.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(c);
    let dots = |part: &str| !part.starts_with('.') && !part.ends_with('.') && !part.contains("..");
    !local.is_empty()
        && !domain.is_empty()
        && local.chars().all(atom)
        && domain.chars().all(atom)
        && dots(local)
        && dots(domain)
}

/// Accepts Unicode letters and symbols, and ASCII digits.
fn is_hostname(text: &str) -> bool {
    let is_of = |characters: &str, text: &str| regular(characters).is_some_and(|regex| regex.is_match(text));
    if text.len() > 255 || !is_of(HOST_CHARACTERS, text) {
        return false;
    }
    let label = |label: &str| (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-');
    match text.rsplit_once('.') {
        Some((above, top)) => {
            top.len() <= 63 && top.chars().count() >= 2 && is_of(LETTERS, top) && above.split('.').all(label)
        }
        // Upstream's expression allows at most one dash in a single-label name, as its second
        // character.
        None => {
            let dash = text.find('-');
            text.len() <= 63 && dash.is_none_or(|at| text[..at].chars().count() == 1 && !text[at + 1..].contains('-'))
        }
    }
}

fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let Ok(address) = address.parse::<IpAddr>() else { return false };
    let most = if address.is_ipv4() { 32 } else { 128 };
    length.parse::<u8>().is_ok_and(|length| length <= most)
}

/// Mirrors `net.ParseMAC`.
fn is_mac(text: &str) -> bool {
    let of = |separator: char, digits: usize, lengths: &[usize]| {
        let parts: Vec<&str> = text.split(separator).collect();
        lengths.contains(&parts.len())
            && parts.iter().all(|part| part.len() == digits && part.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    of(':', 2, &[6, 8, 20]) || of('-', 2, &[6, 8, 20]) || of('.', 4, &[3, 4, 10])
}

fn is_isbn10(text: &str) -> bool {
    let digits: Vec<char> = text.chars().filter(|c| !matches!(c, ' ' | '-')).collect();
    let value = |(at, c): (usize, &char)| match c {
        'X' | 'x' if at == 9 => Some(10),
        c => c.to_digit(10),
    };
    let values: Option<Vec<u32>> = digits.iter().enumerate().map(value).collect();
    values.is_some_and(|v| v.len() == 10 && v.iter().zip(1..).map(|(v, at)| v * at).sum::<u32>() % 11 == 0)
}

fn is_isbn13(text: &str) -> bool {
    let values: Option<Vec<u32>> = text.chars().filter(|c| !matches!(c, ' ' | '-')).map(|c| c.to_digit(10)).collect();
    let weigh = |v: &[u32]| v.iter().enumerate().map(|(at, v)| if at % 2 == 0 { *v } else { v * 3 }).sum::<u32>();
    values.is_some_and(|v| v.len() == 13 && weigh(&v) % 10 == 0)
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let digits = |text: &str, length: usize| text.len() == length && text.bytes().all(|b| b.is_ascii_digit());
    if !(digits(year, 4) && digits(month, 2) && digits(day, 2)) {
        return false;
    }
    let number = |text: &str| text.parse::<u32>().unwrap_or(0);
    let (year, month, day) = (number(year), number(month), number(day));
    let is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let Some((date, time)) = lower.split_once('t') else { return false };
    let time = time.split('t').next().unwrap_or("");
    let digits = |range: std::ops::Range<usize>| {
        time.get(range).filter(|part| part.bytes().all(|b| b.is_ascii_digit())).unwrap_or("99")
    };
    let clock = digits(0..2) <= "23" && digits(3..5) <= "59" && digits(6..8) <= "59";
    let colons = time.get(2..3) == Some(":") && time.get(5..6) == Some(":");
    is_date(date) && clock && colons && is_zone(time.get(8..).unwrap_or(""))
}

/// Whether a text is an optional fraction of a second and a time zone offset.
fn is_zone(text: &str) -> bool {
    let zone = match text.chars().next() {
        Some(c) if !matches!(c, 'z' | '+' | '-') => {
            let fraction = &text[c.len_utf8()..];
            let rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            if rest.len() == fraction.len() {
                return false;
            }
            rest
        }
        _ => text,
    };
    let digits =
        |range: std::ops::Range<usize>| zone.get(range).is_some_and(|part| part.bytes().all(|b| b.is_ascii_digit()));
    zone == "z"
        || (zone.len() == 6
            && zone.starts_with(['+', '-'])
            && digits(1..3)
            && zone.get(3..4) == Some(":")
            && digits(4..6))
}

/// Accepts Go's duration format, or numbers with units in words (`2 days`).
fn is_duration(text: &str) -> bool {
    const WORDS: [&str; 8] = ["nano", "micro", "milli", "sec", "min", "hour", "day", "week"];
    const SHORT: [&str; 11] = ["ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk"];
    if Duration::parse(text).is_ok() {
        return true;
    }
    let mut rest = text;
    let mut found = false;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        rest = rest[start..].trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        let unit: String = rest.chars().take_while(|c| c.is_ascii_alphabetic() || *c == 'µ').collect();
        rest = &rest[unit.len()..];
        let unit = unit.to_lowercase();
        found |= SHORT.contains(&unit.as_str()) || WORDS.iter().any(|word| unit.starts_with(word));
    }
    found
}
