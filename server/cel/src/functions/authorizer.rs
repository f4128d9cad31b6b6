//! Asking whether a user may do something: `authorizer.group('').resource('pods').namespace('x').check('get').allowed()`.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::{Function, text};
use crate::cost::Cost;
use crate::error::EvalError;
use crate::value::{Opaque, Value};

type Outcome<'a> = Result<Value<'a>, EvalError>;

/// A check may be made twice per expression (upstream's figure).
const CHECK: Cost = Cost::Fixed(350_000);
const TO_RESOURCE: &[&str] =
    &["kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.ResourceCheck"];

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new(
        "path",
        &["kubernetes.authorization.Authorizer.(string) -> kubernetes.authorization.PathCheck"],
        path,
        Cost::Fixed(1),
    ),
    Function::new(
        "group",
        &["kubernetes.authorization.Authorizer.(string) -> kubernetes.authorization.GroupCheck"],
        group,
        Cost::Fixed(1),
    ),
    Function::new(
        "serviceAccount",
        &["kubernetes.authorization.Authorizer.(string, string) -> kubernetes.authorization.Authorizer"],
        service_account,
        Cost::Fixed(1),
    ),
    Function::new(
        "resource",
        &["kubernetes.authorization.GroupCheck.(string) -> kubernetes.authorization.ResourceCheck"],
        resource,
        Cost::Fixed(1),
    ),
    Function::new("subresource", TO_RESOURCE, |a| narrowed(a, |c, said| c.subresource = said), Cost::Fixed(1)),
    Function::new("namespace", TO_RESOURCE, |a| narrowed(a, |c, said| c.namespace = said), Cost::Fixed(1)),
    Function::new("name", TO_RESOURCE, |a| narrowed(a, |c, said| c.name = said), Cost::Fixed(1)),
    Function::new(
        "fieldSelector",
        TO_RESOURCE,
        |a| narrowed(a, |c, said| c.field_selector = Some(said)),
        Cost::Selector,
    ),
    Function::new(
        "labelSelector",
        TO_RESOURCE,
        |a| narrowed(a, |c, said| c.label_selector = Some(said)),
        Cost::Selector,
    ),
    Function::new(
        "check",
        &[
            "kubernetes.authorization.PathCheck.(string) -> kubernetes.authorization.Decision",
            "kubernetes.authorization.ResourceCheck.(string) -> kubernetes.authorization.Decision",
        ],
        check,
        CHECK,
    ),
    Function::new(
        "allowed",
        &["kubernetes.authorization.Decision.() -> bool"],
        |a| Ok(Value::Bool(decision(a)?.allowed)),
        Cost::Fixed(1),
    ),
    Function::new(
        "reason",
        &["kubernetes.authorization.Decision.() -> string"],
        |a| Ok(Value::string(decision(a)?.reason.as_str())),
        Cost::Fixed(1),
    ),
    Function::new(
        "errored",
        &["kubernetes.authorization.Decision.() -> bool"],
        |a| Ok(Value::Bool(decision(a)?.error.is_some())),
        Cost::Fixed(1),
    ),
    Function::new("error", &["kubernetes.authorization.Decision.() -> string"], error, Cost::Fixed(1)),
];

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// A service account to ask for in place of the user: namespace and name.
    pub service_account: Option<(String, String)>,
    /// A path that is no resource; then only `verb` is said besides.
    pub path: Option<String>,
    pub group: String,
    pub resource: String,
    pub subresource: String,
    pub namespace: String,
    pub name: String,
    pub field_selector: Option<String>,
    pub label_selector: Option<String>,
    pub verb: String,
}

/// What is answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    pub allowed: bool,
    pub reason: String,
    pub error: Option<String>,
}

/// Who answers. Called while an expression is evaluated, so it may block.
pub trait Authorize: Send + Sync {
    fn authorize(&self, check: &Check) -> Decision;
}

/// A check that is being put together.
struct Asking {
    kind: &'static str,
    with: Arc<dyn Authorize>,
    check: Check,
}

impl fmt::Debug for Asking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.kind, self.check)
    }
}

impl Opaque for Asking {
    fn type_name(&self) -> &'static str {
        self.kind
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other
            .as_any()
            .downcast_ref::<Asking>()
            .is_some_and(|other| self.kind == other.kind && self.check == other.check)
    }
}

impl Opaque for Decision {
    fn type_name(&self) -> &'static str {
        "kubernetes.authorization.Decision"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other.as_any().downcast_ref::<Decision>() == Some(self)
    }
}

/// The value of the variable `authorizer`.
pub fn authorizer<'a>(with: Arc<dyn Authorize>) -> Value<'a> {
    Value::opaque(Asking { kind: "kubernetes.authorization.Authorizer", with, check: Check::default() })
}

/// The value of the variable `authorizer.requestResource`.
pub fn request_resource<'a>(with: Arc<dyn Authorize>, check: Check) -> Value<'a> {
    Value::opaque(Asking { kind: "kubernetes.authorization.ResourceCheck", with, check })
}

fn asking<'v>(args: &'v [Value<'_>]) -> Result<&'v Asking, EvalError> {
    args[0].as_opaque().ok_or_else(EvalError::no_such_overload)
}

fn next<'a>(of: &Asking, kind: &'static str, change: impl FnOnce(&mut Check)) -> Value<'a> {
    let mut check = of.check.clone();
    change(&mut check);
    Value::opaque(Asking { kind, with: of.with.clone(), check })
}

fn path<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let said = text(&args[1])?.to_owned();
    if said.is_empty() {
        return Err(EvalError::new("path must not be empty"));
    }
    Ok(next(asking(args)?, "kubernetes.authorization.PathCheck", |check| check.path = Some(said)))
}

fn group<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let said = text(&args[1])?.to_owned();
    Ok(next(asking(args)?, "kubernetes.authorization.GroupCheck", |check| check.group = said))
}

fn service_account<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    use machinery::format::{is_dns1123_label, is_dns1123_subdomain};
    let (namespace, name) = (text(&args[1])?.to_owned(), text(&args[2])?.to_owned());
    if !is_dns1123_subdomain(&name).is_empty() {
        return Err(EvalError::new("Invalid service account name"));
    }
    if !is_dns1123_label(&namespace).is_empty() {
        return Err(EvalError::new("Invalid service account namespace"));
    }
    let of = asking(args)?;
    Ok(next(of, of.kind, |check| check.service_account = Some((namespace, name))))
}

fn resource<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let said = text(&args[1])?.to_owned();
    if said.is_empty() {
        return Err(EvalError::new("resource must not be empty"));
    }
    Ok(next(asking(args)?, "kubernetes.authorization.ResourceCheck", |check| check.resource = said))
}

fn narrowed<'a>(args: &[Value<'a>], change: fn(&mut Check, String)) -> Outcome<'a> {
    let (of, said) = (asking(args)?, text(&args[1])?.to_owned());
    Ok(next(of, of.kind, |check| change(check, said)))
}

fn check<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let of = asking(args)?;
    let check = Check { verb: text(&args[1])?.to_owned(), ..of.check.clone() };
    Ok(Value::opaque(of.with.authorize(&check)))
}

fn decision<'v>(args: &'v [Value<'_>]) -> Result<&'v Decision, EvalError> {
    args[0].as_opaque().ok_or_else(EvalError::no_such_overload)
}

fn error<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::string(decision(args)?.error.as_deref().unwrap_or_default()))
}
