//! Builds the model's kinds: fills in what `#[kind]` implies, and looks up references to other kinds.

use super::super::ast::{self, Attrs};
use super::build::Ids;
use super::instances::{Instances, type_at};
use super::program::{DeclId, Declarations};
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::model::{Generation, Kind, KindVersion, Model, Resource, ScalePaths, Subresource};

/// Declarations of kinds that have a list kind.
pub fn with_lists(program: &Declarations) -> Vec<DeclId> {
    kinds(program).filter(|id| has_list(&program.decl(*id).attrs)).collect()
}

fn kinds(program: &Declarations) -> impl Iterator<Item = DeclId> {
    let decls =
        program.groups.iter().enumerate().flat_map(|(group, one)| (0..one.decls.len()).map(move |decl| (group, decl)));
    let ids = decls.map(|(group, decl)| DeclId { group, decl });
    ids.filter(|id| program.decl(*id).attrs.kind.is_some() && program.decl(*id).attrs.differs.is_none())
}

fn has_list(attrs: &Attrs) -> bool {
    let Some(kind) = &attrs.kind else { return false };
    let listed = kind.plural.is_some() && kind.resource.verbs.iter().any(|verb| verb == "list");
    kind.list.unwrap_or(listed)
}

/// Sets the kinds of every group.
pub fn build(
    program: &Declarations,
    instances: &Instances<'_>,
    ids: &Ids,
    model: &mut Model,
    diagnostics: &mut Diagnostics,
) {
    for id in kinds(program) {
        let kind = kind(program, instances, ids, id, diagnostics);
        model.groups[id.group].kinds.push(kind);
    }
    misplaced(program, diagnostics);
}

fn kind(
    program: &Declarations,
    instances: &Instances<'_>,
    ids: &Ids,
    id: DeclId,
    diagnostics: &mut Diagnostics,
) -> Kind {
    let decl = program.decl(id);
    let declared = decl.attrs.kind.as_ref();
    let versions = versions(program, id, diagnostics);
    let hub = versions.first().map_or_else(String::new, |version| version.version.clone());
    let stored_as = declared.and_then(|kind| kind.stored_as.as_ref());
    let stored_id = stored_as.and_then(|path| type_at(program, &path.segments)).and_then(|key| instances.get(key));
    if let (Some(path), None) = (stored_as, stored_id) {
        diagnostics.push(Diagnostic::error(codes::KIND, &path.span, format!("there is no kind `{}`", path.text())));
    }
    Kind {
        name: decl.name.clone(),
        storage_version: declared.and_then(|kind| kind.storage.as_ref()).map_or(hub, |storage| storage.text.clone()),
        versions,
        stored_as: stored_id.and_then(|id| ids.struct_of(id)),
        resource: declared.and_then(|kind| resource(program, id, kind, diagnostics)),
        list: has_list(&decl.attrs),
        columns: decl.attrs.columns.clone(),
        strategy: decl.attrs.strategy.clone(),
        feature_gate: declared.and_then(|kind| kind.gate.clone()),
        span: decl.span.clone(),
    }
}

/// The versions of a kind, hub first. A group with one version may omit them.
fn versions(program: &Declarations, id: DeclId, diagnostics: &mut Diagnostics) -> Vec<KindVersion> {
    let decl = program.decl(id);
    let home = program.version_name(id.group, program.home(id)).to_string();
    let Some(declared) = &decl.attrs.versions else {
        let group = &program.groups[id.group].head;
        if decl.home.is_none() && group.versions.len() > 1 {
            let all: Vec<&str> = group.versions.iter().map(|version| version.name.as_str()).collect();
            let message = format!("`{}` does not declare its versions", decl.name);
            let diagnostic = Diagnostic::error(codes::VERSION, &decl.span, message);
            diagnostics.push(diagnostic.help(format!("add `#[versions({})]`", all.join(", "))));
        }
        return vec![KindVersion { version: home, ..KindVersion::default() }];
    };
    let mut out: Vec<KindVersion> = Vec::new();
    for version in declared {
        let name = &version.model.version;
        if program.version(id.group, name).is_none() {
            let all = program.groups[id.group].head.versions.iter().map(|version| version.name.as_str());
            let diagnostic =
                Diagnostic::error(codes::VERSION, &version.span, format!("the group has no version `{name}`"));
            diagnostics.push(diagnostic.suggest(name, all));
        } else if out.iter().any(|earlier| earlier.version == *name) {
            diagnostics.push(Diagnostic::error(
                codes::REPEATED,
                &version.span,
                format!("version `{name}` is listed twice"),
            ));
        } else {
            out.push(version.model.clone());
        }
    }
    if let (Some(first), Some(first_declared)) = (out.first(), declared.first())
        && first.version != home
    {
        let message = format!("`{}` is declared in {home}, so {home} is its hub and comes first", decl.name);
        let help = format!("list `{home}` first, or move the kind into `mod {}`", first.version);
        diagnostics.push(Diagnostic::error(codes::VERSION, &first_declared.span, message).help(help));
    }
    out
}

