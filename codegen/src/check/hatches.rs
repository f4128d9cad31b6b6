//! Hatch functions exist and take what a definition hands them.

use super::Checker;
use crate::diagnostics::{Diagnostic, codes, did_you_mean};
use crate::emit::struct_in;
use crate::hatches::{Argument, Function, Hatches, Passing};
use crate::model::{Cell, Check, Model, Span, Struct, StructId};

/// A function that a definition names, and the signature it has to have.
struct Wanted {
    module: String,
    name: String,
    parameters: Vec<Parameter>,
    returns: &'static str,
    span: Span,
}

/// A parameter as a definition needs it.
#[derive(Clone, Copy)]
struct Parameter {
    name: &'static str,
    passing: Passing,
    ty: Type,
}

#[derive(Clone, Copy)]
enum Type {
    Struct(StructId),
    /// A type of the machinery or of Rust, by its name.
    Named(&'static str),
}

impl Parameter {
    const fn new(name: &'static str, passing: Passing, ty: Type) -> Self {
        Parameter { name, passing, ty }
    }

    /// `new` and `old` of a change.
    const fn change(passing: Passing, old: Passing, of: StructId) -> [Self; 2] {
        [Self::new("new", passing, Type::Struct(of)), Self::new("old", old, Type::Struct(of))]
    }
}

impl Checker<'_> {
    pub(super) fn hatches(&mut self, hatches: &Hatches) {
        for wanted in self.wanted() {
            let Some(functions) = hatches.module(&wanted.module) else { continue };
            let found = functions.get(&wanted.name);
            let diagnostic = match found {
                None => {
                    let names: Vec<&str> = functions.keys().map(String::as_str).collect();
                    Some(missing(self.model, hatches.folder, &wanted, &names))
                }
                Some(function) => mismatch(self.model, hatches.folder, &wanted, function),
            };
            self.diagnostics.extend(diagnostic);
        }
    }

    fn wanted(&self) -> Vec<Wanted> {
        let structs = self.model.structs.iter().enumerate();
        let mut out: Vec<Wanted> = structs.flat_map(|(index, one)| self.of_struct(StructId(index), one)).collect();
        out.extend(self.model.groups.iter().flat_map(|group| group.kinds.iter().flat_map(|kind| of_kind(group, kind))));
        out
    }

    fn of_struct(&self, id: StructId, one: &Struct) -> Vec<Wanted> {
        let object = Parameter::new("object", Passing::Mutable, Type::Struct(id));
        let hooks = [&one.default_by_hand, &one.normalize].into_iter().flatten();
        let mut out: Vec<Wanted> = hooks.map(|name| self.on_struct(one, name, vec![object])).collect();
        out.extend(one.validate_by_hand.iter().map(|name| {
            let validation = Parameter::new("validation", Passing::Mutable, Type::Named("Validation"));
            let path = Parameter::new("path", Passing::Shared, Type::Named("Path"));
            let [new, old] = Parameter::change(Passing::Shared, Passing::Optional, id);
            self.on_struct(one, name, vec![validation, path, new, old])
        }));
        out.extend(one.checks.iter().flat_map(|check| self.of_check(id, one, check)));
        let Some((conversion, hub)) = one.conversion.as_ref().and_then(|c| Some((c, c.hub?))) else { return out };
        for name in &conversion.by_hand {
            for (suffix, from, to) in [("to_hub", id, hub), ("from_hub", hub, id)] {
                let parameters = [("from", from), ("to", to)];
                let parameters = parameters.map(|(name, id)| Parameter::new(name, Passing::Mutable, Type::Struct(id)));
                let wanted = self.on_struct(one, &format!("{name}_{suffix}"), parameters.to_vec());
                out.push(Wanted { span: self.place(one, name), ..wanted });
            }
        }
        out
    }

    /// The functions of a check, which take the structs that its field holds.
    fn of_check(&self, id: StructId, one: &Struct, check: &Check) -> Vec<Wanted> {
        let held = match check.field.as_str() {
            "" => Some(id),
            field => self.follow(one, field).ok().and_then(|place| struct_in(&place.field.ty)),
        };
        let Some(held) = held else { return Vec::new() };
        let validation = Parameter::new("validation", Passing::Mutable, Type::Named("Validation"));
        let path = Parameter::new("path", Passing::Shared, Type::Named("Path"));
        let [new, old] = Parameter::change(Passing::Shared, Passing::Optional, held);
        let wanted = |name: &str| Wanted {
            span: check.span.clone(),
            ..self.on_struct(one, name, vec![validation, path, new, old])
        };
        check.functions().into_iter().map(wanted).collect()
    }

