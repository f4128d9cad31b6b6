//! CEL rules of declared types (`#[rule]`). They run on the JSON tree of an object, with the messages,
//! the cost model and the limits of custom resource rules. So a declared kind and its exported
//! definition give the same results.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use cel::{
    CostBudget, ElementType, FieldType, Merge, ObjectFields, ObjectType, Rule, RuleOutcome, RuleText, SELF_TYPE, Type,
    escape,
};
use machinery::def::{self, FieldDef, Flags, RuleDef, Scalar, Shape, StructDef};
use machinery::json;
use machinery::reflect::Ref;
use machinery::validate::{RuleEvaluator, RuleFailure};
use serde_json::{Map, Value};

/// The type of a struct, and its compiled rules in order of declaration.
struct Compiled {
    of: Type,
    rules: Vec<(&'static RuleDef, Rule)>,
}

/// Compiled structs by the address of their descriptor. Descriptors are static data.
static COMPILED: LazyLock<RwLock<HashMap<usize, Arc<Compiled>>>> = LazyLock::new(RwLock::default);

/// Evaluates the rules of one write, which share the budget of an object (`RuntimeCELCostBudget`).
#[derive(Default)]
pub struct CelRules {
    budget: Cell<CostBudget>,
    /// Whether a rule has used up the budget; then no further rules run.
    stopped: Cell<bool>,
}

impl RuleEvaluator for CelRules {
    fn evaluate(&self, new: Ref<'_>, old: Option<Ref<'_>>, report: &mut dyn FnMut(&'static RuleDef, RuleFailure)) {
        if self.stopped.get() {
            return;
        }
        let compiled = compiled(new.def());
        let (new, old) = (document(new), old.map(document));
        let mut budget = self.budget.get();
        for (declared, rule) in &compiled.rules {
            let failure = match rule.run(&compiled.of, &new, old.as_ref(), &mut budget) {
                RuleOutcome::Holds => continue,
                RuleOutcome::Broken => RuleFailure::Broken(rule.message(&compiled.of, &new, old.as_ref(), &mut budget)),
                RuleOutcome::Failed(why) => RuleFailure::Failed(why),
                RuleOutcome::Stop(why) => {
                    self.stopped.set(true);
                    RuleFailure::Failed(why)
                }
            };
            report(declared, failure);
            if self.stopped.get() {
                break;
            }
        }
        self.budget.set(budget);
    }
}

/// Returns an object as rules see it: an empty list or map that is serialized is not null.
fn document(of: Ref<'_>) -> Value {
    let mut document = json::to_value(of);
    show_empty(of.def(), &mut document);
    document
}

fn show_empty(def: &'static StructDef, document: &mut Value) {
    let Some(members) = document.as_object_mut() else { return };
    for field in def.fields {
        let Some(value) = members.get_mut(field.json) else { continue };
        match (field.shape(), value) {
            (Shape::List(_) | Shape::StructList(..), value @ Value::Null) => *value = Value::Array(Vec::new()),
            (Shape::Map(_) | Shape::StructMap(..), value @ Value::Null) => *value = Value::Object(Map::new()),
            (Shape::Struct(below) | Shape::OptStruct(below), value) => show_empty(below, value),
            (Shape::StructList(below, _), Value::Array(items)) => {
                items.iter_mut().for_each(|item| show_empty(below, item));
            }
            (Shape::StructMap(below, _), Value::Object(entries)) => {
                entries.values_mut().for_each(|entry| show_empty(below, entry));
            }
            _ => {}
        }
    }
}

fn compiled(def: &'static StructDef) -> Arc<Compiled> {
    let address = std::ptr::from_ref(def).addr();
    if let Some(compiled) = COMPILED.read().unwrap_or_else(PoisonError::into_inner).get(&address) {
        return compiled.clone();
    }
    let of = object(def, SELF_TYPE, &mut Walk { metadata: Metadata::Names, around: vec![def] });
    let rules = def.rules.iter().map(|declared| {
        let text = RuleText {
            rule: declared.expression,
            message: declared.message,
            message_expression: declared.message_expression,
            optional_old_self: declared.optional_old_self,
        };
        (declared, Rule::compile(&text, &of, |compile| compile()))
    });
    let compiled = Arc::new(Compiled { rules: rules.collect(), of });
    COMPILED.write().unwrap_or_else(PoisonError::into_inner).entry(address).or_insert(compiled).clone()
}

/// The fields of `metadata` in expressions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Metadata {
    /// `name` and `generateName`, as in rules of definitions.
    Names,
    /// All, as in documents of OpenAPI.
    Whole,
}

/// The way to a struct whose type is built.
struct Walk {
    metadata: Metadata,
    /// The enclosing structs, with this one.
    around: Vec<&'static StructDef>,
}

/// Returns the type of the objects of a kind, with their whole metadata.
pub fn kind_type(def: &'static StructDef, name: &str) -> Type {
    object(def, name, &mut Walk { metadata: Metadata::Whole, around: vec![def] })
}

/// Returns the type of a struct as the schema of its exported definition has it
/// (`cel/common.SchemaDeclType`). A recursive reference has the type `dyn`.
fn object(def: &'static StructDef, name: &str, walk: &mut Walk) -> Type {
    let mut fields = HashMap::new();
    add_fields(def, name, walk, &mut fields);
    let is_kind = def.fields.iter().any(|field| field.json == "metadata" && is_object_meta(field));
    if is_kind && (walk.metadata == Metadata::Names || walk.around.len() == 1) {
        for json in ["kind", "apiVersion"] {
            fields.insert(json.to_owned(), FieldType { json: json.to_owned(), of: Type::String });
        }
    }
    if is_kind && walk.metadata == Metadata::Names {
        let names = [("name", Type::String), ("generateName", Type::String)];
        let of = Type::object(ObjectType::new(format!("{name}.metadata"), names));
        fields.insert("metadata".to_owned(), FieldType { json: "metadata".to_owned(), of });
    }
    Type::object(ObjectType { name: name.to_owned(), fields: ObjectFields::Known(fields.into_iter().collect()) })
}

fn is_object_meta(field: &FieldDef) -> bool {
    field.shape().struct_def().is_some_and(|def| def.name == "ObjectMeta")
}

fn add_fields(def: &'static StructDef, name: &str, walk: &mut Walk, fields: &mut HashMap<String, FieldType>) {
    for field in def.fields {
        if let (true, Shape::Struct(inlined)) = (field.flags.has(Flags::INLINE), field.shape()) {
            add_fields(inlined, name, walk, fields);
            continue;
        }
        let of = field_type(field, &format!("{name}.{}", field.json), walk);
        if let (Some(of), Some(escaped)) = (of, escape(field.json)) {
            fields.insert(escaped, FieldType { json: field.json.to_owned(), of });
        }
    }
}

fn field_type(field: &'static FieldDef, name: &str, walk: &mut Walk) -> Option<Type> {
    let list = |item: Type| {
        let merge = match field.info.list {
            def::ListType::Set => Merge::Set,
            def::ListType::Map(keys) => Merge::Map(keys.iter().map(|key| (*key).to_owned()).collect()),
            def::ListType::Atomic | def::ListType::Unset => Merge::Atomic,
        };
        Type::List(Arc::new(ElementType { item, merge }))
    };
    Some(match field.shape() {
        Shape::One(of) | Shape::Opt(of) => scalar(of, name)?,
        Shape::List(of) => list(scalar(of, name)?),
        Shape::Map(of) => Type::map(Type::String, scalar(of, name)?),
        Shape::Struct(of) | Shape::OptStruct(of) => below(of, name, walk),
        Shape::StructList(of, _) => list(below(of, &format!("{name}.@idx"), walk)),
        Shape::StructMap(of, _) => Type::map(Type::String, below(of, &format!("{name}.@elem"), walk)),
    })
}

fn below(def: &'static StructDef, name: &str, walk: &mut Walk) -> Type {
    if walk.around.iter().any(|around| std::ptr::eq(*around, def)) {
        return Type::Dyn;
    }
    walk.around.push(def);
    let of = object(def, name, walk);
    walk.around.pop();
    of
}

fn scalar(of: Scalar, name: &str) -> Option<Type> {
    Some(match of {
        Scalar::Bool => Type::Bool,
        Scalar::I32 | Scalar::I64 => Type::Int,
        Scalar::F64 => Type::Double,
        Scalar::String | Scalar::Duration => Type::String,
        Scalar::Bytes => Type::Bytes,
        Scalar::Time | Scalar::MicroTime => Type::Timestamp,
        Scalar::Quantity | Scalar::IntOrString => Type::Dyn,
        Scalar::RawExtension | Scalar::FieldsV1 => Type::object(ObjectType::new(name, [])),
        Scalar::Json | Scalar::Document => return None,
    })
}

#[cfg(test)]
mod tests {
    use machinery::def::FieldInfo;
    use machinery::describe;
    use machinery::field_path::Path;
    use machinery::hooks::WriteContext;
    use machinery::validate::{Half, ValidationScope, Validator};

