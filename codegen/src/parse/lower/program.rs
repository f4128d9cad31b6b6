//! All groups, and the resolution of names in a version.
//!
//! A name in version `v` is looked up in `mod v`, then in the `mod` of the declaration that refers to
//! it, then at the hub. A type that `mod v` does not declare is therefore the hub's, with its names
//! resolved again for `v`.

use std::collections::HashMap;

use super::super::ast::{Decl, DeclBody, Group, Marked, Use};
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::model::{Span, TypeRef};

/// The version index of every group's hub.
pub const HUB: usize = 0;

/// A declaration: group, and index among its declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeclId {
    pub group: usize,
    pub decl: usize,
}

/// A declaration in one version of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeclKey {
    pub group: usize,
    pub version: usize,
    pub decl: usize,
}

impl DeclKey {
    pub fn id(self) -> DeclId {
        DeclId { group: self.group, decl: self.decl }
    }
}

/// The resolution of a type name.
#[derive(Clone, Debug)]
pub enum ResolvedName {
    Scalar(TypeRef),
    Type(DeclKey),
}

/// Reason why a name does not resolve.
pub enum Missing {
    Unknown,
    /// Declared gone in this version.
    Gone(Span),
}

#[derive(Clone)]
enum Imported {
    /// A scalar that needed no `use` (`crate::meta::Quantity`).
    Scalar,
    /// Group, version and name.
    Type(usize, usize, String),
    /// Reported already.
    Broken,
}

/// The names of one group.
#[derive(Default)]
struct Names {
    declared: HashMap<(usize, String), usize>,
    /// The declaration that `#[differs]` from the hub's, by version and hub's name.
    differs: HashMap<(usize, String), usize>,
    gone: HashMap<(usize, String), Span>,
    /// Imports by file, version of the `mod` (or hub) and alias.
    imported: HashMap<(usize, usize, String), Imported>,
    /// Version and name of an import from another version, by version and alias: `use v1::Rule` in `mod
    /// v1beta1`.
    borrowed: HashMap<(usize, String), (usize, String)>,
}

/// All groups with their names indexed.
pub struct Declarations {
    pub groups: Vec<Group>,
    names: Vec<Names>,
    modules: HashMap<String, usize>,
}

impl Declarations {
    pub fn new(groups: Vec<Group>, diagnostics: &mut Diagnostics) -> Self {
        let modules = groups.iter().enumerate().map(|(index, group)| (group.head.module.clone(), index)).collect();
        let names = groups.iter().map(|group| index(group, diagnostics)).collect();
        let mut program = Declarations { groups, names, modules };
        for group in 0..program.groups.len() {
            program.index_uses(group, diagnostics);
        }
        program
    }

    pub fn decl(&self, id: DeclId) -> &Decl {
        &self.groups[id.group].decls[id.decl]
    }

    /// The version of the `mod` that contains a declaration.
    pub fn home(&self, id: DeclId) -> usize {
        let home = self.decl(id).home.as_ref();
        home.and_then(|home| self.version(id.group, &home.text)).unwrap_or(HUB)
    }

    pub fn version(&self, group: usize, name: &str) -> Option<usize> {
        self.groups[group].head.versions.iter().position(|version| version.name == name)
    }

    pub fn version_name(&self, group: usize, version: usize) -> &str {
        self.groups[group].head.versions.get(version).map_or("", |version| version.name.as_str())
    }

    pub fn module(&self, name: &str) -> Option<usize> {
        self.modules.get(name).copied()
    }

    pub fn modules(&self) -> Vec<&str> {
        let mut modules: Vec<&str> = self.modules.keys().map(String::as_str).collect();
        modules.sort_unstable();
        modules
    }

    /// Names imported from another version, sorted: alias, version, name.
    pub fn borrowed(&self, group: usize, version: usize) -> Vec<(&str, usize, &str)> {
        let all = self.names[group].borrowed.iter().filter(|((in_version, _), _)| *in_version == version);
        let mut out: Vec<_> = all.map(|((_, alias), (from, name))| (alias.as_str(), *from, name.as_str())).collect();
        out.sort_unstable();
        out
    }

    /// Resolves a name in a version, for a declaration in the `mod` of version `home`.
    pub fn find(&self, group: usize, version: usize, name: &str, home: usize) -> Result<DeclKey, Missing> {
        let names = &self.names[group];
        let here = (version, name.to_string());
        if let Some((from, name)) = names.borrowed.get(&here) {
            return self.find(group, *from, name, *from);
        }
        if let Some(span) = names.gone.get(&here) {
            return Err(Missing::Gone(span.clone()));
        }
        for place in [version, home, HUB] {
            let entry = (place, name.to_string());
            if let Some(decl) = names.declared.get(&entry).or_else(|| names.differs.get(&entry)) {
                return Ok(DeclKey { group, version, decl: *decl });
            }
        }
        Err(Missing::Unknown)
    }

