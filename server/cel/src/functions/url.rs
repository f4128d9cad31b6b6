//! URLs with a scheme or a path, as Go's `url.ParseRequestURI` parses them.

use std::any::Any;

use percent_encoding::percent_decode_str;

use super::{Function, text};
use crate::cost::Cost;
use crate::error::Error;
use crate::value::{Opaque, Value};

type Outcome<'a> = Result<Value<'a>, Error>;

const GETTER: &[&str] = &["kubernetes.URL.() -> string"];

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("url", &["(string) -> kubernetes.URL"], to_url, Cost::Resized(0)),
    Function::new("isURL", &["(string) -> bool"], |a| Ok(Value::Bool(parse(text(&a[0])?).is_ok())), Cost::Fixed(1)),
    Function::new("getScheme", GETTER, |a| part(a, |u| u.scheme.clone()), Cost::Fixed(1)),
    Function::new("getHost", GETTER, |a| part(a, |u| u.host.clone()), Cost::Fixed(1)),
    Function::new("getHostname", GETTER, |a| part(a, Url::hostname), Cost::Fixed(1)),
    Function::new("getPort", GETTER, |a| part(a, Url::port), Cost::Fixed(1)),
    Function::new("getEscapedPath", GETTER, |a| part(a, |u| u.path.clone()), Cost::Fixed(1)),
    Function::new("getQuery", &["kubernetes.URL.() -> map<string, list<string>>"], query, Cost::Fixed(1)),
];

#[derive(Debug, PartialEq)]
struct Url {
    scheme: String,
    host: String,
    path: String,
    query: String,
}

impl Opaque for Url {
    fn type_name(&self) -> &'static str {
        "kubernetes.URL"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other.as_any().downcast_ref::<Url>() == Some(self)
    }
}

impl Url {
    fn split_port(&self) -> (&str, &str) {
        match self.host.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, port),
            _ => (&self.host, ""),
        }
    }

    fn hostname(&self) -> String {
        self.split_port().0.trim_start_matches('[').trim_end_matches(']').to_owned()
    }

    fn port(&self) -> String {
        self.split_port().1.to_owned()
    }
}

/// Checks a URL; the error is Go's.
pub(super) fn check(input: &str) -> Result<(), Error> {
    parse(input).map(|_| ())
}

fn parse(input: &str) -> Result<Url, Error> {
    let refused = |why: &'static str| Error::url(input, why);
    if input.is_empty() {
        return Err(refused("empty url"));
    }
    if input.chars().any(|c| c.is_ascii_control()) {
        return Err(refused("net/url: invalid control character in URL"));
    }
    let (rest, query) = input.split_once('?').unwrap_or((input, ""));
    let scheme_end = rest.find(':').filter(|end| {
        rest.starts_with(|c: char| c.is_ascii_alphabetic())
            && rest[..*end].chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    let (scheme, rest) = scheme_end.map_or(("", rest), |end| (&rest[..end], &rest[end + 1..]));
    if !rest.starts_with('/') {
        return Err(refused("invalid URI for request"));
    }
    let (authority, path) = match rest.strip_prefix("//").filter(|_| !scheme.is_empty()) {
        Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        None => ("", rest),
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    check_host(input, host)?;
    if !escapes_are_whole(path) {
        return Err(refused("invalid URL escape"));
    }
    Ok(Url {
        scheme: scheme.to_ascii_lowercase(),
        host: host.to_owned(),
        path: escape_path(path),
        query: query.to_owned(),
    })
}

/// Refuses an invalid host of a URL.
fn check_host(url: &str, host: &str) -> Result<(), Error> {
    if let Some(c) = host.chars().find(|c| " <>\"^`{|}\\".contains(*c)) {
        return Err(Error::url(url, format!("invalid character {:?} in host name", c.to_string())));
    }
    let after = host.rfind(']').map_or(host, |end| &host[end + 1..]);
    match after.split_once(':') {
        Some((_, port)) if !port.bytes().all(|b| b.is_ascii_digit()) => {
            Err(Error::url(url, format!("invalid port {:?} after host", format!(":{port}"))))
        }
        _ => Ok(()),
    }
}

fn escapes_are_whole(path: &str) -> bool {
    path.match_indices('%')
        .all(|(at, _)| path.get(at + 1..at + 3).is_some_and(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit())))
}

fn escape_path(path: &str) -> String {
    let keep = |b: u8| b.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:@/%".contains(&b);
    path.bytes().map(|b| if keep(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

fn to_url<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    parse(text(&args[0])?)
        .map(Value::opaque)
        .map_err(|why| Error::failed(format!("URL parse error during conversion from string: {why}")))
}

fn part<'a>(args: &[Value<'a>], of: fn(&Url) -> String) -> Outcome<'a> {
    args[0].as_opaque().map(|url| Value::string(of(url))).ok_or_else(Error::no_such_overload)
}

fn query<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let url: &Url = args[0].as_opaque().ok_or_else(Error::no_such_overload)?;
    let decode = |part: &str| percent_decode_str(&part.replace('+', " ")).decode_utf8_lossy().into_owned();
    let mut found: Vec<(String, Vec<Value<'a>>)> = Vec::new();
    for pair in url.query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (key, value) = (decode(key), Value::string(decode(value)));
        match found.iter_mut().find(|(k, _)| *k == key) {
            Some((_, values)) => values.push(value),
            None => found.push((key, vec![value])),
        }
    }
    Ok(Value::map(found.into_iter().map(|(key, values)| (Value::string(key), Value::list(values))).collect()))
}
