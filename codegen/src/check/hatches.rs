//! Hatch functions exist and take what a definition hands them.

use super::Checker;
use crate::diagnostics::{Diagnostic, codes, did_you_mean};
use crate::functions::{Signature, Type, signatures};
use crate::hatches::{Argument, Function, Hatches, Passing};
use crate::model::Model;

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

    /// Functions that definitions of the project's own groups name.
    fn wanted(&self) -> Vec<Signature> {
        let own = |one: &Signature| {
            self.model.groups.iter().any(|group| group.module == one.module && group.package.owner().is_none())
        };
        let mut out: Vec<Signature> = signatures(self.model).into_iter().filter(own).collect();
        for one in &mut out {
            let Some(said) = &one.said else { continue };
            let name = said.rsplit("::").next().unwrap_or(said).to_string();
            if let Some(span) = self.origins.hatches.get(&(one.module.clone(), name)) {
                one.span = span.clone();
            }
        }
        out
    }
}

fn missing(model: &Model, folder: &str, wanted: &Signature, names: &[&str]) -> Diagnostic {
    let message = format!("there is no function `{}` in `{folder}/{}.rs`", wanted.name, wanted.module);
    let diagnostic = Diagnostic::error(codes::HATCH_MISSING, &wanted.span, message);
    match did_you_mean(&wanted.name, names) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic.help(format!("write it there:\n{}", signature(model, wanted))),
    }
}

fn mismatch(model: &Model, folder: &str, wanted: &Signature, function: &Function) -> Option<Diagnostic> {
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

fn signature(model: &Model, wanted: &Signature) -> String {
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
