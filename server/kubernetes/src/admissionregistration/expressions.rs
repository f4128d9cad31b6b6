//! Environments of expressions in admission policies and match conditions, and their compilation
//! (`admission/plugin/cel`).

use std::sync::Arc;

use cel::{Environment, ObjectFields, ObjectType, Program, Type};
use generated::admissionregistration::v1::patch_type;

use crate::Error;

/// Variables and types that are available besides `object`, `oldObject`, `request` and
/// `namespaceObject`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Available {
    pub params: bool,
    pub authorizer: bool,
    /// `Object{..}` and `JSONPatch{..}`.
    pub patches: bool,
}

/// Type name of patches.
pub const JSON_PATCH: &str = patch_type::JSON_PATCH;
/// Type name of apply configurations.
pub const OBJECT: &str = "Object";

/// Type name of the object `variables`.
const VARIABLES: &str = "kubernetes.variables";
/// Maximum number of parts of a composed variable's type.
const MAX_TYPE_PARTS: usize = 64;

/// An environment without composed variables.
pub fn environment(available: Available) -> Environment {
    let mut environment = Environment::new([
        ("object", Type::Dyn),
        ("oldObject", Type::Dyn),
        ("request", request_type()),
        ("namespaceObject", namespace_type()),
    ]);
    if available.params {
        environment = environment.with("params", Type::Dyn);
    }
    if available.authorizer {
        environment = environment
            .with("authorizer", Type::Opaque("kubernetes.authorization.Authorizer"))
            .with("authorizer.requestResource", Type::Opaque("kubernetes.authorization.ResourceCheck"));
    }
    if available.patches { environment.with_objects(patch_type) } else { environment }
}

/// The composed variables of a policy: the fields of the object `variables`.
#[derive(Clone)]
pub struct Variables(Arc<ObjectType>);

impl Default for Variables {
    fn default() -> Self {
        Variables(Arc::new(ObjectType::new(VARIABLES, [])))
    }
}

impl Variables {
    /// Adds a variable. A type with too many parts becomes `Type::Dyn`: a variable may contain the
    /// previous variables, so the nesting would grow with the number of variables.
    pub fn add(&mut self, name: &str, of: Type) {
        let of = if is_small(&of, &mut { MAX_TYPE_PARTS }) { of } else { Type::Dyn };
        self.0 = Arc::new(self.0.with_field(name, of));
    }

    /// An environment in which expressions may use the variables.
    pub fn compose(&self, environment: Environment) -> Environment {
        environment.with("variables", Type::Object(Arc::clone(&self.0)))
    }
}

/// Whether a type has at most `left` parts, none of which is the object `variables`.
fn is_small(of: &Type, left: &mut usize) -> bool {
    let Some(rest) = left.checked_sub(1) else { return false };
    *left = rest;
    match of {
        Type::List(list) => is_small(&list.item, left),
        Type::Map(map) => is_small(&map.0, left) && is_small(&map.1, left),
        Type::Optional(of) | Type::Kind(of) => is_small(of, left),
        Type::Object(object) => object.name != VARIABLES,
        _ => true,
    }
}

/// Compiles an expression whose type has to be one of `wanted`; any type is accepted if `wanted` is
/// empty.
///
/// # Errors
/// Returns an error if the expression does not compile, or has another type.
pub fn compile(source: &str, environment: &Environment, wanted: &[Type]) -> Result<Program, Error> {
    let program = cel::compile(source, environment)?;
    if wanted.is_empty() || wanted.contains(program.output()) {
        return Ok(program);
    }
    let found = program.output().declared_name();
    Err(match wanted {
        [one] => Error::ResultType { wanted: one.declared_name(), found },
        several => Error::ResultTypes { wanted: several.iter().map(Type::declared_name).collect(), found },
    })
}

/// The object types that mutations construct. Fields of an object are checked when it is merged.
fn patch_type(name: &str) -> Option<Arc<ObjectType>> {
    if name == JSON_PATCH {
        let fields = [("op", Type::String), ("path", Type::String), ("from", Type::String), ("value", Type::Dyn)];
        return Some(Arc::new(ObjectType::new(JSON_PATCH, fields)));
    }
    let is_object = name == OBJECT || name.strip_prefix(OBJECT).is_some_and(|rest| rest.starts_with('.'));
    is_object.then(|| Arc::new(ObjectType { name: name.to_owned(), fields: ObjectFields::Open(|_, _| Type::Dyn) }))
}

/// The type of an apply configuration.
pub fn object_type() -> Type {
    patch_type(OBJECT).map_or(Type::Dyn, Type::Object)
}

/// The type of a list of patch operations.
pub fn json_patch_type() -> Type {
    Type::list(patch_type(JSON_PATCH).map_or(Type::Dyn, Type::Object))
}

fn strings() -> Type {
    Type::list(Type::String)
}

/// `BuildRequestType`
pub fn request_type() -> Type {
    let text = Type::String;
    let kind = [("group", text.clone()), ("version", text.clone()), ("kind", text.clone())];
    let kind = Type::object(ObjectType::new("kubernetes.GroupVersionKind", kind));
    let resource = [("group", text.clone()), ("version", text.clone()), ("resource", text.clone())];
    let resource = Type::object(ObjectType::new("kubernetes.GroupVersionResource", resource));
    let user = [
        ("username", text.clone()),
        ("uid", text.clone()),
        ("groups", strings()),
        ("extra", Type::map(Type::String, strings())),
    ];
    Type::object(ObjectType::new(
        "kubernetes.AdmissionRequest",
        [
            ("kind", kind.clone()),
            ("resource", resource.clone()),
            ("subResource", text.clone()),
            ("requestKind", kind),
            ("requestResource", resource),
            ("requestSubResource", text.clone()),
            ("name", text.clone()),
            ("namespace", text.clone()),
            ("operation", text),
            ("userInfo", Type::object(ObjectType::new("kubernetes.UserInfo", user))),
            ("dryRun", Type::Bool),
            ("options", Type::Dyn),
        ],
    ))
}

/// `BuildNamespaceType`
pub fn namespace_type() -> Type {
    let text = Type::String;
    let condition = [
        ("status", text.clone()),
        ("type", text.clone()),
        ("lastTransitionTime", Type::Timestamp),
        ("message", text.clone()),
        ("reason", text.clone()),
    ];
    let condition = Type::object(ObjectType::new("kubernetes.NamespaceCondition", condition));
    let status = [("conditions", Type::list(condition)), ("phase", text.clone())];
    let metadata = [
        ("name", text.clone()),
        ("generateName", text.clone()),
        ("namespace", text.clone()),
        ("labels", Type::map(Type::String, Type::String)),
        ("annotations", Type::map(Type::String, Type::String)),
        ("UID", text.clone()),
        ("creationTimestamp", Type::Timestamp),
        ("deletionGracePeriodSeconds", Type::Int),
        ("deletionTimestamp", Type::Timestamp),
        ("generation", Type::Int),
        ("resourceVersion", text),
        ("finalizers", strings()),
    ];
    Type::object(ObjectType::new(
        "kubernetes.Namespace",
        [
            ("metadata", Type::object(ObjectType::new("kubernetes.NamespaceMetadata", metadata))),
            ("spec", Type::object(ObjectType::new("kubernetes.NamespaceSpec", [("finalizers", strings())]))),
            ("status", Type::object(ObjectType::new("kubernetes.NamespaceStatus", status))),
        ],
    ))
}
