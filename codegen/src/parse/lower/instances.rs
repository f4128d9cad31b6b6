//! Determines which declaration exists in which version, and with which fields, by a work list that
//! starts at the kinds.

use std::collections::HashMap;

use super::super::ast::{Attrs, Decl, DeclBody, Field, TypeExpr, TypeKind};
use super::program::{DeclId, DeclKey, Declarations, HUB, ResolvedName};
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::model::TypeRef;

/// A declaration in one version, indexed by [`InstanceId`].
pub struct Instance<'p> {
    pub key: DeclKey,
    pub decl: &'p Decl,
    /// The full declaration: the declaration itself, the one that it differs from, or the hub's of the
    /// same name.
    pub root: DeclId,
    pub fields: Vec<InstanceField<'p>>,
}

pub type InstanceId = usize;

/// A field of an instance.
pub struct InstanceField<'p> {
    pub field: &'p Field,
    /// The hub's field that corresponds to it.
    pub base: Option<&'p Field>,
    pub ty: ResolvedType,
}

/// A resolved type; scalars have no ids.
#[derive(Clone, Debug)]
pub enum ResolvedType {
    Scalar(TypeRef),
    Instance(InstanceId),
    List(Box<ResolvedType>),
    Map(Box<ResolvedType>),
}

/// All instances, in the order in which they were reached.
pub struct Instances<'p> {
    pub all: Vec<Instance<'p>>,
    pub by_key: HashMap<DeclKey, InstanceId>,
}

impl<'p> Instances<'p> {
    /// The first version's instance of every full declaration, which other versions share or convert
    /// to.
    pub fn hubs(&self) -> HashMap<DeclId, InstanceId> {
        let mut hubs: HashMap<DeclId, InstanceId> = HashMap::new();
        for (id, instance) in self.all.iter().enumerate() {
            let best = hubs.entry(instance.root).or_insert(id);
            if instance.key.version < self.all[*best].key.version {
                *best = id;
            }
        }
        hubs
    }

    pub fn get(&self, key: DeclKey) -> Option<InstanceId> {
        self.by_key.get(&key).copied()
    }
}

/// A struct's attribute in a version: declared there, or inherited from the hub.
pub fn inherited<'p, T>(
    program: &'p Declarations,
    instance: &Instance<'p>,
    pick: fn(&Attrs) -> Option<&T>,
) -> Option<&'p T> {
    let own = pick(&instance.decl.attrs);
    match instance.decl.attrs.differs {
        Some(_) => own.or_else(|| pick(&program.decl(instance.root).attrs)),
        None => own,
    }
}

/// Whether a struct or its hub's form is deprecated.
pub fn deprecated(program: &Declarations, instance: &Instance<'_>) -> bool {
    let attrs = &instance.decl.attrs;
    attrs.deprecated || (attrs.differs.is_some() && program.decl(instance.root).attrs.deprecated)
}

/// Instantiates all declarations.
pub fn instantiate<'p>(program: &'p Declarations, diagnostics: &mut Diagnostics) -> Instances<'p> {
    let instances = Instances { all: Vec::new(), by_key: HashMap::new() };
    let mut walk = Walk { program, diagnostics, instances, pending: Vec::new() };
    for key in roots(program) {
        walk.reach(key);
    }
    walk.drain();
    for key in unreached(program, &walk.instances) {
        walk.reach(key);
        walk.drain();
    }
    walk.instances
}

/// Start of the work list: kinds, types with `#[versions]`, types that other attributes refer to, and
/// `ListMeta` for lists.
fn roots(program: &Declarations) -> Vec<DeclKey> {
    let mut roots = Vec::new();
    for (group, definition) in program.groups.iter().enumerate() {
        for (decl, declaration) in definition.decls.iter().enumerate() {
            let attrs = &declaration.attrs;
            let home = program.home(DeclId { group, decl });
            if attrs.kind.is_none() && attrs.versions.is_none() {
                continue;
            }
            match &attrs.versions {
                None => roots.push(DeclKey { group, version: home, decl }),
                Some(versions) => {
                    let known = versions.iter().filter_map(|version| program.version(group, &version.model.version));
                    let keys = known.filter_map(|version| program.find(group, version, &declaration.name, home).ok());
                    roots.extend(keys);
                }
            }
            roots.extend(
                attrs
                    .kind
                    .as_ref()
                    .and_then(|kind| kind.stored_as.as_ref())
                    .and_then(|path| type_at(program, &path.segments)),
            );
        }
    }
    roots.extend(type_at(program, &["meta".to_string(), String::new(), "ListMeta".to_string()]));
    roots
}

