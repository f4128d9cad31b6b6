//! Builds the model's structs, enums and version tables from shared instances.

use std::collections::HashMap;

use super::super::ast::{Attrs, DeclBody, Marked, TypeKind, Variant};
use super::instances::{Instance, InstanceField, InstanceId, Instances, ResolvedType, deprecated, inherited};
use super::program::{DeclId, DeclKey, Declarations, HUB};
use crate::model::{Enum, EnumId, Field, JsonForm, Model, Role, Struct, StructId, TypeRef};

/// Model ids of instances.
pub struct Ids {
    pub structs: HashMap<InstanceId, StructId>,
    pub enums: HashMap<InstanceId, EnumId>,
    /// `<Kind>List` of a kind's instance.
    pub lists: HashMap<InstanceId, StructId>,
    /// For every instance the one that represents it.
    pub shared: Vec<InstanceId>,
}

impl Ids {
    pub fn struct_of(&self, instance: InstanceId) -> Option<StructId> {
        self.structs.get(&self.shared[instance]).copied()
    }

    pub fn enum_of(&self, instance: InstanceId) -> Option<EnumId> {
        self.enums.get(&self.shared[instance]).copied()
    }
}

/// Sets structs, enums, and each version's table of names. `lists` determines which declarations get a
/// `<Kind>List`.
pub fn build(
    program: &Declarations,
    instances: &Instances<'_>,
    shared: Vec<InstanceId>,
    lists: &[DeclId],
    model: &mut Model,
) -> Ids {
    let mut ids = Ids { structs: HashMap::new(), enums: HashMap::new(), lists: HashMap::new(), shared };
    let order = ordered(instances);
    let mut next = 0;
    for id in order.iter().copied().filter(|id| ids.shared[*id] == *id) {
        let instance = &instances.all[id];
        if matches!(instance.decl.body, DeclBody::Enum(_)) {
            ids.enums.insert(id, EnumId(ids.enums.len()));
            continue;
        }
        ids.structs.insert(id, StructId(next));
        next += 1;
        if lists.contains(&instance.root) || lists.contains(&instance.key.id()) {
            ids.lists.insert(id, StructId(next));
            next += 1;
        }
    }
    let list_meta = list_meta(program, instances, &ids);
    for id in order.iter().copied().filter(|id| ids.shared[*id] == *id) {
        let instance = &instances.all[id];
        if let DeclBody::Enum(_) = instance.decl.body {
            model.enums.push(enum_model(program, instance));
            continue;
        }
        let built = struct_model(program, instance, &ids);
        let list = ids.lists.get(&id).map(|_| list_model(&built, ids.structs[&id], list_meta));
        model.structs.push(built);
        model.structs.extend(list);
    }
    for id in order {
        name_in_version(&instances.all[id], id, &ids, model);
    }
    borrow(program, instances, &ids, model);
    ids
}

/// Instances in order of group, version and declaration.
pub fn ordered(instances: &Instances<'_>) -> Vec<InstanceId> {
    let mut order: Vec<InstanceId> = (0..instances.all.len()).collect();
    order.sort_by_key(|id| instances.all[*id].key);
    order
}

fn list_meta(program: &Declarations, instances: &Instances<'_>, ids: &Ids) -> Option<StructId> {
    let group = program.module("meta")?;
    let key = program.find(group, HUB, "ListMeta", HUB).ok()?;
    instances.get(key).and_then(|id| ids.struct_of(id))
}

fn name_in_version(instance: &Instance<'_>, id: InstanceId, ids: &Ids, model: &mut Model) {
    let name = instance.decl.name.clone();
    let version = &mut model.groups[instance.key.group].versions[instance.key.version];
    if let Some(list) = ids.lists.get(&ids.shared[id]) {
        version.structs.insert(format!("{name}List"), *list);
    }
    if let Some(id) = ids.struct_of(id) {
        version.structs.insert(name, id);
    } else if let Some(id) = ids.enum_of(id) {
        version.enums.insert(name, id);
    }
}

