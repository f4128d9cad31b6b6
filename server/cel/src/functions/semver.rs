//! Semantic versions.

use std::any::Any;
use std::cmp::Ordering;

use semver::Version;

use super::{Function, text};
use crate::cost::Cost;
use crate::error::Error;
use crate::value::{Opaque, Value};

type Outcome<'a> = Result<Value<'a>, Error>;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new(
        "semver",
        &["(string) -> kubernetes.Semver", "(string, bool) -> kubernetes.Semver"],
        to_semver,
        Cost::Scan(0),
    ),
    Function::new(
        "isSemver",
        &["(string) -> bool", "(string, bool) -> bool"],
        |a| Ok(Value::Bool(parse(a)?.is_ok())),
        Cost::Scan(0),
    ),
    Function::new("major", &["kubernetes.Semver.() -> int"], |a| number(a, |v| v.major), Cost::Fixed(1)),
    Function::new("minor", &["kubernetes.Semver.() -> int"], |a| number(a, |v| v.minor), Cost::Fixed(1)),
    Function::new("patch", &["kubernetes.Semver.() -> int"], |a| number(a, |v| v.patch), Cost::Fixed(1)),
];

#[derive(Debug)]
struct Semver(Version);

impl Opaque for Semver {
    fn type_name(&self) -> &'static str {
        "kubernetes.Semver"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other.as_any().downcast_ref::<Semver>().is_some_and(|other| self.0.cmp_precedence(&other.0).is_eq())
    }
}

/// The order of two versions; `None` for other values.
pub(super) fn order(args: &[Value<'_>]) -> Option<Ordering> {
    Some(args.first()?.as_opaque::<Semver>()?.0.cmp_precedence(&args.get(1)?.as_opaque::<Semver>()?.0))
}

fn parse(args: &[Value<'_>]) -> Result<Result<Version, semver::Error>, Error> {
    let version = text(&args[0])?;
    Ok(match args.get(1) {
        Some(Value::Bool(true)) => Version::parse(&normalize(version)),
        _ => Version::parse(version),
    })
}

/// Removes a leading `v`, adds missing numbers, and removes leading zeros.
fn normalize(version: &str) -> String {
    let mut parts: Vec<String> =
        version.strip_prefix('v').unwrap_or(version).splitn(3, '.').map(str::to_owned).collect();
    for part in parts.iter_mut().filter(|p| p.len() > 1) {
        let rest = part.trim_start_matches('0');
        *part = if rest.starts_with(|c: char| c.is_ascii_digit()) { rest.to_owned() } else { format!("0{rest}") };
    }
    let last = parts.pop().unwrap_or_default();
    let (number, suffix) = last.split_at(last.find(['-', '+']).unwrap_or(last.len()));
    let (number, suffix) = if parts.len() < 2 { (number, suffix) } else { (last.as_str(), "") };
    parts.push(number.to_owned());
    parts.resize(3, "0".into());
    format!("{}{suffix}", parts.join("."))
}

fn to_semver<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    parse(args)?.map(|version| Value::opaque(Semver(version))).map_err(|e| Error::failed(e.to_string()))
}

fn number<'a>(args: &[Value<'a>], of: fn(&Version) -> u64) -> Outcome<'a> {
    let version = args[0].as_opaque::<Semver>().ok_or_else(Error::no_such_overload)?;
    Ok(Value::Int(of(&version.0) as i64))
}
