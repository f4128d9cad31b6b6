//! CEL of `#[rule]`: parsed and type-checked where it stands, with the types that the schema of an exported definition gives.

use std::collections::BTreeMap;
use std::sync::Arc;

use cel::{
    Environment, Field, Fields, ListType, Merge, ObjectType, SELF_TYPE, Type, compile, escape, rule_environment,
};

use super::Checker;
use crate::diagnostics::{Diagnostic, codes};
use crate::model::{self, ListSemantics, Model, Role, Struct, StructId, TypeRef};

impl Checker<'_> {
    /// The expressions of a struct's rules. A version's own form inherits those of its hub, which are about the hub's fields.
    pub(super) fn rules(&mut self, one: &Struct) {
        if one.rules.is_empty() || one.conversion.is_some() || self.broken.contains(&one.span.file) {
            return;
        }
        let Some(index) = self.model.structs.iter().position(|other| std::ptr::eq(other, one)) else { return };
        let of = Types { model: self.model, around: vec![StructId(index)] }.object(one, SELF_TYPE);
        for rule in &one.rules {
            let environment = rule_environment(&of, rule.optional_old_self);
            self.expression(rule, &rule.expression, &environment, &Type::Bool, "true or false");
            if !rule.message_expression.is_empty() {
                self.expression(rule, &rule.message_expression, &environment, &Type::String, "a string");
            }
        }
    }

    fn expression(&mut self, rule: &model::Rule, text: &str, environment: &Environment, wanted: &Type, words: &str) {
        let why = match compile(text, environment) {
            Ok(program) if matches!(program.output(), Type::Dyn) || program.output() == wanted => return,
            Ok(program) => format!("this has to give {words}, and its type is {}\n{text}", program.output()),
            Err(error) => error.to_string(),
        };
        let (problem, shown) = why.split_once('\n').unwrap_or((&why, text));
        let diagnostic = Diagnostic::error(codes::CEL, &rule.span, without_place(problem));
        self.push(diagnostic.help(format!("in\n{shown}")));
    }
}

/// `ERROR: <input>:1:5: undefined field` without its place, which the lines below show.
fn without_place(problem: &str) -> &str {
    match problem.strip_prefix("ERROR: <input>:") {
        Some(placed) => placed.splitn(3, ':').last().unwrap_or(placed).trim_start(),
        None => problem,
    }
}

/// Types of expressions, made from the model.
struct Types<'m> {
    model: &'m Model,
    /// The structs around the one at hand: what contains itself has any type there.
    around: Vec<StructId>,
}

impl<'m> Types<'m> {
    fn object(&mut self, one: &'m Struct, name: &str) -> Type {
        let mut fields = BTreeMap::new();
        self.fields(one, name, &mut fields);
        if one.role == Role::Object {
            let names = [("name", Type::String), ("generateName", Type::String)];
            let metadata = Type::object(ObjectType::new(format!("{name}.metadata"), names));
            for (json, of) in [("kind", Type::String), ("apiVersion", Type::String), ("metadata", metadata)] {
                fields.insert(json.to_string(), Field { json: json.to_string(), of });
            }
        }
        Type::object(ObjectType { name: name.to_string(), fields: Fields::Known(fields.into_iter().collect()) })
    }

    fn fields(&mut self, one: &'m Struct, name: &str, fields: &mut BTreeMap<String, Field>) {
        for field in &one.fields {
            if let (true, TypeRef::Struct(id)) = (field.inline, &field.ty) {
                self.fields(&self.model.structs[id.0], name, fields);
                continue;
            }
            let of = self.of(&field.ty, field.list.as_ref(), &format!("{name}.{}", field.json));
            if let (Some(of), Some(escaped)) = (of, escape(&field.json)) {
                fields.insert(escaped, Field { json: field.json.clone(), of });
            }
        }
    }

    fn of(&mut self, ty: &'m TypeRef, list: Option<&ListSemantics>, name: &str) -> Option<Type> {
        Some(match ty {
            TypeRef::Bool => Type::Bool,
            TypeRef::I32 | TypeRef::I64 => Type::Int,
            TypeRef::F64 => Type::Double,
            TypeRef::String | TypeRef::Duration | TypeRef::Enum(_) => Type::String,
            TypeRef::Bytes => Type::Bytes,
            TypeRef::Time | TypeRef::MicroTime => Type::Timestamp,
            TypeRef::Quantity | TypeRef::IntOrString => Type::Dyn,
            TypeRef::RawExtension | TypeRef::FieldsV1 => Type::object(ObjectType::new(name, [])),
            TypeRef::Json => return None,
            TypeRef::Struct(id) if self.around.contains(id) => Type::Dyn,
            TypeRef::Struct(id) => {
                self.around.push(*id);
                let of = self.object(&self.model.structs[id.0], name);
                self.around.pop();
                of
            }
            TypeRef::List(item) => {
                let merge = match list {
                    Some(ListSemantics::Set) => Merge::Set,
                    Some(ListSemantics::Map(keys)) => Merge::Map(keys.clone()),
                    Some(ListSemantics::Atomic) | None => Merge::Atomic,
                };
                Type::List(Arc::new(ListType { item: self.of(item, None, &format!("{name}.@idx"))?, merge }))
            }
            TypeRef::Map(values) => Type::map(Type::String, self.of(values, None, &format!("{name}.@elem"))?),
        })
    }
}