fn borrow(program: &Declarations, instances: &Instances<'_>, ids: &Ids, model: &mut Model) {
    for group in 0..program.groups.len() {
        for version in 0..program.groups[group].head.versions.len() {
            for (alias, from, name) in program.borrowed(group, version) {
                let Ok(key) = program.find(group, from, name, from) else { continue };
                let Some(id) = instances.get(key) else { continue };
                let from = program.version_name(group, from).to_string();
                let here = &mut model.groups[group].versions[version];
                here.borrowed.insert(alias.to_string(), from);
                here.structs.extend(ids.struct_of(id).map(|id| (alias.to_string(), id)));
                here.enums.extend(ids.enum_of(id).map(|id| (alias.to_string(), id)));
            }
        }
    }
}

fn enum_model(program: &Declarations, instance: &Instance<'_>) -> Enum {
    let variants = match &instance.decl.body {
        DeclBody::Enum(variants) => {
            variants.iter().map(|one| (one.name.clone(), one.value.clone(), one.docs.clone())).collect()
        }
        DeclBody::Struct(_) | DeclBody::Unit => Vec::new(),
    };
    let gated = match &instance.decl.body {
        DeclBody::Enum(variants) => {
            let gate = |one: &Variant| Some((one.value.clone(), one.gate.as_ref()?.text.clone()));
            variants.iter().filter_map(gate).collect()
        }
        DeclBody::Struct(_) | DeclBody::Unit => Vec::new(),
    };
    let (module, version) = place(program, instance.key);
    Enum {
        name: instance.decl.name.clone(),
        module,
        version,
        docs: instance.decl.docs.clone(),
        variants,
        gated,
        open: instance.decl.attrs.open,
        span: instance.decl.span.clone(),
    }
}

fn place(program: &Declarations, key: DeclKey) -> (String, String) {
    (program.groups[key.group].head.module.clone(), program.version_name(key.group, key.version).to_string())
}

fn struct_model(program: &Declarations, instance: &Instance<'_>, ids: &Ids) -> Struct {
    let decl = instance.decl;
    let attrs = &decl.attrs;
    let (module, version) = place(program, instance.key);
    let base = program.decl(instance.root);
    let proto = inherited(program, instance, |attrs| attrs.proto.as_ref()).map(|word| word.text.as_str());
    let json = inherited(program, instance, |attrs| attrs.json.as_ref()).map(|word| word.text.as_str());
    let fields: Vec<Field> = instance.fields.iter().filter_map(|member| field_model(member, ids)).collect();
    Struct {
        name: decl.name.clone(),
        role: role(instance, attrs.kind.as_ref().or(base.attrs.kind.as_ref()).is_some_and(|kind| !kind.bare)),
        atomic: inherited(program, instance, |attrs| attrs.atomic.as_ref()).copied().unwrap_or_default(),
        proto_none: proto == Some("none"),
        transparent: proto == Some("items"),
        json_form: json_form(json, proto == Some("items")),
        default_by_hand: function_path(program, instance, |attrs| {
            attrs.defaults.as_ref().map(|all| all.by_hand.as_ref())
        }),
        normalize: function_path(program, instance, |attrs| attrs.normalize.as_ref().map(Option::as_ref)),
        validate_by_hand: validation(program, instance),
        conditions: of_hub(program, instance, &attrs.conditions),
        checks: of_hub(program, instance, &attrs.checks),
        rules: inherited(program, instance, |attrs| attrs.rules.as_ref()).cloned().unwrap_or_default(),
        deprecated: deprecated(program, instance),
        direct: attrs.direct,
        docs: if decl.docs.is_empty() { base.docs.clone() } else { decl.docs.clone() },
        span: decl.span.clone(),
        module,
        version,
        fields,
        ..Struct::default()
    }
}

fn json_form(word: Option<&str>, items: bool) -> JsonForm {
    match word {
        Some("schema_or_array") => JsonForm::SchemaOrArray,
        Some("schema_or_bool") => JsonForm::SchemaOrBool,
        Some("schema_or_strings") => JsonForm::SchemaOrStrings,
        _ if items => JsonForm::Items,
        _ => JsonForm::Fields,
    }
}

