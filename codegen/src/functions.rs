//! Functions written by hand that definitions name (`by_hand = FN`, `#[strategy(..)]`), and their signatures.

use crate::model::{Check, ColumnValue, Group, Kind, Model, Struct, StructId};
use crate::paths;

/// Signature of a function that a definition names.
pub struct Signature {
    /// The group's module.
    pub module: String,
    /// A path within the group's functions, such as `v1beta1::default_device`.
    pub name: String,
    pub parameters: Vec<Parameter>,
    /// Last segment of the return type, empty for none.
    pub returns: &'static str,
}

/// How a parameter is passed.
#[derive(Clone, Copy)]
pub enum Passing {
    Shared,
    Mutable,
    /// `Option<..>`: of a reference for structs, of a value for other types.
    Optional,
}

/// A parameter of a function.
#[derive(Clone, Copy)]
pub struct Parameter {
    pub name: &'static str,
    pub passing: Passing,
    pub ty: ParameterType,
}

/// The type of a parameter.
#[derive(Clone, Copy)]
pub enum ParameterType {
    /// A struct of the model.
    Struct(StructId),
    /// A type of the machinery or of Rust, by name.
    Named(&'static str),
}

impl Parameter {
    const fn new(name: &'static str, passing: Passing, ty: ParameterType) -> Self {
        Parameter { name, passing, ty }
    }

    /// The parameters `new` and `old` of an update.
    const fn change(passing: Passing, old: Passing, of: StructId) -> [Self; 2] {
        [Self::new("new", passing, ParameterType::Struct(of)), Self::new("old", old, ParameterType::Struct(of))]
    }
}

/// All functions that definitions name, in the order of the model. A function that several definitions
/// name is listed several times.
pub fn signatures(model: &Model) -> Vec<Signature> {
    let structs = model.structs.iter().enumerate();
    let mut out: Vec<Signature> = structs.flat_map(|(index, one)| of_struct(model, StructId(index), one)).collect();
    out.extend(model.groups.iter().flat_map(|group| group.kinds.iter().flat_map(|kind| of_kind(group, kind))));
    out
}

fn of_struct(model: &Model, id: StructId, one: &Struct) -> Vec<Signature> {
    let object = Parameter::new("object", Passing::Mutable, ParameterType::Struct(id));
    let hooks = [&one.default_by_hand, &one.normalize].into_iter().flatten();
    let mut out: Vec<Signature> = hooks.map(|name| on_struct(one, name, vec![object])).collect();
    out.extend(one.validate_by_hand.iter().map(|name| {
        let validation = Parameter::new("validation", Passing::Mutable, ParameterType::Named("Validation"));
        let path = Parameter::new("path", Passing::Shared, ParameterType::Named("Path"));
        let [new, old] = Parameter::change(Passing::Shared, Passing::Optional, id);
        on_struct(one, name, vec![validation, path, new, old])
    }));
    out.extend(one.checks.iter().flat_map(|check| of_check(model, id, one, check)));
    let Some((conversion, hub)) = one.conversion.as_ref().and_then(|c| Some((c, c.hub?))) else { return out };
    for name in &conversion.by_hand {
        for (suffix, from, to) in [("to_hub", id, hub), ("from_hub", hub, id)] {
            let parameters = [("from", from), ("to", to)];
            let parameters =
                parameters.map(|(name, id)| Parameter::new(name, Passing::Mutable, ParameterType::Struct(id)));
            out.push(on_struct(one, &format!("{name}_{suffix}"), parameters.to_vec()));
        }
    }
    out
}

/// The functions of a check; their parameters are the structs of the checked field.
fn of_check(model: &Model, id: StructId, one: &Struct, check: &Check) -> Vec<Signature> {
    let held = match check.field.as_str() {
        "" => Some(id),
        field => paths::follow(model, id, field).ok().and_then(|place| place.field.ty.held()),
    };
    let Some(held) = held else { return Vec::new() };
    let validation = Parameter::new("validation", Passing::Mutable, ParameterType::Named("Validation"));
    let path = Parameter::new("path", Passing::Shared, ParameterType::Named("Path"));
    let [new, old] = Parameter::change(Passing::Shared, Passing::Optional, held);
    let signature = |name: &str| on_struct(one, name, vec![validation, path, new, old]);
    check.functions().into_iter().map(signature).collect()
}

fn on_struct(one: &Struct, name: &str, parameters: Vec<Parameter>) -> Signature {
    Signature { module: one.module.clone(), name: name.to_owned(), parameters, returns: "" }
}

fn of_kind(group: &Group, kind: &Kind) -> Vec<Signature> {
    let hub = kind.versions.first().and_then(|hub| group.versions.iter().find(|version| version.name == hub.version));
    let hub = hub.and_then(|version| version.structs.get(&kind.name).copied());
    let Some(shown) = kind.stored_as.or(hub) else { return Vec::new() };
    let object = Parameter::new("object", Passing::Shared, ParameterType::Struct(shown));
    let context = |ty| Parameter::new("context", Passing::Shared, ParameterType::Named(ty));
    let wanted = |name: &String, parameters, returns| Signature {
        module: group.module.clone(),
        name: name.clone(),
        parameters,
        returns,
    };
    let mut out = Vec::new();
    for column in &kind.columns {
        if let ColumnValue::ByHand(name) = &column.cell {
            out.push(wanted(name, vec![object, context("PrintContext")], "Cell"));
        }
    }
    for hook in &kind.strategy {
        let change = |new, old| [vec![context("WriteContext")], Parameter::change(new, old, shown).to_vec()].concat();
        let (parameters, returns) = match hook.word.as_str() {
            "warnings" => (change(Passing::Shared, Passing::Optional), "Vec"),
            "rows" => (vec![object], "Vec"),
            "order" => (vec![object], "i64"),
            "holds" => (vec![object], "bool"),
            "delete" => {
                let object = Parameter::new("object", Passing::Mutable, ParameterType::Struct(shown));
                (vec![context("WriteContext"), object], "")
            }
            "grace" => {
                (vec![Parameter::new("requested", Passing::Optional, ParameterType::Named("i64")), object], "Option")
            }
            "create" => (change(Passing::Mutable, Passing::Optional), ""),
            _ => (change(Passing::Mutable, Passing::Shared), ""),
        };
        out.push(wanted(&hook.function, parameters, returns));
    }
    for field in kind.resource.iter().flat_map(|resource| &resource.selectable) {
        out.extend(field.by_hand.iter().map(|name| wanted(name, vec![object], "String")));
    }
    out
}
