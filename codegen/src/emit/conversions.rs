//! Conversions between a version's own structs and the hub's: plain moves, plus the pairs that a definition names.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::rust::{Paths, ident, snake};
use super::{File, functions, print};
use crate::model::{Conversion, Field, Model, Package, Struct, StructId, TypeRef};

/// `src/<module>/conversions.rs` for each group with versions that differ.
pub fn files(model: &Model, package: Package) -> Vec<File> {
    let paths = Paths { model, package };
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    for (index, s) in model.structs.iter().enumerate() {
        if let Some(conversion) = s.conversion.as_ref().filter(|_| paths.package_of(&s.module) == package)
            && let Some(hub) = conversion.hub
        {
            let text = texts.entry(&s.module).or_default();
            for direction in [Direction::ToHub, Direction::FromHub] {
                text.push_str(&Pair { paths, here: StructId(index), hub, conversion, direction }.function());
            }
        }
    }
    texts
        .into_iter()
        .map(|(module, body)| {
            let bytes = print::file("Moves between versions of this group and their hub forms.", &print::apart(&body));
            File { path: format!("src/{module}/conversions.rs"), bytes }
        })
        .collect()
}

/// Whether a group has a conversions module.
pub fn exist(model: &Model, module: &str) -> bool {
    model.structs.iter().any(|s| s.module == module && s.conversion.as_ref().is_some_and(|c| c.hub.is_some()))
}

/// Path of the conversion function of a struct, as seen from `paths.package`.
pub fn function_path(paths: Paths<'_>, s: &Struct, direction: Direction) -> String {
    format!("{}::{}", paths.module(&s.module, "conversions"), function_name(s, direction))
}

fn function_name(s: &Struct, direction: Direction) -> String {
    let suffix = match direction {
        Direction::ToHub => "to_hub",
        Direction::FromHub => "from_hub",
    };
    format!("{}_{}_{suffix}", s.version, snake(&s.name))
}

/// Which way a conversion goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    ToHub,
    FromHub,
}

/// One function: a struct, its hub form, a direction.
struct Pair<'m> {
    paths: Paths<'m>,
    here: StructId,
    hub: StructId,
    conversion: &'m Conversion,
    direction: Direction,
}

impl Pair<'_> {
    fn function(&self) -> String {
        let here = self.paths.structure(self.here);
        let (from, to) = match self.direction {
            Direction::ToHub => (self.here, self.hub),
            Direction::FromHub => (self.hub, self.here),
        };
        let mut moves = String::new();
        let (source, target) = (self.paths.structure(from), self.paths.structure(to));
        if source.role != crate::model::Role::Part {
            moves.push_str("        type_meta: std::mem::take(&mut from.type_meta),\n");
        }
        let mut moved = 0;
        for field in &target.fields {
            if let Some(origin) = self.origin(field, source) {
                let place = format!("std::mem::take(&mut from.{})", ident(&origin.name));
                let _ = writeln!(moves, "        {}: {},", ident(&field.name), self.value(origin, field, place));
                moved += 1;
            }
        }
        if moved < target.fields.len() {
            moves.push_str("        ..Default::default()\n");
        }
        let mutable = if self.conversion.by_hand.is_empty() { "" } else { "mut " };
        let mut text = format!(
            "pub fn {}(from: &mut {}) -> {} {{\n    let {mutable}to = {} {{\n{moves}    }};\n",
            function_name(here, self.direction),
            self.paths.path(from),
            self.paths.path(to),
            self.paths.path(to)
        );
        for hatch in &self.conversion.by_hand {
            let suffix = if self.direction == Direction::ToHub { "to_hub" } else { "from_hub" };
            let function = functions::place(self.paths.model, &here.module, &format!("{hatch}_{suffix}"));
            let _ = writeln!(text, "    crate::{function}(from, &mut to);");
        }
        text.push_str("    to\n}\n\n");
        text
    }

    /// The field of the source that moves into `field` of the target.
    fn origin<'s>(&self, field: &Field, source: &'s Struct) -> Option<&'s Field> {
        let by_hand = |f: &Field| {
            let names = [&self.conversion.here_only, &self.conversion.hub_only];
            names.iter().any(|list| list.iter().any(|n| *n == f.json || *n == f.name))
        };
        if by_hand(field) {
            return None;
        }
        let renamed = self.conversion.renames.iter().find_map(|(here, hub)| match self.direction {
            Direction::ToHub => (*hub == field.json || *hub == field.name).then_some(here),
            Direction::FromHub => (*here == field.json || *here == field.name).then_some(hub),
        });
        match renamed {
            Some(name) => source.fields.iter().find(|f| f.json == *name || f.name == *name),
            None => source.fields.iter().find(|f| f.name == field.name && !by_hand(f)),
        }
    }

    /// The moved value, with structs below converted, `Option` added or taken off where the sides differ.
    fn value(&self, from: &Field, to: &Field, place: String) -> String {
        let is_struct = matches!(from.ty, TypeRef::Struct(_));
        let identity = from.ty == to.ty;
        if is_struct && !from.nullable && !identity {
            // What is not moved stays where a pair of a struct above finds it.
            let inner = self.convert(&from.ty, &to.ty, &format!("from.{}", ident(&from.name)));
            return if to.nullable { format!("Some(Box::new({inner}))") } else { inner };
        }
        let inner = self.convert(&from.ty, &to.ty, if from.nullable && is_struct && identity { "*v" } else { "v" });
        let v = binding(&from.ty, &to.ty);
        match (from.nullable, to.nullable) {
            (true, true) if identity => place,
            (true, true) if is_struct => format!("{place}.map(|{v}| Box::new({inner}))"),
            (true, true) => format!("{place}.map(|{v}| {inner})"),
            (true, false) => format!("{{ let {v} = {place}.unwrap_or_default(); {inner} }}"),
            (false, true) if is_struct => format!("{{ let {v} = {place}; Some(Box::new({inner})) }}"),
            (false, true) => format!("{{ let {v} = {place}; Some({inner}) }}"),
            (false, false) if identity => place,
            (false, false) => format!("{{ let {v} = {place}; {inner} }}"),
        }
    }

    /// An expression that turns `v` of one type into the other.
    fn convert(&self, from: &TypeRef, to: &TypeRef, v: &str) -> String {
        match (from, to) {
            _ if from == to => v.to_string(),
            (TypeRef::Struct(a), TypeRef::Struct(b)) => {
                let (own, direction) = match self.direction {
                    Direction::ToHub => (self.paths.structure(*a), Direction::ToHub),
                    Direction::FromHub => (self.paths.structure(*b), Direction::FromHub),
                };
                format!("{}(&mut {v})", function_path(self.paths, own, direction))
            }
            (TypeRef::List(a), TypeRef::List(b)) => {
                format!("{v}.into_iter().map(|{}| {}).collect()", binding(a, b), self.convert(a, b, "v"))
            }
            (TypeRef::Map(a), TypeRef::Map(b)) => {
                format!("{v}.into_iter().map(|(k, {})| (k, {})).collect()", binding(a, b), self.convert(a, b, "v"))
            }
            _ => v.to_string(),
        }
    }
}

/// The pattern that binds a value to be converted: structs are taken apart in place.
fn binding(from: &TypeRef, to: &TypeRef) -> &'static str {
    if from != to && matches!(from, TypeRef::Struct(_)) { "mut v" } else { "v" }
}
