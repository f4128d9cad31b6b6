//! Parses tokens to a tree. Syntax errors have the wording of cel-go's ANTLR parser, because clients
//! see them.

use std::sync::Arc;

use crate::ast::{Call, Element, Expr, ExprKind, Extent, MapEntry, StructField};
use crate::error::{Error, Problem, render};
use crate::lex::{Token, TokenKind, tokens};
use crate::limits::{self, MAX_DEPTH, MAX_HEIGHT, MAX_LENGTH, MAX_NODES};
use crate::macros;
use crate::names::is_reserved;
use crate::nodes::NodeFactory;
use crate::value::{Text, Value};

/// Tokens that can begin an operand, as listed by ANTLR.
const OPERAND: &str =
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
/// Tokens that can follow an operand inside brackets, before the closing one.
const AFTER_OPERAND: &str =
    "'==', '!=', 'in', '<', '<=', '>=', '>', '&&', '||', '[', '.', '-', '?', '+', '*', '/', '%'";
const RELATIONS: &[&str] = &["==", "!=", "<", "<=", ">", ">=", "in"];
const SUMS: &[&str] = &["+", "-"];
const PRODUCTS: &[&str] = &["*", "/", "%"];

/// Parses an expression and expands its macros. Returns the tree and the number of its nodes.
pub(crate) fn parse(source: &str, bindings: bool) -> Result<(Expr, usize), Error> {
    let characters: Vec<char> = source.chars().collect();
    if characters.len() > MAX_LENGTH {
        let size = characters.len();
        let message = format!("expression code point size exceeds limit: size: {size}, limit {MAX_LENGTH}");
        return Err(render(source, vec![Problem::of_all(message)]));
    }
    let mut problems = Vec::new();
    let tokens = tokens(&characters, &mut problems);
    let mut parser = Parser { tokens, next: 0, depths: Depths::default(), nodes: NodeFactory::new(bindings) };
    match parser.whole() {
        Ok(expr) if problems.is_empty() => return Ok((expr, parser.nodes.count())),
        Ok(_) => {}
        Err(problem) => problems.push(problem),
    }
    Err(render(source, problems))
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    depths: Depths,
    nodes: NodeFactory,
}

/// Number of rules of cel-go's grammar that are being parsed, by kind.
#[derive(Default)]
struct Depths {
    expr: usize,
    relation: usize,
    calc: usize,
}

impl Depths {
    fn expr(&mut self) -> &mut usize {
        &mut self.expr
    }

    fn relation(&mut self) -> &mut usize {
        &mut self.relation
    }

    fn calc(&mut self) -> &mut usize {
        &mut self.calc
    }
}

type Parsed<T = Expr> = Result<T, Problem>;

impl Parser {
    fn token(&self) -> &Token {
        &self.tokens[self.next]
    }

    fn is(&self, symbol: &str) -> bool {
        matches!(self.token().kind, TokenKind::Symbol(s) if s == symbol)
    }

