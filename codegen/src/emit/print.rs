//! Prints generated Rust: the one place that knows what it looks like.

use std::str::FromStr;

use proc_macro2::TokenStream;

use super::rust::HEADER;

/// Columns of a line at most.
pub const WIDTH: usize = 120;

/// A part of a generated file; blank lines stand between them.
pub enum Block {
    /// Items, such as a function, or several imports.
    Items(TokenStream),
    /// A table that is laid out already.
    Table(String),
}

impl Block {
    /// Items that an emitter wrote as text.
    pub fn parse(text: &str) -> Self {
        // What is no Rust stays as it is, and the compiler reports it where it stands.
        TokenStream::from_str(text).map_or_else(|_| Block::Table(text.to_owned()), Block::Items)
    }
}

/// A file: its header, what it says of itself, its parts.
pub fn file(docs: &str, blocks: &[Block]) -> Vec<u8> {
    let mut text = format!("{HEADER}//! {docs}\n");
    for block in blocks {
        text.push('\n');
        match block {
            Block::Items(tokens) => text.push_str(&items(tokens)),
            Block::Table(table) => text.push_str(table),
        }
    }
    text.into_bytes()
}

fn items(tokens: &TokenStream) -> String {
    let parsed = syn::parse2::<syn::File>(tokens.clone());
    parsed.map_or_else(|_| format!("{tokens}\n"), |file| prettyplease::unparse(&file))
}

/// Each item of some text as a part of its own, and its imports together.
pub fn apart(text: &str) -> Vec<Block> {
    let Ok(file) = syn::parse_str::<syn::File>(text) else { return vec![Block::Table(text.to_owned())] };
    let is_import = |item: &syn::Item| matches!(item, syn::Item::Use(_));
    let parts = file.items.chunk_by(|one, next| is_import(one) && is_import(next));
    parts.map(|part| Block::Items(quote::quote!(#(#part)*))).collect()
}

/// An expression, as it would stand at the beginning of a line.
pub fn expression(text: &str) -> String {
    const BEFORE: &str = "const X: T = ";
    let printed = Block::parse(&format!("{BEFORE}{text};"));
    let Block::Items(tokens) = printed else { return text.to_owned() };
    let printed = items(&tokens);
    printed.strip_prefix(BEFORE).and_then(|rest| rest.strip_suffix(";\n")).unwrap_or(text).to_owned()
}

/// `.name(argument)` in the braces of `describe!`, where it stands a level to the right.
pub fn setter(text: &str) -> String {
    let printed = expression(&format!("x{text}"));
    indented(printed.strip_prefix('x').unwrap_or(text), 4)
}

/// `describe! { Type, TYPE "Type" { .setter() } [`, with a line for each of several setters.
pub fn head(name: &str, def: &str, setters: &[String]) -> String {
    let on_a_line = match setters {
        [] => Some("{}".to_owned()),
        [one] if !one.contains('\n') => Some(format!("{{ {one} }}")),
        _ => None,
    };
    let lines = || format!("{{\n{}}}", setters.iter().map(|one| format!("    {one}\n")).collect::<String>());
    let short = on_a_line.map(|setters| format!("describe! {{ {name} {def} {setters} ["));
    let long = || {
        let rest = if setters.is_empty() { "{} [".to_owned() } else { format!("{} [", lines()) };
        let width = format!("describe! {{ {name} {def} {}", rest.lines().next().unwrap_or("")).len();
        let space = if width + "] }".len() > WIDTH { "\n" } else { " " };
        format!("describe! {{ {name}{space}{def} {rest}")
    };
    // As long as the line of a table without rows.
    short.filter(|line| line.len() + "] }".len() <= WIDTH).unwrap_or_else(long)
}

/// `, &Name { fact, ..base }` after a row of `describe!`: on its line, or a fact a line.
pub fn facts(name: &str, base: &str, facts: &[String], column: usize) -> String {
    match facts {
        [] => String::new(),
        [one] if column + one.len() + name.len() + base.len() + 14 <= WIDTH && !one.contains('\n') => {
            format!(", &{name} {{ {one}, ..{base} }}")
        }
        several => {
            let lines = several.iter().map(|fact| format!("        {},\n", indented(&value(fact), 8)));
            format!(", &{name} {{\n{}        ..{base}\n    }}", lines.collect::<String>())
        }
    }
}

/// `field: value`, with the value in as many lines as it needs.
fn value(fact: &str) -> String {
    let (field, value) = fact.split_once(": ").unwrap_or(("", fact));
    format!("{field}: {}", expression(value))
}

/// Lines below the first one, moved to the right.
fn indented(text: &str, by: usize) -> String {
    text.replace('\n', &format!("\n{}", " ".repeat(by)))
}