fn resource(program: &Declarations, id: DeclId, kind: &ast::Kind, diagnostics: &mut Diagnostics) -> Option<Resource> {
    let decl = program.decl(id);
    let Some(plural) = &kind.plural else {
        let allowed = ["list", "stored_as", "gate", "bare"];
        let extra = kind.words.iter().find(|(word, _)| !allowed.contains(&word.trim_end_matches('=')));
        if let Some((word, span)) = extra {
            let message = format!("`{word}` is for resources, and `{}` has no `plural`", decl.name);
            diagnostics.push(Diagnostic::error(codes::KIND, span, message).help("add `plural = \"..\"` to serve it"));
        }
        return None;
    };
    if kind.scope.is_none() {
        let diagnostic =
            Diagnostic::error(codes::KIND, &kind.span, format!("`{}` does not declare its scope", decl.name));
        diagnostics.push(diagnostic.help("add `scope = Namespaced` or `scope = Cluster`"));
    }
    let subresources: Vec<Subresource> =
        decl.attrs.subresources.iter().map(|one| subresource(program, one, diagnostics)).collect();
    let has_status = subresources.iter().any(|one| one.name == "status");
    let by_status = if has_status { Generation::Values } else { Generation::Off };
    Some(Resource {
        plural: plural.clone(),
        singular: kind.singular.clone().unwrap_or_else(|| decl.name.to_lowercase()),
        namespaced: kind.scope.as_deref() == Some("Namespaced"),
        key_prefix: (!kind.is_virtual).then(|| kind.prefix.clone().unwrap_or_else(|| plural.clone())),
        generation: kind.generation.unwrap_or(by_status),
        subresources,
        columns: decl.attrs.columns.clone(),
        selectable: decl.attrs.selectable.clone(),
        ..kind.resource.clone()
    })
}

fn subresource(program: &Declarations, declared: &ast::Subresource, diagnostics: &mut Diagnostics) -> Subresource {
    let mut out = declared.model.clone();
    if let Some(path) = &declared.kind {
        out.kind = body_kind(program, path, diagnostics);
    }
    let path = |word: &str| declared.paths.iter().find(|(name, _)| name == word).map(|(_, path)| path.text.clone());
    if out.name == "scale" {
        let (replicas, observed, selector) = (path("replicas"), path("observed"), path("selector"));
        for (word, missing) in [("replicas", replicas.is_none()), ("observed", observed.is_none())] {
            if missing {
                let message = format!("`subresource(scale)` has no `{word}`");
                let help = "write `#[subresource(scale, replicas = spec.replicas, observed = status.replicas, selector = ..)]`";
                diagnostics.push(Diagnostic::error(codes::SUBRESOURCE, &out.span, message).help(help));
            }
        }
        out.scale = Some(ScalePaths {
            replicas: replicas.unwrap_or_default(),
            observed: observed.unwrap_or_default(),
            selector: selector.unwrap_or_default(),
        });
    } else if let Some((word, path)) = declared.paths.first() {
        let message = format!("`{word}` is for `subresource(scale)`");
        diagnostics.push(Diagnostic::error(codes::SUBRESOURCE, &path.span, message));
    }
    out
}

/// Group name, version and kind of a subresource's body.
fn body_kind(
    program: &Declarations,
    path: &super::super::words::Path,
    diagnostics: &mut Diagnostics,
) -> Option<(String, String, String)> {
    let found = type_at(program, &path.segments);
    let is_kind = |key: super::program::DeclKey| {
        let base = program.base(key.group, &program.decl(key.id()).name);
        base.is_some_and(|base| program.decl(base).attrs.kind.is_some())
    };
    match (found.filter(|key| is_kind(*key)), path.segments.as_slice()) {
        (Some(key), [_, version, name]) => {
            Some((program.groups[key.group].head.name.clone(), version.clone(), name.clone()))
        }
        _ => {
            let diagnostic =
                Diagnostic::error(codes::SUBRESOURCE, &path.span, format!("there is no kind `{}`", path.text()));
            diagnostics.push(
                diagnostic.help("write `module::version::Kind` of a declared kind, such as `autoscaling::v1::Scale`"),
            );
            None
        }
    }
}

/// Reports attributes of kinds on structs that are not kinds.
fn misplaced(program: &Declarations, diagnostics: &mut Diagnostics) {
    for decl in program.groups.iter().flat_map(|group| &group.decls) {
        let attrs = &decl.attrs;
        if let (Some(kind), Some(_)) = (&attrs.kind, &attrs.differs) {
            let diagnostic = Diagnostic::error(codes::KIND, &kind.span, "a kind is declared once, at its hub");
            diagnostics.push(diagnostic.help("drop `#[kind(..)]` here"));
        }
        let spans = attrs.subresources.iter().map(|one| ("subresource", &one.model.span));
        let columns = attrs.columns.iter().filter(|_| attrs.kind.is_none());
        let spans = spans.chain(columns.map(|one| ("column", &one.span)));
        let spans = spans.chain(attrs.selectable.iter().map(|one| ("selectable", &one.span)));
        let spans = spans.chain(attrs.strategy.iter().map(|hook| ("strategy", &hook.span)));
        let resource = attrs.kind.as_ref().is_some_and(|kind| kind.plural.is_some());
        for (word, span) in spans.filter(|_| !resource) {
            let message = format!("`{word}` is for resources, and `{}` is none", decl.name);
            diagnostics.push(
                Diagnostic::error(codes::KIND, span, message).help("resources have `#[kind(plural = \"..\", ..)]`"),
            );
        }
    }
}
