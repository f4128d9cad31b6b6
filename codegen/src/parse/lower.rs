//! Lowers definitions to the model: names, versions, sharing, kinds, constants, conversions.

mod build;
mod convert;
mod instances;
mod kinds;
mod literals;
mod program;
mod share;

use std::collections::HashMap;

use self::build::Ids;
use self::instances::{Instances, inherited};
use self::program::Declarations;
use super::ast::{Break, Decl, DeclBody, Field, Group, Marked, Marks, Variant};
use super::words::ExprKind;
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::model::{self, Model, PathDefault, Span, StructId};
use crate::paths;

pub use self::literals::type_text;

/// Places of the words of declarations, which the model does not have; used by the checks.
#[derive(Debug, Default)]
pub struct Origins {
    /// Words of a field or a kind, by its place.
    words: HashMap<Span, Vec<(String, Span)>>,
    /// `#[allow]` and `#[breaks]` of a type, a field or a variant, by its place.
    pub marks: HashMap<Span, Marks>,
    /// `#![allow(..)]` by module.
    pub group_allows: HashMap<String, Vec<Marked>>,
    /// `#![breaks(..)]` by module.
    pub group_breaks: HashMap<String, Vec<Break>>,
    /// Variants of an enum by its place.
    pub variants: HashMap<Span, Vec<(String, Span)>>,
}

impl Origins {
    /// The place of a word, or of the item if the word is absent.
    pub fn word<'a>(&'a self, item: &'a Span, word: &str) -> &'a Span {
        self.find(item, word).unwrap_or(item)
    }

    /// The place of a word, if present.
    pub fn find(&self, item: &Span, word: &str) -> Option<&Span> {
        let words = self.words.get(item)?;
        words.iter().find(|(name, _)| name == word).map(|(_, span)| span)
    }
}

/// Lowers all groups.
pub fn lower(groups: Vec<Group>, diagnostics: &mut Diagnostics) -> (Model, Origins) {
    let program = Declarations::new(groups, diagnostics);
    let groups = program.groups.iter().map(|group| group.head.clone()).collect();
    let mut model = Model { groups, ..Model::default() };
    let instances = instances::instantiate(&program, diagnostics);
    let shared = share::share(&program, &instances);
    let ids = build::build(&program, &instances, shared, &kinds::with_lists(&program), &mut model);
    kinds::build(&program, &instances, &ids, &mut model, diagnostics);
    constants(&program, &instances, &ids, &mut model, diagnostics);
    unions(&program, &instances, &ids, &mut model, diagnostics);
    convert::build(&program, &instances, &ids, &mut model, diagnostics);
    (model, origins(&program))
}

/// Sets defaults of fields and of paths below structs. They need the whole model, for paths and
/// variants.
fn constants(
    program: &Declarations,
    instances: &Instances<'_>,
    ids: &Ids,
    model: &mut Model,
    diagnostics: &mut Diagnostics,
) {
    for (instance_id, instance) in instances.all.iter().enumerate().filter(|(id, _)| ids.shared[*id] == *id) {
        let Some(id) = ids.struct_of(instance_id) else { continue };
        for member in &instance.fields {
            let Some(expr) = &member.field.default else { continue };
            let Some(index) = model.structs[id.0].fields.iter().position(|field| field.name == member.field.model.name)
            else {
                continue;
            };
            match literals::fit(model, expr, &model.structs[id.0].fields[index].ty) {
                Ok(literal) => model.structs[id.0].fields[index].default = Some(literal),
                Err(diagnostic) => diagnostics.push(diagnostic),
            }
        }
        let Some(defaults) = inherited(program, instance, |attrs| attrs.defaults.as_ref()) else { continue };
        for (path, expr) in &defaults.constants {
            let text = path.text();
            let place =
                paths::follow(model, id, &text).map_err(|why| no_path(&model.structs[id.0], path, why.to_string()));
            match place.and_then(|place| literals::fit(model, expr, place.ty)) {
                Ok(value) => {
                    model.structs[id.0].path_defaults.push(PathDefault { path: text, value, span: path.span.clone() });
                }
                Err(diagnostic) => diagnostics.push(diagnostic),
            }
        }
    }
}

/// The diagnostic for a default with an invalid path, which may be invalid only in a version that
/// inherits it.
fn no_path(one: &model::Struct, path: &super::words::Path, message: String) -> Diagnostic {
    if one.conversion.is_none() && one.span.file == path.span.file && one.span.line > path.span.line {
        return Diagnostic::error(codes::PATH, &path.span, message);
    }
    let message = format!("in {}: {message}", one.version);
    let help = format!(
        "{} inherits this default; declare its own in `mod {}`:\n#[differs({})] #[default(..)] struct {} {{}}",
        one.version, one.version, one.name, one.name
    );
    Diagnostic::error(codes::PATH, &path.span, message).help(help)
}

