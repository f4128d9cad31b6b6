//! Authorization checks: `authorizer.group('').resource('pods').namespace('x').check('get').allowed()`.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::{Function, text};
use crate::cost::Cost;
use crate::error::Error;
use crate::value::{Opaque, Value};

type Outcome<'a> = Result<Value<'a>, Error>;

/// Cost of a check; allows two checks per expression (upstream's value).
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
    Function::new("subresource", TO_RESOURCE, |a| narrowed(a, |c, value| c.subresource = value), Cost::Fixed(1)),
    Function::new("namespace", TO_RESOURCE, |a| narrowed(a, |c, value| c.namespace = value), Cost::Fixed(1)),
    Function::new("name", TO_RESOURCE, |a| narrowed(a, |c, value| c.name = value), Cost::Fixed(1)),
    Function::new(
        "fieldSelector",
        TO_RESOURCE,
        |a| narrowed(a, |c, value| c.field_selector = Some(value)),
        Cost::Selector,
    ),
    Function::new(
        "labelSelector",
        TO_RESOURCE,
        |a| narrowed(a, |c, value| c.label_selector = Some(value)),
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

/// Attributes of an authorization check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuthorizationCheck {
    /// Namespace and name of a service account to check instead of the user.
    pub service_account: Option<(String, String)>,
    /// A non-resource path; then only `verb` is set besides.
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

/// Result of an authorization check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuthorizationDecision {
    pub allowed: bool,
    pub reason: String,
    pub error: Option<String>,
}

/// Decides authorization checks. Called during evaluation of an expression; the call may block.
pub trait Authorize: Send + Sync {
    fn authorize(&self, check: &AuthorizationCheck) -> AuthorizationDecision;
}

/// A check under construction.
struct CheckBuilder {
    kind: &'static str,
    with: Arc<dyn Authorize>,
    check: AuthorizationCheck,
}

impl fmt::Debug for CheckBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.kind, self.check)
    }
}

impl Opaque for CheckBuilder {
    fn type_name(&self) -> &'static str {
        self.kind
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other
            .as_any()
            .downcast_ref::<CheckBuilder>()
            .is_some_and(|other| self.kind == other.kind && self.check == other.check)
    }
}

impl Opaque for AuthorizationDecision {
    fn type_name(&self) -> &'static str {
        "kubernetes.authorization.Decision"
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other.as_any().downcast_ref::<AuthorizationDecision>() == Some(self)
    }
}

/// The value of the variable `authorizer`.
pub fn authorizer<'a>(with: Arc<dyn Authorize>) -> Value<'a> {
    Value::opaque(CheckBuilder {
        kind: "kubernetes.authorization.Authorizer",
        with,
        check: AuthorizationCheck::default(),
    })
}

/// The value of the variable `authorizer.requestResource`.
pub fn request_resource<'a>(with: Arc<dyn Authorize>, check: AuthorizationCheck) -> Value<'a> {
    Value::opaque(CheckBuilder { kind: "kubernetes.authorization.ResourceCheck", with, check })
}

fn check_builder<'v>(args: &'v [Value<'_>]) -> Result<&'v CheckBuilder, Error> {
    args[0].as_opaque().ok_or_else(Error::no_such_overload)
}

fn next<'a>(of: &CheckBuilder, kind: &'static str, change: impl FnOnce(&mut AuthorizationCheck)) -> Value<'a> {
    let mut check = of.check.clone();
    change(&mut check);
    Value::opaque(CheckBuilder { kind, with: of.with.clone(), check })
}

fn path<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let value = text(&args[1])?.to_owned();
    if value.is_empty() {
        return Err(Error::failed("path must not be empty"));
    }
    Ok(next(check_builder(args)?, "kubernetes.authorization.PathCheck", |check| check.path = Some(value)))
}

fn group<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let value = text(&args[1])?.to_owned();
    Ok(next(check_builder(args)?, "kubernetes.authorization.GroupCheck", |check| check.group = value))
}

fn service_account<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    use machinery::format::{is_dns1123_label, is_dns1123_subdomain};
    let (namespace, name) = (text(&args[1])?.to_owned(), text(&args[2])?.to_owned());
    if !is_dns1123_subdomain(&name).is_empty() {
        return Err(Error::failed("Invalid service account name"));
    }
    if !is_dns1123_label(&namespace).is_empty() {
        return Err(Error::failed("Invalid service account namespace"));
    }
    let of = check_builder(args)?;
    Ok(next(of, of.kind, |check| check.service_account = Some((namespace, name))))
}

fn resource<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let value = text(&args[1])?.to_owned();
    if value.is_empty() {
        return Err(Error::failed("resource must not be empty"));
    }
    Ok(next(check_builder(args)?, "kubernetes.authorization.ResourceCheck", |check| check.resource = value))
}

fn narrowed<'a>(args: &[Value<'a>], change: fn(&mut AuthorizationCheck, String)) -> Outcome<'a> {
    let (of, value) = (check_builder(args)?, text(&args[1])?.to_owned());
    Ok(next(of, of.kind, |check| change(check, value)))
}

fn check<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    let of = check_builder(args)?;
    let check = AuthorizationCheck { verb: text(&args[1])?.to_owned(), ..of.check.clone() };
    Ok(Value::opaque(of.with.authorize(&check)))
}

fn decision<'v>(args: &'v [Value<'_>]) -> Result<&'v AuthorizationDecision, Error> {
    args[0].as_opaque().ok_or_else(Error::no_such_overload)
}

fn error<'a>(args: &[Value<'a>]) -> Outcome<'a> {
    Ok(Value::string(decision(args)?.error.as_deref().unwrap_or_default()))
}
