//! `#[needs(etcd, kubectl)]` above `#[test]`: ignores the test when a tool was absent at build
//! time.
//!
//! The test harness of Rust cannot ignore a test while it runs, so `build.rs` looks for the tools.
//! A tool that was present then and is absent when the test runs makes the test fail.

use proc_macro::{Delimiter, TokenStream, TokenTree};

/// Each tool that `build.rs` looks for as `name=reason`; the reason is empty when the tool is
/// present.
const TOOLS: &str = env!("TOOLS");

/// Each third-party program as `name=file`.
const PROGRAMS: &str = env!("PROGRAMS");

/// `program!(etcd)`: expands to the path of a third-party program, as a string literal.
#[proc_macro]
pub fn program(name: TokenStream) -> TokenStream {
    let name = name.to_string();
    let file = PROGRAMS.split('|').find_map(|line| line.strip_prefix(name.as_str())?.strip_prefix('='));
    let expression = match file {
        Some(file) => format!("{file:?}"),
        None => format!("compile_error!(\"tests/needs/programs.rs does not know {}\")", name.escape_default()),
    };
    expression.parse().expect("an expression")
}

/// Ignores a test, with the reason, when one of the named tools is absent. It must precede the
/// `#[test]` attribute.
#[proc_macro_attribute]
pub fn needs(tools: TokenStream, test: TokenStream) -> TokenStream {
    match ignored(tools, &test) {
        Ok(Some(reason)) => {
            let attribute: TokenStream = format!("#[ignore = {reason:?}]").parse().expect("an attribute");
            attribute.into_iter().chain(test).collect()
        }
        Ok(None) => test,
        Err(reason) => format!("compile_error!({reason:?});").parse().expect("a macro call"),
    }
}

/// Returns why the test is ignored; none when all tools are present.
fn ignored(tools: TokenStream, test: &TokenStream) -> Result<Option<&'static str>, String> {
    // An expanded test would silently drop the new attribute.
    if !makes_test(test.clone()) {
        return Err("`#[needs(..)]` has to stand above the `#[test]` of a function".to_owned());
    }
    for token in tools {
        let TokenTree::Ident(tool) = token else { continue };
        let tool = tool.to_string();
        let known = TOOLS.split('|').find_map(|line| line.strip_prefix(tool.as_str())?.strip_prefix('='));
        match known {
            None => return Err(format!("tests/needs/build.rs does not look for `{tool}`")),
            Some("") => {}
            Some(reason) => return Ok(Some(reason)),
        }
    }
    Ok(None)
}

/// Reports whether an attribute before the function is `#[test]` or ends in `::test`.
fn makes_test(item: TokenStream) -> bool {
    item.into_iter().any(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
            let path = group.stream().into_iter().take_while(|token| !matches!(token, TokenTree::Group(_)));
            path.last().is_some_and(|last| last.to_string() == "test")
        }
        _ => false,
    })
}
