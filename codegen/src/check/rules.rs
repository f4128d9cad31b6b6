//! Checks of CEL in `#[rule]`: each expression is parsed and type-checked with the types of an exported
//! definition's schema.

use std::collections::BTreeMap;
use std::sync::Arc;

use cel::{
    ElementType, Environment, FieldType, Merge, ObjectFields, ObjectType, SELF_TYPE, Type, compile, escape,
    rule_environment,
};

use super::Checker;
use crate::diagnostics::{Code, Diagnostic, codes};
use crate::model::{self, ListSemantics, Model, Role, Struct, StructId, TypeRef};
use crate::paths;

impl Checker<'_> {
    /// Checks the rules of a struct: their expressions, and the fields that they refer to. A version's
    /// own form inherits its hub's rules, and has to declare its own where its fields differ.
    pub(super) fn rules(&mut self, one: &Struct) {
        if one.rules.is_empty() || self.broken.contains(&one.span.file) {
            return;
        }
        let Some(index) = self.model.structs.iter().position(|other| std::ptr::eq(other, one)) else { return };
        let hub = one.conversion.as_ref().and_then(|conversion| conversion.hub);
        for rule in &one.rules {
            let is_inherited = |hub: &StructId| self.model.structs[hub.0].rules.contains(rule);
            let inherited = hub.filter(is_inherited);
            if inherited.is_some_and(|hub| !mistakes(self.model, hub, rule).is_empty()) {
                continue; // reported at the hub
            }
            for mistake in mistakes(self.model, StructId(index), rule) {
                self.push(if inherited.is_some() { mistake.inherited(one, rule) } else { mistake.of(rule) });
            }
        }
    }
}

/// An error in a rule of a struct.
struct Mistake {
    code: Code,
    problem: String,
    /// The expression, with a mark at the error.
    shown: Option<String>,
}

impl Mistake {
    fn of(self, rule: &model::Rule) -> Diagnostic {
        let diagnostic = Diagnostic::error(self.code, &rule.span, self.problem);
        self.shown.iter().fold(diagnostic, |diagnostic, shown| diagnostic.help(format!("in\n{shown}")))
    }

    /// The diagnostic for a version that inherits the rule.
    fn inherited(self, one: &Struct, rule: &model::Rule) -> Diagnostic {
        let (version, name) = (&one.version, &one.name);
        let here = Mistake { problem: format!("in {version}: {}", self.problem), ..self };
        here.of(rule).help(format!(
            "{version} inherits this rule; say its own in `mod {version}`:\n\
             #[differs({name})] #[rule(..)] struct {name} {{}}"
        ))
    }
}

fn mistakes(model: &Model, id: StructId, rule: &model::Rule) -> Vec<Mistake> {
    let of = Types { model, around: vec![id] }.object(&model.structs[id.0], SELF_TYPE);
    let environment = rule_environment(&of, rule.optional_old_self);
    let message = Some(&rule.message_expression).filter(|text| !text.is_empty());
    let message = message.and_then(|text| expression(text, &environment, &Type::String, "a string"));
    let field = Some(&rule.field).filter(|path| !path.is_empty());
    let field = field.and_then(|path| paths::follow(model, id, path).err());
    let field = field.map(|why| Mistake { code: codes::PATH, problem: why.to_string(), shown: None });
    let rule = expression(&rule.expression, &environment, &Type::Bool, "true or false");
    rule.into_iter().chain(message).chain(field).collect()
}

fn expression(text: &str, environment: &Environment, wanted: &Type, words: &str) -> Option<Mistake> {
    let why = match compile(text, environment) {
        Ok(program) if matches!(program.output(), Type::Dyn) || program.output() == wanted => return None,
        Ok(program) => format!("this has to give {words}, and its type is {}\n{text}", program.output()),
        Err(error) => error.to_string(),
    };
    let (problem, shown) = why.split_once('\n').unwrap_or((&why, text));
    Some(Mistake { code: codes::CEL, problem: without_place(problem).into(), shown: Some(shown.into()) })
}

/// Removes the position from `ERROR: <input>:1:5: undefined field`; the lines below show it.
fn without_place(problem: &str) -> &str {
    match problem.strip_prefix("ERROR: <input>:") {
        Some(placed) => placed.splitn(3, ':').last().unwrap_or(placed).trim_start(),
        None => problem,
    }
}

/// CEL types derived from the model.
struct Types<'m> {
    model: &'m Model,
    /// The enclosing structs; a struct that contains itself has type `dyn` there.
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
                fields.insert(json.to_string(), FieldType { json: json.to_string(), of });
            }
        }
        Type::object(ObjectType { name: name.to_string(), fields: ObjectFields::Known(fields.into_iter().collect()) })
    }

    fn fields(&mut self, one: &'m Struct, name: &str, fields: &mut BTreeMap<String, FieldType>) {
        for field in &one.fields {
            if let (true, TypeRef::Struct(id)) = (field.inline, &field.ty) {
                self.fields(&self.model.structs[id.0], name, fields);
                continue;
            }
            let of = self.of(&field.ty, field.list.as_ref(), &format!("{name}.{}", field.json));
            if let (Some(of), Some(escaped)) = (of, escape(&field.json)) {
                fields.insert(escaped, FieldType { json: field.json.clone(), of });
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
                Type::List(Arc::new(ElementType { item: self.of(item, None, &format!("{name}.@idx"))?, merge }))
            }
            TypeRef::Map(values) => Type::map(Type::String, self.of(values, None, &format!("{name}.@elem"))?),
        })
    }
}
