//! The grammar of attributes: `1, required, default = Backorder, list = map(name), members(A = a),
//! "text"`.
//!
//! All attributes share one grammar, so that error recovery and messages are the same everywhere. The
//! readers of the attributes interpret the words.

use proc_macro2::{Delimiter, TokenStream, TokenTree, token_stream};

use super::source::FileScope;
use crate::model::Span;

/// `key = value`, `value`, or either followed by `or "text"`.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    pub key: Option<Path>,
    pub value: ValueExpr,
    pub or: Option<String>,
}

impl Argument {
    /// Place of the key, or of the value if there is no key.
    pub fn span(&self) -> &Span {
        self.key.as_ref().map_or(&self.value.span, |key| &key.span)
    }

    /// The first word of the entry: `min` of `min = 0`, `map` of `map(name)`, `required`.
    pub fn word(&self) -> Option<String> {
        match (&self.key, &self.value.kind) {
            (Some(key), _) => Some(key.text()),
            (None, ExprKind::Path(path) | ExprKind::Call(path, _)) => Some(path.text()),
            _ => None,
        }
    }
}

/// A value and its place; compares equal to the same value at any place.
#[derive(Clone, Debug)]
pub struct ValueExpr {
    pub kind: ExprKind,
    pub span: Span,
}

impl PartialEq for ValueExpr {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    Str(String),
    Int(i64),
    Float(f64),
    Bool(bool),
    /// `required`, `spec.stock`, `core::v1::Event`.
    Path(Path),
    /// `map(name)`.
    Call(Path, Vec<Argument>),
    /// `("a", "b")`.
    Tuple(Vec<Argument>),
    /// `["a", "b"]`.
    List(Vec<ValueExpr>),
    /// `{ name: "a" }`.
    Object(Vec<(String, ValueExpr)>),
}

/// Names joined by dots or by `::`; compares equal to the same path at any place.
#[derive(Clone, Debug)]
pub struct Path {
    /// Names; the key of an entry and the index of an item include their brackets.
    pub segments: Vec<String>,
    /// Joined by `::`, as in types.
    pub colons: bool,
    pub span: Span,
}

impl PartialEq for Path {
    fn eq(&self, other: &Self) -> bool {
        self.segments == other.segments
    }
}

impl Path {
    pub fn text(&self) -> String {
        self.segments.join(if self.colons { "::" } else { "." }).replace(".[", "[")
    }

    /// The name, if there is only one.
    pub fn ident(&self) -> Option<&str> {
        match self.segments.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }
}

/// A place and what was expected there.
#[derive(Clone, Debug)]
pub struct WordError {
    pub span: Span,
    pub message: String,
}

/// Reads comma-separated entries. Entries before and after an invalid one are kept.
pub fn entries(tokens: TokenStream, scope: &FileScope<'_>, errors: &mut Vec<WordError>) -> Vec<Argument> {
    let mut cursor = Cursor { iter: tokens.into_iter(), peeked: Vec::new(), scope, last: None };
    let mut out = Vec::new();
    while cursor.peek(0).is_some() {
        match cursor.entry(errors) {
            Ok(entry) => out.push(entry),
            Err(error) => errors.push(error),
        }
        if let Some(error) = cursor.skip_to_comma() {
            errors.push(error);
        }
    }
    out
}

struct Cursor<'s> {
    iter: token_stream::IntoIter,
    peeked: Vec<TokenTree>,
    scope: &'s FileScope<'s>,
    last: Option<Span>,
}