/// Path of a hand-written function: as declared here, or `version::name` if a form of another type
/// inherits it. `declared` returns the function of an attribute, and `Some(None)` if the attribute
/// drops the hub's.
fn function_path(
    program: &Declarations,
    instance: &Instance<'_>,
    declared: fn(&Attrs) -> Option<Option<&Marked>>,
) -> Option<String> {
    let (here, base) = (instance.key.id(), instance.root);
    let (by, function) = match declared(&instance.decl.attrs) {
        Some(function) => (here, function?),
        None if instance.decl.attrs.differs.is_some() => (base, declared(&program.decl(base).attrs)??),
        None => return None,
    };
    let version = program.version_name(here.group, instance.key.version);
    match program.home(by) == instance.key.version {
        true => Some(function.text.clone()),
        false => Some(format!("{version}::{}", function.text)),
    }
}

/// The validation function of a hub's struct; other forms have none, because objects are validated only
/// in their hub form.
fn validation(program: &Declarations, instance: &Instance<'_>) -> Option<String> {
    let is_hub = program.home(instance.key.id()) == instance.key.version;
    instance.decl.attrs.validate.as_ref().filter(|_| is_hub).map(|function| function.text.clone())
}

/// The checks or conditions of a hub's struct; other forms have none.
fn of_hub<T: Clone>(program: &Declarations, instance: &Instance<'_>, items: &[T]) -> Vec<T> {
    let is_hub = program.home(instance.key.id()) == instance.key.version;
    if is_hub { items.to_vec() } else { Vec::new() }
}

fn role(instance: &Instance<'_>, kind: bool) -> Role {
    let is_metadata = |member: &InstanceField<'_>| match &member.field.ty.kind {
        TypeKind::Named(path) => {
            member.field.model.json == "metadata" && path.last().is_some_and(|name| name == "ObjectMeta")
        }
        _ => false,
    };
    match (kind, instance.fields.iter().any(is_metadata)) {
        (false, _) => Role::Part,
        (true, true) => Role::Object,
        (true, false) => Role::TypeOnly,
    }
}

fn field_model(member: &InstanceField<'_>, ids: &Ids) -> Option<Field> {
    let mut field = Field { ty: type_ref(&member.ty, ids)?, ..member.field.model.clone() };
    if let (Some(base), true) = (member.base, field.docs.is_empty()) {
        field.docs.clone_from(&base.model.docs);
    }
    Some(field)
}

fn type_ref(ty: &ResolvedType, ids: &Ids) -> Option<TypeRef> {
    Some(match ty {
        ResolvedType::Scalar(scalar) => scalar.clone(),
        ResolvedType::Instance(id) => match ids.struct_of(*id) {
            Some(id) => TypeRef::Struct(id),
            None => TypeRef::Enum(ids.enum_of(*id)?),
        },
        ResolvedType::List(inner) => TypeRef::List(Box::new(type_ref(inner, ids)?)),
        ResolvedType::Map(inner) => TypeRef::Map(Box::new(type_ref(inner, ids)?)),
    })
}

/// `<Kind>List`, with upstream's fields of lists: `metadata` = 1, `items` = 2.
fn list_model(kind: &Struct, item: StructId, list_meta: Option<StructId>) -> Struct {
    let field = |name: &str, number, ty, docs: &str| Field {
        name: name.to_string(),
        json: name.to_string(),
        number,
        ty,
        docs: docs.to_string(),
        span: kind.span.clone(),
        ..Field::default()
    };
    let meta = list_meta
        .map(|id| Field { omitempty: true, ..field("metadata", 1, TypeRef::Struct(id), "Metadata of the list.") });
    let items = TypeRef::List(Box::new(TypeRef::Struct(item)));
    let items =
        Field { required: true, ..field("items", 2, items, "The objects, in order of their keys in the store.") };
    Struct {
        name: format!("{}List", kind.name),
        docs: format!("A list of objects of kind {}.", kind.name),
        role: Role::List,
        fields: meta.into_iter().chain([items]).collect(),
        ..Struct {
            module: kind.module.clone(),
            version: kind.version.clone(),
            span: kind.span.clone(),
            ..Struct::default()
        }
    }
}
