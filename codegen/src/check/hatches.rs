//! Hatch functions exist and take what a definition hands them.

use super::Checker;
use crate::diagnostics::{Diagnostic, codes, did_you_mean};
use crate::hatches::{Argument, FOLDER, Function, Hatches, Passing};
use crate::model::{Cell, Model, Span, Struct, StructId};

/// A function that a definition names, and the signature it has to have.
struct Wanted {
    module: String,
    name: String,
    arguments: Vec<(Passing, Type)>,
    returns: &'static str,
    /// Validation functions choose what they take, so only their existence is checked.
    any_signature: bool,
    span: Span,
}

#[derive(Clone, Copy)]
enum Type {
    Struct(StructId),
    PrintContext,
}

impl Checker<'_> {
    pub(super) fn hatches(&mut self, hatches: &Hatches) {
        for wanted in self.wanted() {
            let Some(functions) = hatches.module(&wanted.module) else { continue };
            let found = functions.get(&wanted.name);
            let diagnostic = match found {
                None => {
                    let names: Vec<&str> = functions.keys().map(String::as_str).collect();
                    Some(missing(self.model, &wanted, &names))
                }
                Some(function) => mismatch(self.model, &wanted, function),
            };
            self.diagnostics.extend(diagnostic);
        }
    }

    fn wanted(&self) -> Vec<Wanted> {
        let mut out = Vec::new();
        for (index, one) in self.model.structs.iter().enumerate() {
            let id = StructId(index);
            let hooks = [&one.default_by_hand, &one.normalize];
            out.extend(
                hooks
                    .into_iter()
                    .flatten()
                    .map(|name| self.on_struct(one, name, vec![(Passing::Mutable, Type::Struct(id))])),
            );
            let validation = one.validate_by_hand.as_ref();
            let validation =
                validation.map(|name| self.on_struct(one, name, vec![(Passing::Shared, Type::Struct(id))]));
            out.extend(validation.map(|wanted| Wanted { any_signature: true, ..wanted }));
            let Some((conversion, hub)) =
                one.conversion.as_ref().and_then(|conversion| Some((conversion, conversion.hub?)))
            else {
                continue;
            };
            let (here, hub) = ((Passing::Mutable, Type::Struct(id)), (Passing::Mutable, Type::Struct(hub)));
            for name in &conversion.by_hand {
                for (suffix, arguments) in [("to_hub", vec![here, hub]), ("from_hub", vec![hub, here])] {
                    let span = self.place(one, name);
                    let wanted = self.on_struct(one, &format!("{name}_{suffix}"), arguments);
                    out.push(Wanted { span, ..wanted });
                }
            }
        }
        out.extend(self.model.groups.iter().flat_map(|group| group.kinds.iter().flat_map(|kind| of_kind(group, kind))));
        out
    }

    fn on_struct(&self, one: &Struct, name: &str, arguments: Vec<(Passing, Type)>) -> Wanted {
        let (module, name, span) = (one.module.clone(), name.to_string(), self.place(one, name));
        Wanted { module, name, arguments, returns: "", any_signature: false, span }
    }

    fn place(&self, one: &Struct, name: &str) -> Span {
        let said = name.rsplit("::").next().unwrap_or(name).to_string();
        self.origins.hatches.get(&(one.module.clone(), said)).unwrap_or(&one.span).clone()
    }
}

fn of_kind(group: &crate::model::Group, kind: &crate::model::Kind) -> Vec<Wanted> {
    let hub = kind.versions.first().and_then(|hub| group.versions.iter().find(|version| version.name == hub.version));
    let hub = hub.and_then(|version| version.structs.get(&kind.name).copied());
    let Some(shown) = kind.stored_as.or(hub) else { return Vec::new() };
    let object = (Passing::Shared, Type::Struct(shown));
    let wanted = |name: &String, arguments, returns, span: &Span| Wanted {
        module: group.module.clone(),
        name: name.clone(),
        arguments,
        returns,
        any_signature: false,
        span: span.clone(),
    };
    let mut out = Vec::new();
    for column in &kind.columns {
        if let Cell::ByHand(name) = &column.cell {
            out.push(wanted(name, vec![object, (Passing::Shared, Type::PrintContext)], "Cell", &column.span));
        }
    }
    for field in kind.resource.iter().flat_map(|resource| &resource.selectable) {
        out.extend(field.by_hand.iter().map(|name| wanted(name, vec![object], "String", &field.span)));
    }
    out
}

fn missing(model: &Model, wanted: &Wanted, names: &[&str]) -> Diagnostic {
    let message = format!("there is no function `{}` in `{FOLDER}/{}.rs`", wanted.name, wanted.module);
    let diagnostic = Diagnostic::error(codes::HATCH_MISSING, &wanted.span, message);
    match did_you_mean(&wanted.name, names) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic.help(format!("write it there:\n{}", signature(model, wanted))),
    }
}

fn mismatch(model: &Model, wanted: &Wanted, function: &Function) -> Option<Diagnostic> {
    let pairs = || wanted.arguments.iter().zip(&function.arguments);
    let fits = function.arguments.len() == wanted.arguments.len()
        && pairs().all(|((passing, ty), argument)| *passing == argument.kind && takes(model, *ty, argument))
        && function.returns == wanted.returns;
    if fits || wanted.any_signature {
        return None;
    }
    let message = format!("`{}` in `{FOLDER}/{}.rs` has another signature", wanted.name, wanted.module);
    let diagnostic = Diagnostic::error(codes::HATCH_SIGNATURE, &wanted.span, message);
    Some(diagnostic.help(format!("it has to be\n{}", signature(model, wanted))))
}

/// Whether a parameter's type is the wanted one, as far as its path tells.
fn takes(model: &Model, wanted: Type, argument: &Argument) -> bool {
    let last = argument.path.last().map(String::as_str);
    let Type::Struct(id) = wanted else { return last == Some("PrintContext") };
    let one = &model.structs[id.0];
    if let [.., module, version, name] = argument.path.as_slice()
        && let Some(group) = model.groups.iter().find(|group| group.module == *module)
    {
        let version = group.versions.iter().find(|one| one.name == *version);
        return version.is_some_and(|version| version.structs.get(name) == Some(&id));
    }
    last == Some(one.name.as_str())
}

fn signature(model: &Model, wanted: &Wanted) -> String {
    let arguments = wanted.arguments.iter().enumerate().map(|(index, (passing, ty))| {
        let reference = if *passing == Passing::Mutable { "&mut " } else { "&" };
        match ty {
            Type::PrintContext => format!("context: {reference}PrintContext"),
            Type::Struct(id) => {
                let one = &model.structs[id.0];
                let name = if wanted.arguments.len() == 1 || wanted.returns == "Cell" {
                    "object"
                } else {
                    ["from", "to"][index % 2]
                };
                format!("{name}: {reference}crate::{}::{}::{}", one.module, one.version, one.name)
            }
        }
    });
    let arguments: Vec<String> = arguments.collect();
    let returns = if wanted.returns.is_empty() { String::new() } else { format!(" -> {}", wanted.returns) };
    let (modules, name) =
        wanted.name.rsplit_once("::").map_or(("", wanted.name.as_str()), |(modules, name)| (modules, name));
    let function = format!("pub fn {name}({}){returns} {{ .. }}", arguments.join(", "));
    if modules.is_empty() { function } else { format!("pub mod {modules} {{ {function} }}") }
}
