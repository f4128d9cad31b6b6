//! Tests of the language: results of expressions, and error messages.

use std::sync::Arc;

use cel::{CostBudget, Environment, Error, FieldType, ObjectFields, ObjectType, Type, Value, compile};
use serde_json::json;

/// `self` has two declared fields, `object` is dynamic.
fn environment() -> Environment {
    let of = ObjectType::new("selfType", [("a", Type::Int), ("tags", Type::list(Type::String))]);
    Environment::new([
        ("self", Type::object(of)),
        ("object", Type::Dyn),
        ("variables", Type::object(ObjectType::new("v", []))),
    ])
}

fn evaluate(source: &str, budget: &mut CostBudget) -> Result<String, Error> {
    let object = json!({"name": "x", "n": 3, "list": [1, 2, 3], "map": {"k": "v"}, "f": 1.5, "none": null});
    let itself = json!({"a": 5, "tags": ["x", "yy"]});
    let of = Type::object(ObjectType::new("selfType", [("a", Type::Int), ("tags", Type::list(Type::String))]));
    let program = compile(source, &environment())?;
    let variables = [("self", Value::json(&itself, &of)), ("object", Value::untyped(&object))];
    let value = program.evaluate(&variables, budget)?;
    value.to_json().map(|json| json.to_string())
}

#[track_caller]
fn check(table: &[(&str, &str)]) {
    for (source, expect) in table {
        let outcome = evaluate(source, &mut CostBudget::default());
        assert_eq!(outcome.unwrap_or_else(|e| e.to_string()), *expect, "{source}");
    }
}