    fn take(&mut self) -> Token {
        let token = self.token().clone();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    fn accept(&mut self, symbol: &str) -> Option<usize> {
        self.is(symbol).then(|| self.take().at)
    }

    fn node(&mut self, at: usize, kind: ExprKind) -> Expr {
        self.nodes.node(at, kind)
    }

    /// A node that increases the depth of the tree, as cel-go counts it.
    fn deeper(&self, mut expr: Expr) -> Parsed {
        expr.extent.depth += 1;
        self.bounded(expr)
    }

    fn bounded(&self, expr: Expr) -> Parsed {
        if expr.extent.depth > MAX_DEPTH || expr.extent.height > MAX_HEIGHT {
            return Err(Problem::of_all("max recursion depth exceeded"));
        }
        if expr.extent.nodes > MAX_NODES {
            return Err(Problem::of_all(format!("expression has more than {MAX_NODES} nodes")));
        }
        Ok(expr)
    }

    /// Parses a recursive rule of the grammar (cel-go's `recursionListener`).
    fn nested(&mut self, depth: fn(&mut Depths) -> &mut usize, parse: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        *depth(&mut self.depths) += 1;
        if *depth(&mut self.depths) > MAX_DEPTH {
            return Err(Problem::of_all(format!("expression recursion limit exceeded: {MAX_DEPTH}")));
        }
        let parsed = parse(self);
        *depth(&mut self.depths) -= 1;
        parsed
    }

    fn call(&mut self, at: usize, function: &str, args: Vec<Expr>) -> Expr {
        self.node(at, ExprKind::Call(Call { function: function.into(), target: None, args }))
    }

    fn problem<T>(&self, message: String) -> Parsed<T> {
        Err(Problem { at: self.token().at, message: format!("Syntax error: {message}") })
    }

    /// An error at an unexpected token; the token is extraneous if the next one would fit.
    fn unexpected<T>(&self, expecting: &str, fits_next: impl Fn(&TokenKind) -> bool) -> Parsed<T> {
        let text = &self.token().text;
        let ahead = self.tokens.get(self.next + 1).is_some_and(|t| fits_next(&t.kind));
        let how = if ahead && self.token().kind != TokenKind::End { "extraneous" } else { "mismatched" };
        self.problem(format!("{how} input '{text}' expecting {expecting}"))
    }

    fn whole(&mut self) -> Parsed {
        let expr = self.expr()?;
        match self.token().kind {
            TokenKind::End => Ok(expr),
            _ => self.unexpected("<EOF>", |next| *next == TokenKind::End),
        }
    }

    fn expr(&mut self) -> Parsed {
        let parsed = self.nested(Depths::expr, |parser| limits::recurse(|| parser.conditional()))?;
        self.bounded(parsed)
    }

    fn conditional(&mut self) -> Parsed {
        let condition = self.or()?;
        let Some(at) = self.accept("?") else { return Ok(condition) };
        let yes = self.or()?;
        if self.accept(":").is_none() {
            return self.unexpected(
                "{'==', '!=', 'in', '<', '<=', '>=', '>', '&&', '||', '[', '.', '-', ':', '+', '*', '/', '%'}",
                |_| false,
            );
        }
        let no = self.expr()?;
        let call = self.call(at, "_?_:_", vec![condition, yes, no]);
        self.deeper(call)
    }

    fn or(&mut self) -> Parsed {
        self.logical("||", "_||_", |p| p.logical("&&", "_&&_", Self::relation))
    }

    /// Chains of `&&` and `||` become balanced trees, so that long chains are not deep.
    fn logical(&mut self, symbol: &str, function: &str, operand: fn(&mut Self) -> Parsed) -> Parsed {
        let mut terms = vec![operand(self)?];
        let mut places = Vec::new();
        while let Some(at) = self.accept(symbol) {
            places.push(at);
            terms.push(operand(self)?);
        }
        Ok(self.balance(function, &mut terms.into_iter(), &places))
    }

    fn balance(&mut self, function: &str, terms: &mut impl Iterator<Item = Expr>, places: &[usize]) -> Expr {
        let Some(middle) = places.len().checked_sub(1).map(|last| last.div_ceil(2)) else {
            let nothing = Expr { id: 0, at: 0, extent: Extent::default(), kind: ExprKind::List(Vec::new()) };
            return terms.next().unwrap_or(nothing);
        };
        let left = self.balance(function, terms, &places[..middle]);
        let right = self.balance(function, terms, &places[middle + 1..]);
        self.call(places[middle], function, vec![left, right])
    }

    fn relation(&mut self) -> Parsed {
        self.nested(Depths::relation, |parser| {
            parser.binary(RELATIONS, Self::calc, |parser| parser.nested(Depths::relation, Self::calc))
        })
    }

    fn calc(&mut self) -> Parsed {
        self.nested(Depths::calc, |parser| {
            parser.binary(SUMS, Self::product, |parser| parser.nested(Depths::calc, Self::product))
        })
    }

    fn product(&mut self) -> Parsed {
        self.binary(PRODUCTS, Self::unary, |parser| parser.nested(Depths::calc, Self::unary))
    }

    /// A chain of operators of one precedence.
    fn binary(&mut self, symbols: &[&str], first: fn(&mut Self) -> Parsed, other: fn(&mut Self) -> Parsed) -> Parsed {
        let mut left = first(self)?;
        while let Some(symbol) = symbols.iter().find(|s| self.is(s)) {
            let at = self.take().at;
            let right = other(self)?;
            let function = if *symbol == "in" { "@in".into() } else { format!("_{symbol}_") };
            let call = self.call(at, &function, vec![left, right]);
            left = self.deeper(call)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed {
        let symbol = if self.is("!") { "!" } else { "-" };
        let at = self.token().at;
        let mut count = 0;
        while self.accept(symbol).is_some() {
            count += 1;
        }
        if symbol == "-" && count == 1 && matches!(self.token().kind, TokenKind::Int(_) | TokenKind::Double(_)) {
            self.next -= 1;
            return self.member();
        }
        let operand = self.member()?;
        Ok(if count % 2 == 0 { operand } else { self.call(at, if symbol == "!" { "!_" } else { "-_" }, vec![operand]) })
    }

    fn member(&mut self) -> Parsed {
        let mut expr = self.primary()?;
        loop {
            let at = self.token().at;
            if self.accept(".").is_some() {
                let selected = self.select(at, expr)?;
                expr = self.deeper(selected)?;
            } else if self.accept("[").is_some() {
                let function = if self.accept("?").is_some() { "_[?_]" } else { "_[_]" };
                let index = self.expr()?;
                self.close("]")?;
                let call = self.call(at, function, vec![expr, index]);
                expr = self.deeper(call)?;
            } else if self.is("{")
                && let Some(name) = expr.dotted()
            {
                expr = self.structure(name)?;
            } else {
                return Ok(expr);
            }
        }
    }

    fn select(&mut self, at: usize, operand: Expr) -> Parsed {
        let optional = self.accept("?").is_some();
        let name_at = self.token().at;
        let field = self.field_name()?;
        if optional {
            let field = self.node(name_at, ExprKind::Literal(Value::String(Text::Shared(field.into()))));
            return Ok(self.call(at, "_?._", vec![operand, field]));
        }
        let open = self.token().at;
        if self.accept("(").is_some() {
            let args = self.arguments()?;
            return macros::expand(
                &mut self.nodes,
                open,
                Call { function: field, target: Some(Box::new(operand)), args },
            );
        }
        Ok(self.node(at, ExprKind::Select { operand: Box::new(operand), field, test: false }))
    }

    /// The name after a dot.
    fn field_name(&mut self) -> Parsed<String> {
        match &self.token().kind {
            TokenKind::Name => Ok(self.take().text),
            TokenKind::Escaped(name) => {
                let name = name.clone();
                self.take();
                Ok(name)
            }
            _ => self.no_name_behind_dot(),
        }
    }

    fn no_name_behind_dot<T>(&self) -> Parsed<T> {
        match self.token().kind {
            TokenKind::End => self.problem("no viable alternative at input '.'".into()),
            _ => self.problem(format!("no viable alternative at input '.{}'", self.token().text)),
        }
    }

    fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        let mut args = Vec::new();
        if self.accept(")").is_some() {
            return Ok(args);
        }
        if self.token().kind == TokenKind::End {
            return self.unexpected(&OPERAND.replace("'.',", "')', '.',"), |_| false);
        }
        loop {
            args.push(self.expr()?);
            if self.accept(",").is_none() {
                self.close(")")?;
                return Ok(args);
            }
        }
    }

    fn close(&mut self, symbol: &str) -> Parsed<()> {
        if self.accept(symbol).is_some() {
            return Ok(());
        }
        let (end, text) = (self.token().kind == TokenKind::End, self.token().text.clone());
        match symbol {
            "]" if end => self.problem(format!("missing ']' at '{text}'")),
            ")" if end => self.problem(format!("mismatched input '{text}' expecting {{')', ','}}")),
            _ => self.unexpected(
                &format!("{{'{symbol}', ',', {AFTER_OPERAND}}}"),
                |next| matches!(next, TokenKind::Symbol(s) if *s == symbol),
            ),
        }
    }

    fn primary(&mut self) -> Parsed {
        let at = self.token().at;
        let leading_dot = self.accept(".").is_some();
        let token = self.token().clone();
        match token.kind {
            TokenKind::Name => self.name(leading_dot),
            _ if leading_dot => self.no_name_behind_dot(),
            TokenKind::Symbol("(") => {
                self.take();
                let inner = self.expr()?;
                match self.accept(")") {
                    Some(_) => Ok(inner),
                    None if self.token().kind == TokenKind::End => self.problem("missing ')' at '<EOF>'".into()),
                    None => self.close(")").map(|()| inner),
                }
            }
            TokenKind::Symbol("[") => self.list(at),
            TokenKind::Symbol("{") => self.map(at),
            _ => self.literal(),
        }
    }

    fn name(&mut self, leading_dot: bool) -> Parsed {
        let token = self.take();
        if is_reserved(&token.text) {
            return Err(Problem { at: token.at, message: format!("reserved identifier: {}", token.text) });
        }
        let open = self.token().at;
        if self.accept("(").is_some() {
            let args = self.arguments()?;
            return macros::expand(&mut self.nodes, open, Call { function: token.text, target: None, args });
        }
        let name = if leading_dot { format!(".{}", token.text) } else { token.text };
        Ok(self.node(token.at, ExprKind::Name(name)))
    }

    fn list(&mut self, at: usize) -> Parsed {
        self.take();
        let mut elements = Vec::new();
        while self.accept("]").is_none() {
            let optional = self.accept("?").is_some();
            elements.push(Element { value: self.expr()?, optional });
            if self.accept(",").is_none() && !self.is("]") {
                return self.unexpected("{']', ','}", |_| false);
            }
            if self.token().kind == TokenKind::End {
                return self.problem("missing ']' at '<EOF>'".into());
            }
        }
        Ok(self.node(at, ExprKind::List(elements)))
    }

    fn map(&mut self, at: usize) -> Parsed {
        self.take();
        let mut entries = Vec::new();
        while self.accept("}").is_none() {
            let optional = self.accept("?").is_some();
            let key = self.expr()?;
            if self.accept(":").is_none() {
                return self.unexpected(&format!("{{{}}}", AFTER_OPERAND.replace("'?',", "'?', ':',")), |_| false);
            }
            entries.push(MapEntry { key, value: self.expr()?, optional });
            if self.accept(",").is_none() && !self.is("}") {
                return self.unexpected("{'}', ','}", |_| false);
            }
        }
        Ok(self.node(at, ExprKind::Map(entries)))
    }

    fn structure(&mut self, name: String) -> Parsed {
        let at = self.take().at;
        let mut fields = Vec::new();
        while self.accept("}").is_none() {
            let optional = self.accept("?").is_some();
            let at = self.token().at;
            let name = match &self.token().kind {
                TokenKind::Name | TokenKind::Escaped(_) => self.field_name()?,
                _ => return self.unexpected("{'}', '?', IDENTIFIER, ESC_IDENTIFIER}", |_| false),
            };
            if self.accept(":").is_none() {
                return self.unexpected("':'", |_| false);
            }
            fields.push(StructField { at, name, value: self.expr()?, optional });
            if self.accept(",").is_none() && !self.is("}") {
                return self.unexpected("{'}', ','}", |_| false);
            }
        }
        Ok(self.node(at, ExprKind::Struct { name, fields }))
    }

    fn literal(&mut self) -> Parsed {
        let at = self.token().at;
        let minus = self.accept("-").is_some();
        let token = self.token().clone();
        let value = match token.kind {
            TokenKind::Int(_) => match integer(&token.text, minus) {
                Some(value) => Value::Int(value),
                None => return Err(Problem { at, message: "invalid int literal".into() }),
            },
            TokenKind::Double(value) => Value::Double(if minus { -value } else { value }),
            TokenKind::Uint(Some(value)) => Value::Uint(value),
            TokenKind::Uint(None) => return Err(Problem { at, message: "invalid uint literal".into() }),
            TokenKind::String(text) => Value::String(Text::Shared(text.into())),
            TokenKind::Bytes(bytes) => Value::Bytes(Arc::from(bytes)),
            TokenKind::Symbol("true") => Value::Bool(true),
            TokenKind::Symbol("false") => Value::Bool(false),
            TokenKind::Symbol("null") => Value::Null,
            _ => return self.unexpected(OPERAND, begins_operand),
        };
        self.take();
        Ok(self.node(at, ExprKind::Literal(value)))
    }
}

/// An integer from its text and sign, so that the smallest integer can be written.
fn integer(text: &str, minus: bool) -> Option<i64> {
    let sign = if minus { "-" } else { "" };
    match text.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(&format!("{sign}{digits}"), 16).ok(),
        None => format!("{sign}{text}").parse().ok(),
    }
}

fn begins_operand(kind: &TokenKind) -> bool {
    match kind {
        TokenKind::Symbol(s) => matches!(*s, "[" | "{" | "(" | "." | "-" | "!" | "true" | "false" | "null"),
        TokenKind::End | TokenKind::Escaped(_) => false,
        _ => true,
    }
}