    use super::*;

    #[derive(Clone, Default)]
    struct Workers {
        min: i32,
        max: i32,
        steps: Vec<Step>,
    }

    #[derive(Clone, Default)]
    struct Step {
        name: String,
        pause: Option<i64>,
    }

    const fn rule(expression: &'static str, field: &'static str, reason: &'static str) -> RuleDef {
        RuleDef { expression, field, message: "", message_expression: "", reason, optional_old_self: false }
    }

    const ORDER: RuleDef = RuleDef {
        message_expression: "'%d is above %d'.format([self.min, self.max])",
        ..rule("self.min <= self.max", "min", "")
    };

    describe! { Workers, WORKERS "Workers" {
        .rules(&[ORDER, rule("self.max >= oldSelf.max", "max", "Forbidden"), rule("self.absent", "", "")])
    } [
        min:   "min",   1, Flags::REQUIRED;
        max:   "max",   2, Flags::REQUIRED;
        steps: "steps", 3, Flags::OMIT_EMPTY, &FieldInfo::PLAIN;
    ] }

    describe! { Step, STEP "Step" { .rules(&[rule("!has(self.pause) || self.pause > 0", "pause", "Required")]) } [
        name:  "name",  1, Flags::REQUIRED;
        pause: "pause", 2, Flags::OMIT_EMPTY;
    ] }