    /// The full declaration that a version's `#[differs(NAME)]` is based on: the hub's, or that of the
    /// first version that has one.
    pub fn base(&self, group: usize, name: &str) -> Option<DeclId> {
        let versions = 0..self.groups[group].head.versions.len();
        versions
            .filter_map(|version| self.names[group].declared.get(&(version, name.to_string())))
            .map(|decl| DeclId { group, decl: *decl })
            .find(|id| self.decl(*id).attrs.differs.is_none())
    }

    /// Versions with a full declaration of this name, for messages about names that a version does not
    /// see.
    pub fn versions_with(&self, group: usize, name: &str) -> Vec<&str> {
        let versions = 0..self.groups[group].head.versions.len();
        let with = versions.filter(|version| self.names[group].declared.contains_key(&(*version, name.to_string())));
        with.map(|version| self.version_name(group, version)).collect()
    }

    /// Every type name that a declaration in `version` may refer to, for suggestions.
    pub fn visible(&self, group: usize, version: usize) -> Vec<&str> {
        let own = self.names[group].declared.keys().filter(|(home, _)| *home == HUB || *home == version);
        let imported = self.names[group].imported.keys().map(|(_, _, alias)| alias.as_str());
        let mut out: Vec<&str> =
            own.map(|(_, name)| name.as_str()).chain(imported).chain(SCALARS.iter().copied()).collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    /// Resolves the names of a type in the declaration `by`, in `version` of its group. `None` if an
    /// error was already reported.
    pub fn resolve(
        &self,
        by: DeclId,
        version: usize,
        path: &[String],
        span: &Span,
    ) -> Result<ResolvedName, Option<Diagnostic>> {
        let (decl, home) = (self.decl(by), self.home(by));
        let [name] = path else {
            return match self.import(by.group, path, span)? {
                Imported::Type(group, version, name) => self.target(group, version, &name, version, span),
                Imported::Scalar | Imported::Broken => Err(None),
            };
        };
        for scope in [home, HUB] {
            match self.names[by.group].imported.get(&(decl.file, scope, name.clone())) {
                Some(Imported::Type(group, version, name)) => {
                    return self.target(*group, *version, name, *version, span);
                }
                Some(Imported::Broken) => return Err(None),
                Some(Imported::Scalar) | None => {}
            }
        }
        match scalar(name) {
            Some(scalar) => Ok(ResolvedName::Scalar(scalar)),
            None => self.target(by.group, version, name, home, span),
        }
    }

    fn target(
        &self,
        group: usize,
        version: usize,
        name: &str,
        home: usize,
        span: &Span,
    ) -> Result<ResolvedName, Option<Diagnostic>> {
        let not_in_version = |what: String| Diagnostic::error(codes::NOT_IN_VERSION, span, what);
        match self.find(group, version, name, home) {
            Ok(key) => Ok(ResolvedName::Type(key)),
            Err(Missing::Gone(gone)) => {
                let message = format!("`{name}` is gone in {}, yet used there", self.version_name(group, version));
                Err(Some(not_in_version(message).also(&gone, "declared gone here")))
            }
            Err(Missing::Unknown) => match self.versions_with(group, name).as_slice() {
                [] => Err(Some(self.unknown_type(group, version, name, span))),
                versions => {
                    let message = format!("{} has no type `{name}`", self.version_name(group, version));
                    Err(Some(not_in_version(message).help(format!("it exists in {}", versions.join(", ")))))
                }
            },
        }
    }

    fn unknown_type(&self, group: usize, version: usize, name: &str, span: &Span) -> Diagnostic {
        let diagnostic = Diagnostic::error(codes::UNKNOWN_TYPE, span, format!("unknown type `{name}`"));
        let elsewhere =
            self.names.iter().enumerate().filter(|(_, names)| names.declared.contains_key(&(HUB, name.to_string())));
        let uses: Vec<String> = elsewhere
            .map(|(other, _)| format!("add `use crate::{}::{name};`", self.groups[other].head.module))
            .collect();
        if !uses.is_empty() {
            return uses.into_iter().fold(diagnostic, Diagnostic::help);
        }
        let visible = self.visible(group, version);
        match crate::diagnostics::did_you_mean(name, &visible) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic.help(format!("declare `struct {name}` in this folder, or `use` it from another group")),
        }
    }

    fn index_uses(&mut self, group: usize, diagnostics: &mut Diagnostics) {
        let mut imported = HashMap::new();
        let mut borrowed = HashMap::new();
        for one in &self.groups[group].uses {
            let home = one.home.as_ref().and_then(|home| self.version(group, home)).unwrap_or(HUB);
            if let [from, name] = one.path.as_slice()
                && let Some(from) = self.version(group, from)
            {
                borrowed.insert((home, one.alias.clone()), (from, name.clone()));
                continue;
            }
            let target = self.import(group, &one.path, &one.span).unwrap_or_else(|diagnostic| {
                diagnostics.extend(diagnostic);
                Imported::Broken
            });
            diagnostics.extend(self.import_clash(group, home, one));
            imported.insert((one.file, home, one.alias.clone()), target);
        }
        self.names[group].imported = imported;
        self.names[group].borrowed = borrowed;
    }