impl Cursor<'_> {
    fn peek(&mut self, ahead: usize) -> Option<&TokenTree> {
        while self.peeked.len() <= ahead {
            self.peeked.push(self.iter.next()?);
        }
        self.peeked.get(ahead)
    }

    fn next(&mut self) -> Option<TokenTree> {
        self.peek(0)?;
        let token = self.peeked.remove(0);
        self.last = Some(self.scope.span(token.span()));
        Some(token)
    }

    fn is_punct(&mut self, ahead: usize, sign: char) -> bool {
        matches!(self.peek(ahead), Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
    }

    fn is_ident(&mut self, ahead: usize) -> bool {
        matches!(self.peek(ahead), Some(TokenTree::Ident(_)))
    }

    fn error(&mut self, message: &str) -> WordError {
        let scope = self.scope;
        let here = self.peek(0).map(|token| scope.span(token.span()));
        WordError { span: here.or_else(|| self.last.clone()).unwrap_or_default(), message: message.to_string() }
    }

    /// Skips the rest of an entry and the comma after it.
    fn skip_to_comma(&mut self) -> Option<WordError> {
        if self.peek(0).is_none() || self.is_punct(0, ',') {
            self.next();
            return None;
        }
        let error = self.error("expected `,`");
        while self.peek(0).is_some() && !self.is_punct(0, ',') {
            self.next();
        }
        self.next();
        Some(error)
    }

    fn entry(&mut self, errors: &mut Vec<WordError>) -> Result<Argument, WordError> {
        let first = self.value(errors)?;
        if !self.is_punct(0, '=') {
            let or = self.or_text()?;
            return Ok(Argument { key: None, value: first, or });
        }
        let ExprKind::Path(key) = first.kind else {
            return Err(WordError { span: first.span, message: "expected a word before `=`".to_string() });
        };
        self.next();
        let value = self.value(errors)?;
        let or = self.or_text()?;
        Ok(Argument { key: Some(key), value, or })
    }

    fn or_text(&mut self) -> Result<Option<String>, WordError> {
        match self.peek(0) {
            Some(TokenTree::Ident(ident)) if ident == "or" => {}
            _ => return Ok(None),
        }
        self.next();
        match self.next().map(|token| literal(&token)) {
            Some(Some(ExprKind::Str(text))) => Ok(Some(text)),
            _ => Err(self.error("expected a string after `or`")),
        }
    }

    fn value(&mut self, errors: &mut Vec<WordError>) -> Result<ValueExpr, WordError> {
        let Some(token) = self.next() else { return Err(self.error("expected a value")) };
        let span = self.scope.span(token.span());
        let kind = match token {
            TokenTree::Ident(ident) => return Ok(self.path_or_call(ident.to_string(), span, errors)),
            TokenTree::Punct(punct) if punct.as_char() == '-' => self.negative(&span)?,
            TokenTree::Literal(_) => literal(&token).ok_or_else(|| WordError {
                span: span.clone(),
                message: "expected a string, a number, `true` or `false`".to_string(),
            })?,
            TokenTree::Group(group) => match group.delimiter() {
                Delimiter::Parenthesis => ExprKind::Tuple(entries(group.stream(), self.scope, errors)),
                Delimiter::Bracket => ExprKind::List(values(group.stream(), self.scope, errors)),
                Delimiter::Brace => ExprKind::Object(object(group.stream(), self.scope, errors)),
                Delimiter::None => return Err(WordError { span, message: "expected a value".to_string() }),
            },
            TokenTree::Punct(_) => return Err(WordError { span, message: "expected a value".to_string() }),
        };
        Ok(ValueExpr { kind, span })
    }

    fn negative(&mut self, span: &Span) -> Result<ExprKind, WordError> {
        match self.next().and_then(|token| literal(&token)) {
            Some(ExprKind::Int(number)) => Ok(ExprKind::Int(-number)),
            Some(ExprKind::Float(number)) => Ok(ExprKind::Float(-number)),
            _ => Err(WordError { span: span.clone(), message: "expected a number after `-`".to_string() }),
        }
    }

    /// A map key or list index that continues the path.
    fn entry_of_path(&mut self) -> Option<String> {
        let entry = self.peek(0).and_then(in_brackets)?;
        self.next();
        Some(entry)
    }

    fn path_or_call(&mut self, first: String, span: Span, errors: &mut Vec<WordError>) -> ValueExpr {
        if first == "true" || first == "false" {
            return ValueExpr { kind: ExprKind::Bool(first == "true"), span };
        }
        let mut path = Path { segments: vec![bare(&first)], colons: false, span: span.clone() };
        loop {
            if let Some(entry) = self.entry_of_path() {
                path.segments.push(entry);
                continue;
            }
            let colons = self.is_punct(0, ':') && self.is_punct(1, ':') && self.is_ident(2);
            let dot = self.is_punct(0, '.') && self.is_ident(1);
            if !colons && !dot {
                break;
            }
            (0..if colons { 2 } else { 1 }).for_each(|_| drop(self.next()));
            path.colons |= colons;
            path.segments.extend(self.next().map(|token| bare(&token.to_string())));
        }
        let arguments = match self.peek(0) {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => group.stream(),
            _ => return ValueExpr { kind: ExprKind::Path(path), span },
        };
        self.next();
        let arguments = entries(arguments, self.scope, errors);
        ValueExpr { kind: ExprKind::Call(path, arguments), span }
    }
}

/// The key or index in brackets, including the brackets: `["tls.crt"]`, `[0]`.
fn in_brackets(token: &TokenTree) -> Option<String> {
    let TokenTree::Group(group) = token else { return None };
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    match (group.delimiter(), tokens.as_slice()) {
        (Delimiter::Bracket, [only]) => match literal(only)? {
            ExprKind::Str(key) => Some(format!("[{key}]")),
            ExprKind::Int(index) => Some(format!("[{index}]")),
            _ => None,
        },
        _ => None,
    }
}

/// An identifier without `r#`.
pub fn bare(ident: &str) -> String {
    ident.strip_prefix("r#").unwrap_or(ident).to_string()
}

fn values(tokens: TokenStream, scope: &FileScope<'_>, errors: &mut Vec<WordError>) -> Vec<ValueExpr> {
    entries(tokens, scope, errors).into_iter().map(|entry| entry.value).collect()
}

fn object(tokens: TokenStream, scope: &FileScope<'_>, errors: &mut Vec<WordError>) -> Vec<(String, ValueExpr)> {
    let mut cursor = Cursor { iter: tokens.into_iter(), peeked: Vec::new(), scope, last: None };
    let mut out = Vec::new();
    while cursor.peek(0).is_some() {
        match object_entry(&mut cursor, errors) {
            Ok(entry) => out.push(entry),
            Err(error) => errors.push(error),
        }
        if let Some(error) = cursor.skip_to_comma() {
            errors.push(error);
        }
    }
    out
}

fn object_entry(cursor: &mut Cursor<'_>, errors: &mut Vec<WordError>) -> Result<(String, ValueExpr), WordError> {
    let name = match cursor.next() {
        Some(TokenTree::Ident(ident)) => bare(&ident.to_string()),
        Some(token) => match literal(&token) {
            Some(ExprKind::Str(name)) => name,
            _ => return Err(cursor.error("expected `name: value`")),
        },
        None => return Err(cursor.error("expected `name: value`")),
    };
    if !cursor.is_punct(0, ':') {
        return Err(cursor.error("expected `:` after the name"));
    }
    cursor.next();
    Ok((name, cursor.value(errors)?))
}

fn literal(token: &TokenTree) -> Option<ExprKind> {
    let TokenTree::Literal(literal) = token else { return None };
    match syn::Lit::new(literal.clone()) {
        syn::Lit::Str(text) => Some(ExprKind::Str(text.value())),
        syn::Lit::Int(number) => number.base10_parse().ok().map(ExprKind::Int),
        syn::Lit::Float(number) => number.base10_parse().ok().map(ExprKind::Float),
        _ => None,
    }
}
