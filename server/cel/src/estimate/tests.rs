//! Cases of upstream's `TestCelEstimatedCostStability`.

use super::Bounds;
use crate::{ElementType, Environment, Merge, ObjectType, Type, compile};

const REQUEST: u64 = 3 << 20;

fn sized(most: u64) -> Bounds {
    Bounds { most, ..Bounds::default() }
}

fn text() -> Bounds {
    sized(REQUEST - 2)
}

/// Checks expressions about an object with fields `a` and `b`, both of this type within these bounds.
fn check(of: &Type, bounds: &Bounds, facts: &[(&str, u64)]) {
    let this = Type::object(ObjectType::new("self", [("a", of.clone()), ("b", of.clone())]));
    let fields = ["a", "b"].map(|name| (name.to_owned(), bounds.clone()));
    let root = Bounds { fields: fields.into(), ..Bounds::default() };
    let environment = Environment::new([("self", this)]);
    for (expression, expect) in facts {
        let program = compile(expression, &environment).unwrap_or_else(|why| panic!("{expression}: {why}"));
        assert_eq!(program.estimate(&root), *expect, "{expression}");
    }
}

#[test]
fn numbers() {
    check(
        &Type::Int,
        &sized(0),
        &[
            ("self.a == self.b", 4),
            ("type(self.a) == int", 4),
            ("self.a + 1 == 2147483647 + 1", 5),
            ("double(5) < 10.0", 2),
            ("double(self.a) < 10.0", 4),
        ],
    );
}

#[test]
fn texts() {
    check(
        &Type::String,
        &text(),
        &[
            ("self.a.startsWith('Rook')", 3),
            ("!self.a.startsWith('knight')", 4),
            ("self.a.matches('^[^0-9]*$')", 943_721),
            ("size(self.a) == 12", 4),
            ("self.a.indexOf('o') == 1", 314_576),
            ("self.a.replace(' ', 'x') == 'Rookxtakesx'", 629_150),
            ("self.a.split(' ', 2) == ['Rook', 'takes']", 629_159),
            ("self.a.substring(4, 10).trim() == 'takes'", 629_149),
            ("self.a.lowerAscii() == self.a.lowerAscii()", 943_723),
            ("self.a in ['Pending', 'Available']", 14),
        ],
    );
}

#[test]
fn lists() {
    let integers = Bounds { items: Some(Box::new(sized(0))), ..sized((REQUEST - 2) / 2) };
    check(
        &Type::List(std::sync::Arc::new(ElementType { item: Type::Int, merge: Merge::Atomic })),
        &integers,
        &[
            ("1 in self.a", 1_572_865),
            ("self.b[0] in self.a", 1_572_868),
            ("self.a + self.b == [1, 2, 3, 1, 2, 3]", 16),
            ("has(self.a) && has(self.b)", 2),
            ("self.a.all(k, size(self.a) > 0)", 11_010_044),
            ("self.a.exists_one(k, self.a == [2])", 23_592_949),
            ("size(self.a.filter(k, size(self.a) > 1)) == 1", 26_738_686),
        ],
    );
}

#[test]
fn maps() {
    let texts = Bounds { items: Some(Box::new(text())), keys: Some(Box::new(sized(0))), ..sized((REQUEST - 2) / 8) };
    check(
        &Type::map(Type::String, Type::String),
        &texts,
        &[
            ("self.a == self.b", 39_326),
            ("'k1' in self.a", 3),
            ("self.a == {'k1': 'a', 'k2': 'b'}", 33),
            ("!has(self.a)", 2),
            ("self.a.all(k, size(self.a) > 0)", 2_752_508),
            ("!self.a.exists_one(k, size(self.a) > 0)", 2_359_295),
            ("size(self.a.filter(k, size(self.a) > 1)) == 1", 6_684_670),
        ],
    );
}