/// `module::version::Name`; an empty version is the hub.
pub fn type_at(program: &Declarations, path: &[String]) -> Option<DeclKey> {
    let [module, version, name] = path else { return None };
    let group = program.module(module)?;
    let version = if version.is_empty() { HUB } else { program.version(group, version)? };
    program.find(group, version, name, version).ok()
}

/// Declarations that were not reached; they exist in the version that declares them.
fn unreached(program: &Declarations, instances: &Instances<'_>) -> Vec<DeclKey> {
    let reached: std::collections::HashSet<DeclId> =
        instances.all.iter().flat_map(|one| [one.key.id(), one.root]).collect();
    let mut out = Vec::new();
    for (group, definition) in program.groups.iter().enumerate() {
        for (decl, declaration) in definition.decls.iter().enumerate() {
            let id = DeclId { group, decl };
            if !reached.contains(&id) && declaration.attrs.gone.is_none() && !matches!(declaration.body, DeclBody::Unit)
            {
                out.push(DeclKey { group, version: program.home(id), decl });
            }
        }
    }
    out
}

struct Walk<'p, 'd> {
    program: &'p Declarations,
    diagnostics: &'d mut Diagnostics,
    instances: Instances<'p>,
    pending: Vec<InstanceId>,
}

impl<'p> Walk<'p, '_> {
    /// The instance of a key; a new one is queued for processing.
    fn reach(&mut self, key: DeclKey) -> InstanceId {
        if let Some(id) = self.instances.get(key) {
            return id;
        }
        let id = self.instances.all.len();
        let decl = self.program.decl(key.id());
        let root = self.root(key, decl);
        self.instances.all.push(Instance { key, decl, root, fields: Vec::new() });
        self.instances.by_key.insert(key, id);
        self.pending.push(id);
        id
    }

    fn drain(&mut self) {
        while let Some(id) = self.pending.pop() {
            let instance = &self.instances.all[id];
            let (key, decl, root) = (instance.key, instance.decl, instance.root);
            let fields = match &decl.body {
                DeclBody::Struct(fields) if decl.attrs.differs.is_some() => self.merge(key, fields, root),
                DeclBody::Struct(fields) => {
                    fields.iter().filter_map(|field| self.member(field, None, key.id(), key)).collect()
                }
                DeclBody::Enum(_) | DeclBody::Unit => Vec::new(),
            };
            self.instances.all[id].fields = fields;
        }
    }

    fn root(&mut self, key: DeclKey, decl: &Decl) -> DeclId {
        let base = match &decl.attrs.differs {
            Some(base) => self.program.base(key.group, &base.text),
            None => self.program.base(key.group, &decl.name),
        };
        if let (None, Some(differs)) = (base, &decl.attrs.differs) {
            let message = format!("the hub has no struct `{}` to differ from", differs.text);
            let visible = self.program.visible(key.group, HUB);
            let near = crate::diagnostics::did_you_mean(&differs.text, &visible);
            let diagnostic = Diagnostic::error(codes::NOT_IN_HUB, &differs.span, message);
            self.diagnostics.push(match near {
                Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                None => {
                    diagnostic.help("for a type that only this version has, drop `#[differs]` and state it in full")
                }
            });
        }
        base.unwrap_or(key.id())
    }

    /// Merges the hub's fields with a version's: replaces them in place, adds new ones after the
    /// preceding one, removes `#[gone]` ones.
    fn merge(&mut self, key: DeclKey, delta: &'p [Field], root: DeclId) -> Vec<InstanceField<'p>> {
        let base = match &self.program.decl(root).body {
            DeclBody::Struct(fields) if root != key.id() => fields.as_slice(),
            _ => &[],
        };
        let mut merged: Vec<(&'p Field, Option<&'p Field>)> = base.iter().map(|field| (field, None)).collect();
        let mut gone = Vec::new();
        for field in delta {
            let renamed = field.renamed.as_ref();
            let wanted = renamed.map_or(&field.model.name, |renamed| &renamed.text);
            let stands_for = |candidate: &Field| {
                candidate.model.name == *wanted || (renamed.is_some() && candidate.model.json == *wanted)
            };
            let place = merged.iter().position(|(field, over)| over.is_none() && stands_for(field));
            match place {
                Some(place) => {
                    merged[place] = (field, Some(merged[place].0));
                    gone.extend(field.gone.then_some(place));
                }
                None if field.gone || renamed.is_some() => self.not_in_hub(field, wanted, base),
                None => {
                    let place = by_number(&merged, field);
                    gone.iter_mut().filter(|gone| **gone >= place).for_each(|gone| *gone += 1);
                    merged.insert(place, (field, None));
                }
            }
        }
        let kept = merged.into_iter().enumerate().filter(|(place, _)| !gone.contains(place)).map(|(_, pair)| pair);
        let kept: Vec<_> = kept.collect();
        let own = |field: &Field| delta.iter().any(|mine| std::ptr::eq(mine, field));
        kept.into_iter()
            .filter_map(|(field, over)| {
                let declaration = if own(field) { key.id() } else { root };
                let stands_for = if own(field) { over } else { Some(field) };
                self.member(field, stands_for, declaration, key)
            })
            .collect()
    }

    fn not_in_hub(&mut self, field: &Field, wanted: &str, base: &[Field]) {
        let span = field.renamed.as_ref().map_or(&field.model.span, |renamed| &renamed.span);
        let diagnostic =
            Diagnostic::error(codes::NOT_IN_HUB, span, format!("the hub's struct has no field `{wanted}`"));
        let names = base.iter().map(|field| field.model.name.as_str());
        self.diagnostics.push(diagnostic.suggest(wanted, names));
    }

    /// A field with its type resolved relative to the declaration `by`, in the version of `key`.
    fn member(
        &mut self,
        field: &'p Field,
        base: Option<&'p Field>,
        by: DeclId,
        key: DeclKey,
    ) -> Option<InstanceField<'p>> {
        if field.gone {
            let diagnostic =
                Diagnostic::error(codes::NOT_IN_HUB, &field.model.span, "only a `#[differs]` struct takes fields away");
            self.diagnostics.push(diagnostic);
            return None;
        }
        let ty = self.resolve(&field.ty, by, key.version)?;
        Some(InstanceField { field, base, ty })
    }

    fn resolve(&mut self, ty: &TypeExpr, by: DeclId, version: usize) -> Option<ResolvedType> {
        match &ty.kind {
            TypeKind::Unit => None,
            TypeKind::Option(inner) => self.resolve(inner, by, version),
            TypeKind::Vec(inner) => self.resolve(inner, by, version).map(|inner| ResolvedType::List(Box::new(inner))),
            TypeKind::Map(inner) => self.resolve(inner, by, version).map(|inner| ResolvedType::Map(Box::new(inner))),
            TypeKind::Named(path) => match self.program.resolve(by, version, path, &ty.span) {
                Ok(ResolvedName::Scalar(scalar)) => Some(ResolvedType::Scalar(scalar)),
                Ok(ResolvedName::Type(key)) => Some(ResolvedType::Instance(self.reach(key))),
                Err(diagnostic) => {
                    self.diagnostics.extend(diagnostic);
                    None
                }
            },
        }
    }
}

/// Index at which to insert a field that the hub does not have: after the field with the next lower
/// number.
fn by_number(merged: &[(&Field, Option<&Field>)], field: &Field) -> usize {
    let lower = merged.iter().enumerate().filter(|(_, (other, _))| other.model.number < field.model.number);
    lower.rev().max_by_key(|(_, (other, _))| other.model.number).map_or(merged.len(), |(place, _)| place + 1)
}
