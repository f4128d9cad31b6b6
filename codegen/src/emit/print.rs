//! Formats generated Rust; all layout decisions are in this module.

use std::str::FromStr;

use proc_macro2::TokenStream;

use super::rust::HEADER;

/// Maximum width of a line in columns.
pub const WIDTH: usize = 120;

/// A part of a generated file; blank lines separate the parts.
pub enum Block {
    /// Items, such as a function, or several imports.
    Items(TokenStream),
    /// A table that is already formatted.
    Table(String),
}

impl Block {
    /// Parses items that an emitter wrote as text.
    pub fn parse(text: &str) -> Self {
        // Text that is not valid Rust is kept, so that the compiler reports it at its place.
        TokenStream::from_str(text).map_or_else(|_| Block::Table(text.to_owned()), Block::Items)
    }
}

/// A file: header, module docs, parts.
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

/// Each item of a text as a separate block; imports are one block.
pub fn separate_items(text: &str) -> Vec<Block> {
    let Ok(file) = syn::parse_str::<syn::File>(text) else { return vec![Block::Table(text.to_owned())] };
    let is_import = |item: &syn::Item| matches!(item, syn::Item::Use(_));
    let parts = file.items.chunk_by(|one, next| is_import(one) && is_import(next));
    parts.map(|part| Block::Items(quote::quote!(#(#part)*))).collect()
}

/// An expression, formatted as at the beginning of a line.
pub fn expression(text: &str) -> String {
    const BEFORE: &str = "const X: T = ";
    let printed = Block::parse(&format!("{BEFORE}{text};"));
    let Block::Items(tokens) = printed else { return text.to_owned() };
    let printed = items(&tokens);
    printed.strip_prefix(BEFORE).and_then(|rest| rest.strip_suffix(";\n")).unwrap_or(text).to_owned()
}

/// `.name(argument)` inside the braces of `describe!`, indented by one level.
pub fn setter(text: &str) -> String {
    let printed = expression(&format!("x{text}"));
    indented(printed.strip_prefix('x').unwrap_or(text), 4)
}

/// `describe! { Type, TYPE "Type" { .setter() } [`, with one line per setter if there are several.
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
    // The width includes the closing `] }` of a table without rows.
    short.filter(|line| line.len() + "] }".len() <= WIDTH).unwrap_or_else(long)
}

/// `, &Name { fact, ..base }` after a row of `describe!`: on the same line, or one fact per line.
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

/// `field: value`, with the value on as many lines as it needs.
fn value(fact: &str) -> String {
    let (field, value) = fact.split_once(": ").unwrap_or(("", fact));
    format!("{field}: {}", expression(value))
}

/// Indents all lines but the first.
fn indented(text: &str, by: usize) -> String {
    text.replace('\n', &format!("\n{}", " ".repeat(by)))
}
