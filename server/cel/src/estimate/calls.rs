//! Maximum cost of calls.

use super::range::{SizeEstimate, scaled};
use super::{Estimator, Step};
use crate::ast::{Call, Expr, ExprKind};
use crate::cost::{Cost, FORMAT_PATTERN, NEW_LIST, NEW_STRUCT, PATTERN, TRAVERSAL};
use crate::functions;
use crate::types::Type;
use crate::value::Value;

/// Cost of a call besides its arguments, and the size of its result if the function determines it.
type Estimate = (u64, Option<SizeEstimate>);

/// Maximum number of characters of a format's name.
const FORMAT_NAME: u64 = 64;
/// Size of an address in bytes.
const ADDRESS: u64 = 16;

/// A call to estimate; the target precedes the arguments.
struct Called<'c> {
    expr: &'c Expr,
    name: &'c str,
    is_member: bool,
    args: Vec<&'c Expr>,
}

impl Estimator<'_> {
    pub(super) fn call(&mut self, expr: &Expr, call: &Call) -> u64 {
        if let ("dyn", [arg]) = (call.function.as_str(), &call.args[..]) {
            let cost = self.cost(arg);
            let (size, entries) = (self.size(arg), self.entries_of(arg));
            self.keep(expr, size, entries);
            return cost.saturating_add(1);
        }
        let of_args: Vec<u64> = call.args.iter().map(|arg| self.cost(arg)).collect();
        let of_target = call.target.as_ref().map_or(0, |target| self.cost(target));
        let args = call.target.as_deref().into_iter().chain(&call.args).collect();
        let called = Called { expr, name: &call.function, is_member: call.target.is_some(), args };
        let (own, mut size) = self.function(&called);
        if called.name == "_[_]"
            && let Some(list) = called.args.first()
        {
            size = self.entries_of(list).map(|entries| entries.values);
            let path = self.path(list).into_iter().chain([Step::Items]).collect();
            self.paths.insert(expr.id, path);
        }
        let size = size.or_else(|| self.size(expr));
        self.keep(expr, size, None);
        let of_args = match (called.name, &of_args[..]) {
            ("_?_:_", [condition, then, otherwise]) => condition.saturating_add(*then.max(otherwise)),
            _ => of_args.into_iter().fold(0, u64::saturating_add),
        };
        of_target.saturating_add(own).saturating_add(of_args)
    }

    fn function(&mut self, called: &Called<'_>) -> Estimate {
        let Some(declared) = functions::find(called.name) else { return (1, None) };
        let size = |this: &mut Self, at: usize| this.argument(called, at);
        match declared.function.cost {
            Cost::Fixed(_) if called.name == "_?_:_" => self.choice(called),
            Cost::Fixed(_) if called.name == "slice" || called.name == "lists.range" => self.list(called),
            Cost::Fixed(cost) => (cost, None),
            Cost::Scan(at) => self.scan(called, at),
            Cost::Resized(at) => {
                let size = size(self, at);
                (size.cost(TRAVERSAL), Some(size))
            }
            Cost::ScanTwice(at) => (size(self, at).cost(2.0 * TRAVERSAL), None),
            Cost::Affix => (size(self, 1).cost(TRAVERSAL), None),
            Cost::Contains => (size(self, 0).cost(TRAVERSAL).saturating_mul(size(self, 1).cost(TRAVERSAL)), None),
            Cost::Replace => self.replace(called),
            Cost::Split => {
                let text = size(self, 0);
                let most = called.args.get(2).and_then(|most| number(most)).unwrap_or(text.most);
                (text.cost(2.0 * TRAVERSAL), Some(SizeEstimate::up_to(most)))
            }
            Cost::Join => self.join(called),
            Cost::Regex if !called.is_member => (1, None),
            Cost::Regex => {
                let text = size(self, 0);
                let cost =
                    text.plus(SizeEstimate::exactly(1)).cost(TRAVERSAL).saturating_mul(size(self, 1).cost(PATTERN));
                (cost, (called.name != "matches").then_some(SizeEstimate::up_to(text.most)))
            }
            Cost::Smaller => (self.equality(called), None),
            Cost::Compare => match self.may_be_text(called, 0) {
                true => (self.smaller(called), None),
                false => (1, None),
            },
            Cost::Add => self.sum(called),
            Cost::InList => match called.args.get(1).map(|list| self.of(list)) {
                Some(Type::Map(_)) => (1, None),
                _ => (size(self, 1).most.max(1), None),
            },
            Cost::Traverse => self.traverse(called),
            Cost::Product => {
                let factor = if called.name == "sets.equivalent" { 2.0 } else { 1.0 };
                (size(self, 0).times(size(self, 1)).cost(factor).saturating_add(1), None)
            }
            Cost::BytesToText => match called.args.first().map(|arg| self.of(arg)) {
                Some(Type::Bytes | Type::Dyn) => {
                    let bytes = size(self, 0);
                    (bytes.cost(TRAVERSAL).max(1), Some(SizeEstimate { least: bytes.least / 4, most: bytes.most }))
                }
                _ => (1, None),
            },
            Cost::Address if called.is_member => (1, None),
            Cost::Address => (size(self, 0).cost(TRAVERSAL), None),
            Cost::Within => (self.within(called), None),
            Cost::Format => (scaled(size(self, 1).cost(TRAVERSAL), FORMAT_PATTERN * PATTERN), None),
            Cost::Selector => {
                let text = size(self, 1);
                let requirements = scaled(text.cost(0.5), (NEW_LIST + NEW_STRUCT) as f64);
                (NEW_LIST.saturating_add(text.cost(TRAVERSAL)).saturating_add(requirements), None)
            }
        }
    }

    fn argument(&mut self, called: &Called<'_>, at: usize) -> SizeEstimate {
        called.args.get(at).map_or(SizeEstimate::UNKNOWN, |arg| self.size_or_unknown(arg))
    }

    fn may_be_text(&self, called: &Called<'_>, at: usize) -> bool {
        called.args.get(at).is_some_and(|arg| matches!(self.of(arg), Type::String | Type::Bytes | Type::Dyn))
    }

    fn choice(&mut self, called: &Called<'_>) -> Estimate {
        let size = self.argument(called, 1).or(self.argument(called, 2));
        let entries = |at: usize| called.args.get(at).and_then(|arg| self.entries_of(arg));
        let entries = entries(1).zip(entries(2)).map(|(then, otherwise)| then.or(otherwise));
        self.keep(called.expr, None, entries);
        (0, Some(size))
    }

    fn scan(&mut self, called: &Called<'_>, at: usize) -> Estimate {
        let size = self.argument(called, at);
        match called.name {
            "bytes" if !self.may_be_text(called, 0) => (1, None),
            "bytes" => {
                let longest = SizeEstimate { least: size.least, most: size.most.saturating_mul(4) };
                (size.cost(TRAVERSAL), Some(longest))
            }
            "strings.quote" => (
                size.cost(TRAVERSAL),
                Some(size.plus(SizeEstimate { least: 0, most: size.most }).plus(SizeEstimate::exactly(2))),
            ),
            _ => (size.cost(TRAVERSAL), None),
        }
    }

    /// The longest result has the longest replacement as often as possible, the shortest result the
    /// shortest replacement as rarely as possible.
    fn replace(&mut self, called: &Called<'_>) -> Estimate {
        let (text, from, to) = (self.argument(called, 0), self.argument(called, 1), self.argument(called, 2));
        let (times_most, rest_most) = match from.least {
            0 => (text.most.saturating_add(1), text.most),
            least if to.most <= least => (0, text.most),
            least => ((text.most as f64 / least as f64).ceil() as u64, 0),
        };
        let (times_least, rest_least) = match from.most {
            0 => (text.least.saturating_add(1), text.least),
            most if most <= to.least => (0, text.least),
            most => ((text.least as f64 / most as f64).ceil() as u64, 0),
        };
        let times = SizeEstimate { least: times_least, most: times_most };
        let size = times.times(to).plus(SizeEstimate { least: rest_least, most: rest_most });
        (text.cost(2.0 * TRAVERSAL), Some(size))
    }

    fn join(&mut self, called: &Called<'_>) -> Estimate {
        let list = self.argument(called, 0);
        let mut size = list.times(self.element(called).unwrap_or(SizeEstimate::exactly(0)));
        if called.args.len() > 1 {
            let separators = SizeEstimate { least: list.least.saturating_sub(1), most: list.most.saturating_sub(1) };
            size = size.plus(self.argument(called, 1).times(separators));
        }
        (size.cost(TRAVERSAL), Some(size))
    }

    /// Size of the elements of a list argument; `None` if the argument is not a list.
    fn element(&self, called: &Called<'_>) -> Option<SizeEstimate> {
        let list = called.args.first()?;
        let Type::List(_) = self.of(list) else { return None };
        let mut path = self.path(list);
        if path.is_empty() {
            return Some(SizeEstimate::UNKNOWN);
        }
        path.push(Step::Items);
        Some(self.bounded(&path).unwrap_or(SizeEstimate::UNKNOWN))
    }

    fn element_is_text(&self, called: &Called<'_>) -> bool {
        match called.args.first().map(|list| self.of(list)) {
            Some(Type::List(list)) => matches!(list.item, Type::String | Type::Bytes),
            _ => false,
        }
    }

    fn smaller(&mut self, called: &Called<'_>) -> u64 {
        scaled(self.argument(called, 0).most.min(self.argument(called, 1).most), TRAVERSAL)
    }

    /// Library values are compared in constant time, or by the text that they were created from.
    fn equality(&mut self, called: &Called<'_>) -> u64 {
        let [left, right] = called.args[..] else { return 1 };
        let (left, right) = (self.of(left).clone(), self.of(right).clone());
        match (left, right) {
            (Type::Opaque(left), Type::Opaque(right)) if left == right && called.name == "_==_" => match left {
                "kubernetes.NamedFormat" => scaled(FORMAT_NAME, TRAVERSAL),
                "kubernetes.URL" => scaled(
                    called.args[1..].iter().find_map(|url| self.size(url)).map_or(1, |size| size.most),
                    TRAVERSAL,
                ),
                _ => 1,
            },
            _ => self.smaller(called),
        }
    }

    fn sum(&mut self, called: &Called<'_>) -> Estimate {
        let [left, right] = called.args[..] else { return (1, None) };
        let is_list = matches!(self.of(left), Type::List(_));
        if !is_list && !self.may_be_text(called, 0) {
            return (1, None);
        }
        let size = self.argument(called, 0).plus(self.argument(called, 1));
        let entries = self.entries_of(left).zip(self.entries_of(right)).map(|(left, right)| left.or(right));
        self.keep(called.expr, None, entries);
        (if is_list { 1 } else { size.cost(TRAVERSAL).max(1) }, Some(size))
    }

    fn traverse(&mut self, called: &Called<'_>) -> Estimate {
        if !matches!(called.name, "isSorted" | "sum" | "min" | "max" | "indexOf" | "lastIndexOf") {
            return self.list(called);
        }
        let size = self.argument(called, 0);
        let Some(element) = self.element(called) else { return (size.cost(TRAVERSAL), None) };
        let of_text = if self.element_is_text(called) { element.cost(TRAVERSAL) } else { 0 };
        (size.most.saturating_mul(of_text.saturating_add(1)), None)
    }

    /// Functions from lists to lists (cel-go's `ext.Lists`).
    fn list(&mut self, called: &Called<'_>) -> Estimate {
        let list = self.argument(called, 0);
        let literal = |at: usize| called.args.get(at).and_then(|arg| number(arg));
        let (size, factor) = match called.name {
            "slice" => {
                let (start, end) = (literal(1).unwrap_or(0), literal(2).unwrap_or(list.most));
                (SizeEstimate::exactly(end.wrapping_sub(start)), 1.0)
            }
            "lists.range" => (SizeEstimate::exactly(literal(0).unwrap_or(u64::MAX)), 1.0),
            "flatten" if called.args.len() > 1 => (list, literal(1).unwrap_or(u64::MAX) as f64),
            "distinct" => (list.times(list), 2.0),
            "sort" if self.element_is_text(called) => (list.times(list), 2.0 + TRAVERSAL),
            "sort" => (list.times(list), 2.0),
            _ => (list, 1.0),
        };
        (size.cost(factor).saturating_add(1 + NEW_LIST), Some(size))
    }

    /// Whether a network contains an address or a network: reads the bytes of an address from both, and
    /// the text once more.
    fn within(&mut self, called: &Called<'_>) -> u64 {
        let masked = if called.name == "containsCIDR" { scaled(ADDRESS, TRAVERSAL) + 1 } else { 0 };
        let parsed = if self.may_be_text(called, 1) { self.argument(called, 1).cost(TRAVERSAL) } else { 0 };
        scaled(2 * ADDRESS, TRAVERSAL).saturating_add(masked).saturating_add(parsed)
    }
}

/// An integer literal; negative ones count as zero.
fn number(expr: &Expr) -> Option<u64> {
    match expr.kind {
        ExprKind::Literal(Value::Int(number)) => Some(u64::try_from(number).unwrap_or(0)),
        _ => None,
    }
}
