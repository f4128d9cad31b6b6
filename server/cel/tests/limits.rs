//! Checks that expressions of any length and shape exhaust neither the stack nor the memory. The limits
//! are those of cel-go 0.26, determined by experiments.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use cel::{Bounds, CostBudget, Environment, Error, Type, Value, compile};

fn environment() -> Environment {
    let variables =
        [("a", Type::Dyn), ("l", Type::list(Type::Int)), ("text", Type::String), ("o", Type::optional(Type::Dyn))];
    Environment::new(variables).with_bindings()
}

/// Compiles on a small stack.
fn compiled(source: &str) -> Result<(), Error> {
    let run = || {
        let program = compile(source, &environment())?;
        program.estimate(&Bounds::default());
        let list = serde_json::json!([1]);
        let of = Type::list(Type::Int);
        let variables = [("a", Value::Null), ("l", Value::json(&list, &of)), ("text", Value::string("x"))];
        // The result does not matter here.
        let _ = program.evaluate(&variables, &mut CostBudget::default());
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
    assert_eq!(
        compiled(&shape(most + 1)),
        Err(Error::Compile(vec![format!("ERROR: <input>:-1:0: {beyond}")])),
        "{}",
        most + 1
    );
    let error = compiled(&shape(5_000)).unwrap_err().to_string();
    assert!(error.contains("recursion"), "{error}");
}

const TOO_DEEP: &str = "max recursion depth exceeded";
const TOO_NESTED: &str = "expression recursion limit exceeded: 250";

#[test]
fn chain_depth_limit_matches_cel_go() {
    check(|n| format!("1{}", "+1".repeat(n)), 250, TOO_DEEP);
    check(|n| format!("1{}", "*1".repeat(n)), 250, TOO_DEEP);
    check(|n| format!("1{}", "*1+1".repeat(n)), 249, TOO_DEEP);
    check(|n| format!("a{}", ".b".repeat(n)), 250, TOO_DEEP);
    check(|n| format!("a{}", "[0]".repeat(n)), 250, TOO_DEEP);
    check(|n| format!("l{}", ".map(x,x)".repeat(n)), 250, TOO_DEEP);
}

#[test]
fn bracket_depth_limit_matches_cel_go() {
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
fn rejects_overlong_expressions() {
    let error = compiled(&format!("'{}'", "x".repeat(100_001))).unwrap_err().to_string();
    assert_eq!(error, "ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100003, limit 100000");
    let error = compiled(&"@".repeat(50_000)).unwrap_err().to_string();
    assert!(error.ends_with("more errors were truncated"), "{}", error.len());
    assert!(error.len() < 100_000);
}

#[test]
fn macro_expansion_is_bounded() {
    let error = compiled(&format!("o{}", ".optMap(x,x)".repeat(60))).unwrap_err().to_string();
    assert!(error.contains("nodes"), "{error}");
}

#[test]
fn rejects_exponentially_growing_types() {
    let error = compiled(&format!("l{}", ".map(x,{x:x})".repeat(60))).unwrap_err().to_string();
    assert!(error.contains("types of the expression are too large"), "{error}");
}

fn evaluated(source: &str, items: usize) -> Result<(), Error> {
    let list = serde_json::Value::from(vec![1; items]);
    let of = Type::list(Type::Int);
    let text = "x".repeat(100_000);
    let variables = [("a", Value::Null), ("l", Value::json(&list, &of)), ("text", Value::string(text))];
    let program = compile(source, &environment()).unwrap();
    program.evaluate(&variables, &mut CostBudget::default()).map(drop)
}

#[test]
fn results_are_charged_before_allocation() {
    for source in [
        "text.replace('', text).size() > 0",
        "text.replace('x', text).size() > 0",
        "l.map(x, text).join(text).size() > 0",
        "'%s%s%s%s'.format([l.map(x, text), l.map(x, text), l.map(x, text), l.map(x, text)]).size() > 0",
        "l.map(x, lists.range(1000000)).size() > 0",
        "l.map(x, text.split('')).size() > 0",
        "l.map(x, l + l).size() > 0",
    ] {
        assert_eq!(evaluated(source, 3_000), Err(Error::CostLimitExceeded), "{source}");
    }
    let literal = format!("l.map(x, [{}]).size() > 0", "1,".repeat(40_000));
    assert_eq!(evaluated(&literal, 3_000), Err(Error::CostLimitExceeded));
}

#[test]
fn macros_over_long_lists_take_linear_time() {
    assert_eq!(evaluated("l.map(x, x + 1).filter(y, y > 0).size() > 0", 20_000), Ok(()));
}

/// Pseudorandom numbers, the same in each run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len())]
    }

    fn text(&mut self, of: &[&str]) -> String {
        let parts: String = (0..self.below(8)).map(|_| self.one(of)).collect();
        format!("'{parts}'")
    }
}

#[test]
fn string_functions_do_not_panic() {
    const PARTS: [&str; 12] = ["%", ".", "7", "70000", "s", "d", "f", "e", "x", "X", "b", "o"];
    const TEXTS: [&str; 8] = ["a", "b", "\u{e9}", "\u{1f600}", "", ".", "/", "~"];
    const VALUES: [&str; 14] = [
        "1",
        "-9223372036854775808",
        "1u",
        "1.5",
        "0.0/0.0",
        "1.0/0.0",
        "-1e300",
        "5e-324",
        "'x'",
        "b'x'",
        "null",
        "[1, 'a']",
        "{'a': 1.0}",
        "duration('1h')",
    ];
    const PLACES: [&str; 9] = ["-1", "0", "1", "2", "5", "100", "9223372036854775807", "-9223372036854775808", "3"];
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    for _ in 0..20_000 {
        let (text, other, third) = (numbers.text(&TEXTS), numbers.text(&TEXTS), numbers.text(&TEXTS));
        let (place, end) = (numbers.one(&PLACES), numbers.one(&PLACES));
        let source = match numbers.below(12) {
            0..4 => format!("{}.format([{}, {}])", numbers.text(&PARTS), numbers.one(&VALUES), numbers.one(&VALUES)),
            4 => format!("{text}.substring({place}, {end})"),
            5 => format!("{text}.charAt({place})"),
            6 => format!("{text}.indexOf({other}, {place})"),
            7 => format!("{text}.lastIndexOf({other}, {place})"),
            8 => format!("{text}.replace({other}, {third}, {place})"),
            9 => format!("{text}.split({other}, {place}).join({third})"),
            10 => format!("[1, 2, 3].slice({place}, {end})"),
            _ => format!("strings.quote({text}).lowerAscii().upperAscii().trim()"),
        };
        if let Ok(program) = compile(&source, &environment()) {
            let _ = program.evaluate(&NONE, &mut CostBudget::default());
        }
    }
}

const NONE: [(&str, Value<'static>); 0] = [];