#[test]
fn operators_and_selection() {
    check(&[
        ("1 + 2 * 3 - 4 / 2 % 3", "5"),
        ("-5 + --5", "0"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("0x1F + 1", "32"),
        ("1.5e1 + 0.5", "15.5"),
        ("2u * 3u", "6"),
        ("1 < 2.5 && 3u >= 3", "true"),
        ("'a' + \"b\" + '''c'''", "\"abc\""),
        (r"'\x41\u00e9\101' == 'AéA'", "true"),
        (r"r'\n' == '\\n'", "true"),
        ("b'abc'", "\"YWJj\""),
        ("true ? 'y' : 'n'", "\"y\""),
        ("self.a == 5 && self.tags[1] == 'yy'", "true"),
        ("object.map.k + object.map['k']", "\"vv\""),
        ("'k' in object.map && 2 in object.list && !('z' in object.map)", "true"),
        ("has(object.map.z) || has(self.a)", "true"),
        ("object.none == null", "true"),
        ("object.f == 1.5 && object.n == 3.0", "true"),
        (
            "[1, 2] + [3] == [1, 2, 3] && {'a': 1} == {'a': 1.0}",
            "ERROR: <input>:1:39: found no matching overload for '_==_' applied to '(map(string, int), map(string, double))'\n | [1, 2] + [3] == [1, 2, 3] && {'a': 1} == {'a': 1.0}\n | ......................................^",
        ),
        ("object.nope == 1 || true", "true"),
        ("false && object.nope == 1", "false"),
        ("object.nope", "no such key: nope"),
        ("1 / 0", "division by zero"),
        ("9223372036854775807 + 1", "integer overflow"),
        ("object.none.x", "no such key: x"),
        ("has(object.none.x) || has(object.n.x)", "false"),
        ("object.list.x", "unsupported index type 'string' in list"),
        ("object.list[7]", "index out of bounds: 7"),
        ("object.name + object.n", "no such overload"),
    ]);
}

#[test]
fn macros() {
    check(&[
        ("self.tags.all(t, t.size() > 0)", "true"),
        ("self.tags.exists(t, t == 'yy') && self.tags.exists_one(t, t == 'x')", "true"),
        ("object.list.map(x, x * 2)", "[2,4,6]"),
        ("object.list.map(x, x > 1, x * 2)", "[4,6]"),
        ("object.list.filter(x, x != 2)", "[1,3]"),
        ("object.map.all(k, k == 'k')", "true"),
        ("object.list.exists(x, x == 3 || object.nope)", "true"),
        ("object.list.all(i, x, i + 1 == x)", "true"),
        ("object.map.transformMap(k, v, v + k)", "{\"k\":\"vk\"}"),
        ("object.list.transformList(i, x, i * x)", "[0,2,6]"),
        ("object.?map.?k.orValue('-') + object.?no.?k.orValue('-')", "\"v-\""),
        ("object.?n.optMap(n, n + 1).value()", "4"),
        ("[?object.?n, ?object.?nope]", "[3]"),
        ("{?'n': object.?n, ?'z': object.?z}", "{\"n\":3}"),
        ("optional.none().hasValue()", "false"),
        ("optional.none().value()", "optional.none() dereference"),
        (
            "object.list.all(1, true)",
            "ERROR: <input>:1:17: argument must be a simple name\n | object.list.all(1, true)\n | ................^",
        ),
        ("has(self)", "ERROR: <input>:1:5: invalid argument to has() macro\n | has(self)\n | ....^"),
    ]);
}

#[test]
fn error_messages_match_upstream() {
    const OPERAND: &str = "expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
    check(&[
        ("", &format!("ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' {OPERAND}")),
        (
            "self.a >",
            &format!("ERROR: <input>:1:9: Syntax error: mismatched input '<EOF>' {OPERAND}\n | self.a >\n | ........^"),
        ),
        (
            "'a",
            &format!(
                "ERROR: <input>:1:1: Syntax error: token recognition error at: ''a'\n | 'a\n | ^\nERROR: <input>:1:3: Syntax error: mismatched input '<EOF>' {OPERAND}\n | 'a\n | ..^"
            ),
        ),
        ("object.", "ERROR: <input>:1:8: Syntax error: no viable alternative at input '.'\n | object.\n | .......^"),
        (
            "Not Valid!",
            "ERROR: <input>:1:5: Syntax error: mismatched input 'Valid' expecting <EOF>\n | Not Valid!\n | ....^",
        ),
        ("1 + 1x", "ERROR: <input>:1:6: Syntax error: extraneous input 'x' expecting <EOF>\n | 1 + 1x\n | .....^"),
        ("a[1", "ERROR: <input>:1:4: Syntax error: missing ']' at '<EOF>'\n | a[1\n | ...^"),
        ("nope.x == 1", "ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')\n | nope.x == 1\n | ^"),
        ("foo(self.a)", "ERROR: <input>:1:4: undeclared reference to 'foo' (in container '')\n | foo(self.a)\n | ...^"),
        ("self.b > 1", "ERROR: <input>:1:5: undefined field 'b'\n | self.b > 1\n | ....^"),
        (
            "self.a == 'x'",
            "ERROR: <input>:1:8: found no matching overload for '_==_' applied to '(int, string)'\n | self.a == 'x'\n | .......^",
        ),
        (
            "self.a.size()",
            "ERROR: <input>:1:12: found no matching overload for 'size' applied to 'int.()'\n | self.a.size()\n | ...........^",
        ),
        (
            "true &&\n1",
            "ERROR: <input>:1:6: found no matching overload for '_&&_' applied to '(bool, int)'\n | true &&\n | .....^",
        ),
        ("self.a.b", "ERROR: <input>:1:7: type 'int' does not support field selection\n | self.a.b\n | ......^"),
    ]);
}

#[test]
fn rejects_deep_or_costly_expressions() {
    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let small_stack = |source: String| {
        let run = move || {
            evaluate(&source, &mut CostBudget::default())
                .map_err(|e| e.to_string().lines().next().unwrap_or_default().to_owned())
        };
        std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap()
    };
    assert!(small_stack(nested(240)).is_ok());
    let error = small_stack(nested(300)).unwrap_err().to_string();
    assert_eq!(error, "ERROR: <input>:-1:0: expression recursion limit exceeded: 250");
    assert!(small_stack(vec!["true"; 5000].join(" && ")).is_ok());

    let mut budget = CostBudget { per_call: 100, left: 1000, ..CostBudget::default() };
    assert_eq!(
        evaluate("[1,2,3,4,5].all(a, [1,2,3,4,5].all(b, a + b > 0))", &mut budget),
        Err(Error::CostLimitExceeded)
    );
    assert!(budget.left < 1000);
}

#[test]
fn objects_are_constructed_and_fields_renamed() {
    fn object(name: &str) -> Option<Arc<ObjectType>> {
        (name == "Object")
            .then(|| Arc::new(ObjectType { name: name.into(), fields: ObjectFields::Open(|_, _| Type::Dyn) }))
    }
    let fields = [("a__dash__b".to_owned(), FieldType { json: "a-b".into(), of: Type::Int })].into_iter().collect();
    let of = Type::object(ObjectType { name: "t".into(), fields: ObjectFields::Known(fields) });
    let environment = Environment::new([("self", of.clone())]).with_objects(object);
    let program = compile("Object{x: self.a__dash__b, ?y: optional.none()}", &environment).unwrap();
    let document = json!({"a-b": 7});
    let made = program.evaluate(&[("self", Value::json(&document, &of))], &mut CostBudget::default()).unwrap();
    assert_eq!(made.to_json().unwrap(), json!({"x": 7}));
    assert_eq!(program.output().to_string(), "Object");
    assert_eq!(program.names().into_iter().collect::<Vec<_>>(), ["self"]);
}

#[test]
fn names_for_values() {
    let environment = Environment::new([("device", Type::map(Type::String, Type::Dyn))]).with_bindings();
    let source = "cel.bind(d, device['dra.example.com'], d.one && d.two)";
    assert!(compile(source, &environment).is_ok());
    let error = compile("cel.bind('d', 1, d)", &environment).unwrap_err().to_string();
    assert!(error.contains("cel.bind() variable names must be simple identifiers"), "{error}");
    assert!(compile(source, &Environment::new([("device", Type::Dyn)])).is_err(), "`cel.bind` needs `with_bindings`");
}

#[test]
fn adding_field_leaves_original_type_unchanged() {
    let first = ObjectType::new("t", [("a", Type::Int)]);
    let second = first.with_field("b", Type::String).with_field("a", Type::Bool);
    assert_eq!((first.field("a"), first.field("b")), (Some(Type::Int), None));
    assert_eq!((second.field("a"), second.field("b")), (Some(Type::Bool), Some(Type::String)));
}