    fn import_clash(&self, group: usize, home: usize, one: &Use) -> Option<Diagnostic> {
        let own = self.names[group].declared.get(&(home, one.alias.clone()))?;
        let message = format!("`{}` is declared in this group and imported too", one.alias);
        let diagnostic = Diagnostic::error(codes::NAME_TWICE, &one.span, message);
        let declared = &self.groups[group].decls[*own].span;
        Some(diagnostic.also(declared, "declared here").help("rename the import: `use .. as OtherName;`"))
    }

    /// `crate::module::Name` (the hub's) or `crate::module::version::Name`.
    fn import(&self, own: usize, path: &[String], span: &Span) -> Result<Imported, Option<Diagnostic>> {
        let error = |message: String| Diagnostic::error(codes::UNKNOWN_USE, span, message);
        let (module, version, name) = match path {
            [krate, module, name] if krate == "crate" => (module, None, name),
            [krate, module, version, name] if krate == "crate" => (module, Some(version), name),
            [version, _] if self.version(own, version).is_some() => return Err(None),
            _ => {
                let message = format!("`{}` is not a path to a type", path.join("::"));
                let help =
                    "write `crate::group::Type`, `crate::group::version::Type`; types of the own group need no `use`";
                return Err(Some(error(message).help(help)));
            }
        };
        if scalar(name).is_some() && module == "meta" {
            return Ok(Imported::Scalar);
        }
        let Some(group) = self.module(module) else {
            let message = format!("there is no group with the module `{module}`");
            return Err(Some(error(message).suggest(module, self.modules())));
        };
        let versions = || self.groups[group].head.versions.iter().map(|version| version.name.as_str());
        let version = match version {
            None => HUB,
            Some(version) => self
                .version(group, version)
                .ok_or_else(|| error(format!("`{module}` has no version `{version}`")).suggest(version, versions()))?,
        };
        if self.find(group, version, name, version).is_err() {
            let message = format!("`{module}` has no type `{name}` in {}", self.version_name(group, version));
            let names: Vec<&str> = self.names[group].declared.keys().map(|(_, name)| name.as_str()).collect();
            let near = crate::diagnostics::did_you_mean(name, &names);
            let diagnostic = error(message);
            return Err(Some(match near {
                Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                None => diagnostic,
            }));
        }
        Ok(Imported::Type(group, version, name.clone()))
    }
}

fn index(group: &Group, diagnostics: &mut Diagnostics) -> Names {
    let mut names = Names::default();
    for (decl_index, decl) in group.decls.iter().enumerate() {
        let version = |home: &Marked| group.head.versions.iter().position(|version| version.name == home.text);
        let home = decl.home.as_ref().and_then(version).unwrap_or(HUB);
        if let Some(span) = &decl.attrs.gone {
            names.gone.insert((home, decl.name.clone()), span.clone());
            continue;
        }
        if matches!(decl.body, DeclBody::Unit) {
            continue;
        }
        if scalar(&decl.name).is_some() || ["Option", "Vec", "Map"].contains(&decl.name.as_str()) {
            let message = format!("`{}` is a type of the language", decl.name);
            diagnostics.push(Diagnostic::error(codes::NAME_TWICE, &decl.span, message).help("choose another name"));
        }
        if let Some(first) = names.declared.insert((home, decl.name.clone()), decl_index) {
            let message = format!("`{}` is declared twice", decl.name);
            let diagnostic = Diagnostic::error(codes::NAME_TWICE, &decl.span, message);
            diagnostics.push(diagnostic.also(&group.decls[first].span, "first here"));
        }
        if let Some(base) = &decl.attrs.differs {
            names.differs.insert((home, base.text.clone()), decl_index);
        }
    }
    names
}

/// Types that the language provides.
pub const SCALARS: &[&str] = &[
    "String",
    "bool",
    "i32",
    "i64",
    "f64",
    "Bytes",
    "Quantity",
    "Time",
    "MicroTime",
    "Duration",
    "IntOrString",
    "RawExtension",
    "FieldsV1",
    "Json",
];

/// The scalar of a name in [`SCALARS`].
pub fn scalar(name: &str) -> Option<TypeRef> {
    Some(match name {
        "String" => TypeRef::String,
        "bool" => TypeRef::Bool,
        "i32" => TypeRef::I32,
        "i64" => TypeRef::I64,
        "f64" => TypeRef::F64,
        "Bytes" => TypeRef::Bytes,
        "Quantity" => TypeRef::Quantity,
        "Time" => TypeRef::Time,
        "MicroTime" => TypeRef::MicroTime,
        "Duration" => TypeRef::Duration,
        "IntOrString" => TypeRef::IntOrString,
        "RawExtension" => TypeRef::RawExtension,
        "FieldsV1" => TypeRef::FieldsV1,
        "Json" => TypeRef::Json,
        _ => return None,
    })
}