    fn on_struct(&self, one: &Struct, name: &str, parameters: Vec<Parameter>) -> Wanted {
        let (module, name, span) = (one.module.clone(), name.to_string(), self.place(one, name));
        Wanted { module, name, parameters, returns: "", span }
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
    let object = Parameter::new("object", Passing::Shared, Type::Struct(shown));
    let context = |ty| Parameter::new("context", Passing::Shared, Type::Named(ty));
    let wanted = |name: &String, parameters, returns, span: &Span| Wanted {
        module: group.module.clone(),
        name: name.clone(),
        parameters,
        returns,
        span: span.clone(),
    };
    let mut out = Vec::new();
    for column in &kind.columns {
        if let Cell::ByHand(name) = &column.cell {
            out.push(wanted(name, vec![object, context("PrintContext")], "Cell", &column.span));
        }
    }
    for hook in &kind.strategy {
        let change = |new, old| [vec![context("Context")], Parameter::change(new, old, shown).to_vec()].concat();
        let (parameters, returns) = match hook.word.as_str() {
            "warnings" => (change(Passing::Shared, Passing::Optional), "Vec"),
            "rows" => (vec![object], "Vec"),
            "order" => (vec![object], "i64"),
            "holds" => (vec![object], "bool"),
            "delete" => {
                let object = Parameter::new("object", Passing::Mutable, Type::Struct(shown));
                (vec![context("Context"), object], "")
            }
            "grace" => (vec![Parameter::new("asked", Passing::Optional, Type::Named("i64")), object], "Option"),
            "create" => (change(Passing::Mutable, Passing::Optional), ""),
            _ => (change(Passing::Mutable, Passing::Shared), ""),
        };
        out.push(wanted(&hook.function, parameters, returns, &hook.span));
    }
    for field in kind.resource.iter().flat_map(|resource| &resource.selectable) {
        out.extend(field.by_hand.iter().map(|name| wanted(name, vec![object], "String", &field.span)));
    }
    out
}

fn missing(model: &Model, folder: &str, wanted: &Wanted, names: &[&str]) -> Diagnostic {
    let message = format!("there is no function `{}` in `{folder}/{}.rs`", wanted.name, wanted.module);
    let diagnostic = Diagnostic::error(codes::HATCH_MISSING, &wanted.span, message);
    match did_you_mean(&wanted.name, names) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic.help(format!("write it there:\n{}", signature(model, wanted))),
    }
}

fn mismatch(model: &Model, folder: &str, wanted: &Wanted, function: &Function) -> Option<Diagnostic> {
    let fits = function.arguments.len() == wanted.parameters.len()
        && wanted.parameters.iter().zip(&function.arguments).all(|(p, a)| p.passing == a.kind && takes(model, p.ty, a))
        && function.returns == wanted.returns;
    if fits {
        return None;
    }
    let message = format!("`{}` in `{folder}/{}.rs` has another signature", wanted.name, wanted.module);
    let diagnostic = Diagnostic::error(codes::HATCH_SIGNATURE, &wanted.span, message);
    Some(diagnostic.help(format!("it has to be\n{}", signature(model, wanted))))
}

/// Whether a parameter's type is the wanted one, as far as its path tells.
fn takes(model: &Model, wanted: Type, argument: &Argument) -> bool {
    let last = argument.path.last().map(String::as_str);
    let id = match wanted {
        Type::Struct(id) => id,
        Type::Named(name) => return last == Some(name),
    };
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
    let parameters = wanted.parameters.iter().map(|parameter| {
        let ty = match parameter.ty {
            Type::Named(name) => name.to_string(),
            Type::Struct(id) => {
                let one = &model.structs[id.0];
                format!("crate::{}::{}::{}", one.module, one.version, one.name)
            }
        };
        let ty = match (parameter.passing, parameter.ty) {
            (Passing::Mutable, _) => format!("&mut {ty}"),
            (Passing::Shared, _) => format!("&{ty}"),
            (Passing::Optional, Type::Struct(_)) => format!("Option<&{ty}>"),
            (Passing::Optional, Type::Named(_)) => format!("Option<{ty}>"),
            (Passing::Value, _) => ty,
        };
        format!("{}: {ty}", parameter.name)
    });
    let parameters: Vec<String> = parameters.collect();
    let returns = match wanted.returns {
        "" => String::new(),
        "Vec" if wanted.parameters.len() == 1 => " -> Vec<RowCondition>".into(),
        "Vec" => " -> Vec<String>".into(),
        "Option" => " -> Option<i64>".into(),
        other => format!(" -> {other}"),
    };
    let (modules, name) =
        wanted.name.rsplit_once("::").map_or(("", wanted.name.as_str()), |(modules, name)| (modules, name));
    let function = format!("pub fn {name}({}){returns} {{ .. }}", parameters.join(", "));
    if modules.is_empty() { function } else { format!("pub mod {modules} {{ {function} }}") }
}
