//! Named formats: `format.dns1123Label().validate(text)`.

use std::any::Any;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use machinery::format::{NameRule, content, is_label_value, is_qualified_name};

use super::{Function, Run, text, url};
use crate::cost::Cost;
use crate::error::Error;
use crate::time;
use crate::value::{Opaque, Value};

type Outcome<'a> = Result<Value<'a>, Error>;
type Check = fn(&str) -> Vec<String>;

/// A format: its name, and the function that returns the errors of a text.
#[derive(Debug)]
struct Format(&'static str, Check);

const FORMATS: [Format; 13] = [
    Format("dns1123Label", |t| owned(NameRule::Dns1123Label.check(t, false))),
    Format("dns1123Subdomain", |t| owned(NameRule::Dns1123Subdomain.check(t, false))),
    Format("dns1035Label", |t| owned(NameRule::Dns1035Label.check(t, false))),
    Format("qualifiedName", |t| owned(is_qualified_name(t))),
    Format("dns1123LabelPrefix", |t| owned(NameRule::Dns1123Label.check(t, true))),
    Format("dns1123SubdomainPrefix", |t| owned(NameRule::Dns1123Subdomain.check(t, true))),
    Format("dns1035LabelPrefix", |t| owned(NameRule::Dns1035Label.check(t, true))),
    Format("labelValue", |t| owned(is_label_value(t))),
    Format("uri", |t| url::check(t).err().iter().map(Error::to_string).collect()),
    Format("uuid", |t| unless(content::is_uuid(t).is_empty(), "does not match the UUID format")),
    Format("byte", |t| unless(BASE64_STANDARD.decode(t).is_ok(), "invalid base64")),
    Format("date", |t| unless(time::parse_date(t).is_some(), "invalid date")),
    Format("datetime", |t| unless(time::parse_timestamp(t).is_some(), "invalid datetime")),
];

const GETTER: &[&str] = &["() -> kubernetes.NamedFormat"];

const fn getter(name: &'static str, run: Run) -> Function {
    Function::new(name, GETTER, run, Cost::Fixed(1))
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("format.named", &["(string) -> optional<kubernetes.NamedFormat>"], named, Cost::Fixed(1)),
    Function::new("validate", &["kubernetes.NamedFormat.(string) -> optional<list<string>>"], validate, Cost::Format),
    getter("format.dns1123Label", |_| made(0)),
    getter("format.dns1123Subdomain", |_| made(1)),
    getter("format.dns1035Label", |_| made(2)),
    getter("format.qualifiedName", |_| made(3)),
    getter("format.dns1123LabelPrefix", |_| made(4)),
    getter("format.dns1123SubdomainPrefix", |_| made(5)),
    getter("format.dns1035LabelPrefix", |_| made(6)),
    getter("format.labelValue", |_| made(7)),
    getter("format.uri", |_| made(8)),
    getter("format.uuid", |_| made(9)),
    getter("format.byte", |_| made(10)),
    getter("format.date", |_| made(11)),
    getter("format.datetime", |_| made(12)),
];

fn owned(messages: machinery::format::Messages) -> Vec<String> {
    messages.into_iter().map(Into::into).collect()
}

fn unless(holds: bool, message: &str) -> Vec<String> {
    if holds { Vec::new() } else { vec![message.to_owned()] }
}

#[derive(Debug)]
struct Chosen(usize);

impl Opaque for Chosen {
    fn type_name(&self) -> &'static str {
        "kubernetes.NamedFormat"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other.as_any().downcast_ref::<Chosen>().is_some_and(|other| self.0 == other.0)
    }
}

fn made<'a>(format: usize) -> Outcome<'a> {
    Ok(Value::opaque(Chosen(format)))
}

fn named<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let name = text(&args[0])?;
    let found = FORMATS.iter().position(|format| format.0 == name);
    Ok(Value::Optional(found.map(|at| Arc::new(Value::opaque(Chosen(at))))))
}

/// Returns none if the text is valid.
fn validate<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let chosen: &Chosen = args[0].as_opaque().ok_or_else(Error::no_such_overload)?;
    let messages = FORMATS[chosen.0].1(text(&args[1])?);
    let found =
        (!messages.is_empty()).then(|| Arc::new(Value::list(messages.into_iter().map(Value::string).collect())));
    Ok(Value::Optional(found))
}
