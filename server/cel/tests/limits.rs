//! Expressions of any length and shape end neither the process nor the memory. The limits are cel-go 0.26's, found by trying it.

use cel::{Bounds, Budget, Environment, EvalError, Type, Value, compile};

fn environment() -> Environment {
    let variables =
        [("a", Type::Dyn), ("l", Type::list(Type::Int)), ("text", Type::String), ("o", Type::optional(Type::Dyn))];
    Environment::new(variables).with_bindings()
}

/// Compiles on a small stack.
fn compiled(source: &str) -> Result<(), String> {
    let run = || {
        let program = compile(source, &environment()).map_err(|error| error.to_string())?;
        program.estimate(&Bounds::default());
        let list = serde_json::json!([1]);
        let of = Type::list(Type::Int);
        let variables = [("a", Value::Null), ("l", Value::json(&list, &of)), ("text", Value::string("x"))];
        // Whether it has a value does not matter here.
        let _ = program.evaluate(&variables, &mut Budget::default());
        Ok(())
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(256 << 10).spawn_scoped(scope, run).unwrap();
        thread.join().unwrap()
    })
}

#[track_caller]
fn check(shape: impl Fn(usize) -> String, most: usize, beyond: &str) {
    assert_eq!(compiled(&shape(most)), Ok(()), "{most}");
    assert_eq!(compiled(&shape(most + 1)), Err(format!("ERROR: <input>:-1:0: {beyond}")), "{}", most + 1);
    let error = compiled(&shape(5_000)).unwrap_err();
    assert!(error.contains("recursion"), "{error}");
}

const TOO_DEEP: &str = "max recursion depth exceeded";
const TOO_NESTED: &str = "expression recursion limit exceeded: 250";

#[test]
fn chains_end_at_the_depth_of_cel_go() {
    check(|n| format!("1{}", "+1".repeat(n)), 250, TOO_DEEP);
    check(|n| format!("1{}", "*1".repeat(n)), 250, TOO_DEEP);
    check(|n| format!("1{}", "*1+1".repeat(n)), 249, TOO_DEEP);
    check(|n| format!("a{}", ".b".repeat(n)), 250, TOO_DEEP);
    check(|n| format!("a{}", "[0]".repeat(n)), 250, TOO_DEEP);
    check(|n| format!("l{}", ".map(x,x)".repeat(n)), 250, TOO_DEEP);
}

#[test]
fn brackets_end_at_the_depth_of_cel_go() {
    check(|n| format!("{}1{}", "(".repeat(n), ")".repeat(n)), 249, TOO_NESTED);
    check(|n| format!("{}1{}", "(1+".repeat(n), ")".repeat(n)), 124, TOO_NESTED);
    check(|n| format!("{}1{}", "[".repeat(n), "]".repeat(n)), 249, TOO_NESTED);
    check(|n| format!("{}true{}", "!(".repeat(n), ")".repeat(n)), 249, TOO_NESTED);
    check(|n| format!("{}1", "true?1:".repeat(n)), 249, TOO_NESTED);
}

#[test]
fn long_flat_expressions_compile() {
    assert_eq!(compiled(&format!("{}true", "!".repeat(50_000))), Ok(()));
    assert_eq!(compiled(&format!("{}l[0]", "-".repeat(50_000))), Ok(()));
    assert_eq!(compiled(&format!("true{}", "||true".repeat(10_000))), Ok(()));
    assert_eq!(compiled(&format!("[{}]", "[],".repeat(30_000))), Ok(()));
    assert_eq!(compiled(&format!("[{}]", "1+1,".repeat(20_000))), Ok(()));
}

#[test]
fn expressions_that_are_too_long_are_refused() {
    let error = compiled(&format!("'{}'", "x".repeat(100_001))).unwrap_err();
    assert_eq!(error, "ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100003, limit 100000");
    let error = compiled(&"@".repeat(50_000)).unwrap_err();
    assert!(error.ends_with("more errors were truncated"), "{}", error.len());
    assert!(error.len() < 100_000);
}

#[test]
fn macros_that_copy_do_not_multiply_without_end() {
    let error = compiled(&format!("o{}", ".optMap(x,x)".repeat(60))).unwrap_err();
    assert!(error.contains("nodes"), "{error}");
}

#[test]
fn types_that_double_are_refused() {
    let error = compiled(&format!("l{}", ".map(x,{x:x})".repeat(60))).unwrap_err();
    assert!(error.contains("types of the expression are too large"), "{error}");
}

fn evaluated(source: &str, items: usize) -> Result<(), EvalError> {
    let list = serde_json::Value::from(vec![1; items]);
    let of = Type::list(Type::Int);
    let text = "x".repeat(100_000);
    let variables = [("a", Value::Null), ("l", Value::json(&list, &of)), ("text", Value::string(text))];
    let program = compile(source, &environment()).unwrap();
    program.evaluate(&variables, &mut Budget::default()).map(drop)
}

#[test]
fn results_are_charged_before_they_are_made() {
    for source in [
        "text.replace('', text).size() > 0",
        "text.replace('x', text).size() > 0",
        "l.map(x, text).join(text).size() > 0",
        "'%s%s%s%s'.format([l.map(x, text), l.map(x, text), l.map(x, text), l.map(x, text)]).size() > 0",
        "l.map(x, lists.range(1000000)).size() > 0",
        "l.map(x, text.split('')).size() > 0",
        "l.map(x, l + l).size() > 0",
    ] {
        assert_eq!(evaluated(source, 3_000), Err(EvalError::TooDear), "{source}");
    }
    let literal = format!("l.map(x, [{}]).size() > 0", "1,".repeat(40_000));
    assert_eq!(evaluated(&literal, 3_000), Err(EvalError::TooDear));
}

#[test]
fn macros_over_long_lists_take_linear_time() {
    assert_eq!(evaluated("l.map(x, x + 1).filter(y, y > 0).size() > 0", 20_000), Ok(()));
}
