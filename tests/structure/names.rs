//! The paths in the tokens of an item. Arguments of macros are included, which `syn` does not parse.

use std::collections::BTreeSet;
use std::iter::Peekable;

use proc_macro2::token_stream::IntoIter;
use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use quote::ToTokens;

use crate::source::{Import, add_imports, is_test_condition};

/// Adds the paths that an item names, and its imports.
pub fn names(item: &impl ToTokens, imports: &mut Vec<Import>, paths: &mut BTreeSet<Vec<String>>) {
    scan(item.to_token_stream(), imports, paths);
}

fn scan(tokens: TokenStream, imports: &mut Vec<Import>, paths: &mut BTreeSet<Vec<String>>) {
    let mut tokens = tokens.into_iter().peekable();
    let mut follows_dot = false;
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => scan(group.stream(), imports, paths),
            TokenTree::Ident(word) if word == "use" => import(&mut tokens, imports),
            TokenTree::Ident(word) => {
                let path = path_from(word.to_string(), &mut tokens);
                // The names of fields, methods and parameters are no paths.
                let is_member = path.len() == 1 && (follows_dot || is_punct(tokens.peek(), ':'));
                if !is_member {
                    paths.insert(path);
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == '#' => skip_test(&mut tokens),
            TokenTree::Punct(punct) if punct.as_char() == ':' && punct.spacing() == Spacing::Joint => {
                tokens.next();
                // What follows `::` is in another crate, or in the type before it.
                if let Some(TokenTree::Ident(_)) = tokens.peek() {
                    tokens.next();
                    path_from(String::new(), &mut tokens);
                }
            }
            TokenTree::Punct(punct) => {
                follows_dot = punct.as_char() == '.' && !(follows_dot || is_punct(tokens.peek(), '.'));
                continue;
            }
            TokenTree::Literal(_) => {}
        }
        follows_dot = false;
    }
}

/// Reads the rest of a path, without generic arguments.
fn path_from(first: String, tokens: &mut Peekable<IntoIter>) -> Vec<String> {
    let mut path = vec![first];
    loop {
        let mut ahead = tokens.clone();
        let is_separator = is_punct(ahead.next().as_ref(), ':') && is_punct(ahead.next().as_ref(), ':');
        match ahead.next() {
            Some(TokenTree::Ident(word)) if is_separator => path.push(word.to_string()),
            _ => return path,
        }
        *tokens = ahead;
    }
}

/// Reads a `use` of a function's body.
fn import(tokens: &mut Peekable<IntoIter>, imports: &mut Vec<Import>) {
    let is_import = matches!(tokens.peek(), Some(TokenTree::Ident(_))) || is_punct(tokens.peek(), ':');
    // `use<'a>` in a type is no import.
    if is_import {
        let rest = tokens.by_ref().take_while(|token| !is_punct(Some(token), ';'));
        let text: TokenStream = rest.collect();
        // Quoted code has placeholders.
        let parsed = syn::parse_str(&format!("use {text};"));
        parsed.iter().for_each(|parsed| add_imports(imports, parsed));
    }
}

/// Skips what follows `#[cfg(test)]`.
fn skip_test(tokens: &mut Peekable<IntoIter>) {
    let Some(TokenTree::Group(attribute)) = tokens.peek() else { return };
    let mut inner = attribute.stream().into_iter();
    let is_cfg = matches!(inner.next(), Some(TokenTree::Ident(word)) if word == "cfg");
    let is_test =
        matches!(inner.next(), Some(TokenTree::Group(group)) if is_test_condition(&group.stream().to_string()));
    if is_cfg && is_test {
        tokens.next();
        let is_end = |token: &TokenTree| match token {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            token => is_punct(Some(token), ';') || is_punct(Some(token), ','),
        };
        while tokens.next().is_some_and(|token| !is_end(&token)) {}
    }
}

fn is_punct(token: Option<&TokenTree>, char: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == char)
}