    fn check(new: &Workers, old: Option<&Workers>) -> Vec<String> {
        let (rules, context) = (CelRules::default(), WriteContext::default());
        let mut errors = Vec::new();
        Validator { scope: ValidationScope::Declared, half: Half::Both, context: &context, rules: Some(&rules) }
            .validate(Ref::of(new), old.map(Ref::of), &Path::NONE, &mut errors);
        let reported = errors.iter().map(|error| format!("{}: {}", error.field, error.body()));
        // The last rule uses an undefined field.
        reported.filter(|text| !text.contains("undefined field 'absent'")).collect()
    }

    #[test]
    fn rules_are_run_on_the_object_and_on_what_is_in_it() {
        let fine = Workers { min: 1, max: 2, steps: vec![Step { name: "a".into(), pause: Some(1) }] };
        assert_eq!(check(&fine, None), [""; 0]);
        let broken = Workers { min: 3, steps: vec![Step { pause: Some(0), ..Step::default() }], ..fine.clone() };
        assert_eq!(
            check(&broken, None),
            [
                "steps[0].name: Required value",
                "steps[0].pause: Required value: failed rule: !has(self.pause) || self.pause > 0",
                "min: Invalid value: 3 is above 2",
            ]
        );
    }

    #[test]
    fn empty_lists_are_not_null() {
        #[derive(Clone, Default)]
        struct Listed {
            names: Vec<String>,
        }
        const NAMED: RuleDef = rule("self.names.all(name, name != 'a')", "names", "");
        describe! { Listed, LISTED "Listed" { .rules(&[NAMED]) } [
            names: "names", 1, Flags::NONE, &FieldInfo::PLAIN;
        ] }
        let mut reported = Vec::new();
        let rules = CelRules::default();
        rules.evaluate(Ref::of(&Listed::default()), None, &mut |_, failure| reported.push(failure));
        assert_eq!(reported, []);
        let named = Listed { names: vec!["a".into()] };
        rules.evaluate(Ref::of(&named), None, &mut |_, failure| reported.push(failure));
        assert_eq!(reported.len(), 1);
    }

    #[test]
    fn transition_rules_see_the_stored_object() {
        let old = Workers { min: 1, max: 4, ..Workers::default() };
        let new = Workers { max: 3, ..old.clone() };
        assert_eq!(check(&new, Some(&old)), ["max: Forbidden: failed rule: self.max >= oldSelf.max"]);
        assert_eq!(check(&old, Some(&new)), [""; 0]);
    }

    #[test]
    fn a_rule_that_does_not_compile_refuses_the_object() {
        let (rules, context) = (CelRules::default(), WriteContext::default());
        let mut errors = Vec::new();
        let validator =
            Validator { scope: ValidationScope::Declared, half: Half::Both, context: &context, rules: Some(&rules) };
        validator.validate(Ref::of(&Workers::default()), None, &Path::NONE, &mut errors);
        assert!(errors[0].body().contains("rule compile error"), "{errors:?}");
    }

    #[test]
    fn rules_stop_when_their_budget_is_used_up() {
        let rules =
            CelRules { budget: Cell::new(CostBudget { left: 0, ..CostBudget::default() }), ..CelRules::default() };
        let mut reported = Vec::new();
        let workers = Workers::default();
        for _ in 0..2 {
            rules.evaluate(Ref::of(&workers), None, &mut |_, failure| reported.push(failure));
        }
        let [RuleFailure::Failed(why)] = &reported[..] else { panic!("{reported:?}") };
        assert!(why.contains("running out of cost budget"), "{why}");
    }
}