fn unions(
    program: &Declarations,
    instances: &Instances<'_>,
    ids: &Ids,
    model: &mut Model,
    diagnostics: &mut Diagnostics,
) {
    for (instance_id, instance) in instances.all.iter().enumerate().filter(|(id, _)| ids.shared[*id] == *id) {
        let Some(id) = ids.struct_of(instance_id) else { continue };
        let declared =
            inherited(program, instance, |attrs| attrs.unions.as_ref()).map(Vec::as_slice).unwrap_or_default();
        let unions: Vec<model::Union> = declared.iter().map(|one| union(model, id, one, diagnostics)).collect();
        model.structs[id.0].unions = unions;
    }
}

fn union(model: &Model, id: StructId, declared: &super::ast::Union, diagnostics: &mut Diagnostics) -> model::Union {
    let names = paths::json_names(model, id);
    let mut known = |name: &Marked| {
        if paths::find(model, id, &name.text).is_none() {
            let message = format!("`{}` has no field `{}` in JSON", model.structs[id.0].name, name.text);
            let diagnostic = Diagnostic::error(codes::UNION, &name.span, message);
            diagnostics.push(diagnostic.suggest(&name.text, names.iter().copied()));
        }
    };
    let discriminator = declared.discriminator.as_ref();
    discriminator.iter().for_each(|name| known(name));
    declared.members.iter().for_each(|(_, member)| known(member));
    let values = discriminator.and_then(|name| paths::find(model, id, &name.text)).map(|(_, field)| &field.ty);
    let mut value = |text: String, path: super::words::Path| {
        let expr = super::words::ValueExpr { span: path.span.clone(), kind: ExprKind::Path(path) };
        match values.filter(|ty| matches!(ty, model::TypeRef::Enum(_))).map(|ty| literals::fit(model, &expr, ty)) {
            Some(Ok(model::Literal::String(value))) => Some(value),
            Some(Err(mut diagnostic)) => {
                diagnostic.code = codes::UNION;
                diagnostics.push(diagnostic);
                None
            }
            _ => Some(text),
        }
    };
    let mut members = Vec::new();
    for (entry, member) in &declared.members {
        let key = entry.as_ref().and_then(|entry| entry.key.as_ref());
        if let Some(value) = key.map_or(Some(String::new()), |key| value(key.text(), key.clone())) {
            members.push((value, member.text.clone()));
        }
    }
    let path = |name: &Marked| super::words::Path {
        segments: vec![name.text.clone()],
        colons: false,
        span: name.span.clone(),
    };
    let without = declared.without.iter().filter_map(|name| value(name.text.clone(), path(name))).collect();
    model::Union {
        discriminator: discriminator.map(|name| name.text.clone()),
        members,
        without,
        zero_allowed: declared.zero_allowed,
        span: declared.span.clone(),
    }
}

fn origins(program: &Declarations) -> Origins {
    let mut origins = Origins::default();
    for group in &program.groups {
        origins.group_allows.insert(group.head.module.clone(), group.allows.clone());
        origins.group_breaks.insert(group.head.module.clone(), group.breaks.clone());
        for decl in &group.decls {
            origins.declaration(decl);
        }
    }
    origins
}

impl Origins {
    fn declaration(&mut self, decl: &Decl) {
        self.mark(&decl.span, &decl.attrs.marks);
        if let Some(kind) = &decl.attrs.kind {
            self.words.insert(decl.span.clone(), kind.words.clone());
        }
        match &decl.body {
            DeclBody::Struct(fields) => fields.iter().for_each(|field| self.field(field)),
            DeclBody::Enum(variants) => {
                let spans = variants.iter().map(|variant| (variant.value.clone(), variant.span.clone()));
                self.variants.insert(decl.span.clone(), spans.collect());
                variants.iter().for_each(|variant| self.variant(variant));
            }
            DeclBody::Unit => {}
        }
    }

    fn variant(&mut self, variant: &Variant) {
        self.mark(&variant.span, &variant.marks);
        let gate = variant.gate.iter().map(|gate| ("gate=".to_string(), gate.span.clone()));
        self.words.insert(variant.span.clone(), gate.collect());
    }

    fn field(&mut self, field: &Field) {
        self.mark(&field.model.span, &field.marks);
        let number = field.number.iter().map(|span| ("number".to_string(), span.clone()));
        let ty = [("type".to_string(), field.ty.span.clone())];
        let words = field.words.iter().cloned().chain(number).chain(ty).collect();
        self.words.insert(field.model.span.clone(), words);
    }

    fn mark(&mut self, span: &Span, marks: &Marks) {
        if !marks.allows.is_empty() || !marks.breaks.is_empty() {
            self.marks.insert(span.clone(), marks.clone());
        }
    }
}
