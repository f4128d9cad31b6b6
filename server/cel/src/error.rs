//! Errors of expressions, worded as in cel-go.

use std::borrow::Cow;

use crate::limits::{MAX_PROBLEMS, MAX_SNIPPET};

/// Why an expression does not compile, or yields no usable value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The expression does not compile: one line of explanation and a source snippet per problem.
    #[error("{}", .0.join("\n"))]
    Compile(Vec<String>),
    /// The evaluation failed.
    #[error("{0}")]
    Failed(String),
    /// The expression exceeded its cost limit.
    #[error("operation cancelled: actual cost limit exceeded")]
    CostLimitExceeded,
    /// A text is not a URL; the message is Go's `url.Error`. It is boxed to keep results of evaluations
    /// small.
    #[error("parse {:?}: {}", .0.text, .0.why)]
    Url(Box<BadUrl>),
    /// JSON has no infinite numbers and no NaN.
    #[error("number is not finite")]
    NotFinite,
    /// JSON has no values of this type.
    #[error("{0} cannot be written as JSON")]
    NotJson(String),
    /// Keys of JSON objects are strings, not of this type.
    #[error("a key of type {0} cannot be written as JSON")]
    KeyNotJson(String),
}

/// A text that is not a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadUrl {
    pub text: String,
    /// Go's reason.
    pub why: Cow<'static, str>,
}

impl Error {
    /// A failed evaluation.
    pub fn failed(message: impl Into<String>) -> Self {
        Error::Failed(message.into())
    }

    pub(crate) fn no_such_overload() -> Self {
        Error::failed("no such overload")
    }

    pub(crate) fn no_such_key(key: impl std::fmt::Display) -> Self {
        Error::failed(format!("no such key: {key}"))
    }

    pub(crate) fn url(text: &str, why: impl Into<Cow<'static, str>>) -> Self {
        Error::Url(Box::new(BadUrl { text: text.to_owned(), why: why.into() }))
    }
}

/// A problem at a position in the source.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub at: usize,
    pub message: String,
}

impl Problem {
    /// Position of a problem of the whole expression (cel-go's `NoLocation`).
    const NOWHERE: usize = usize::MAX;

    /// A problem of the whole expression.
    pub fn of_all(message: impl Into<String>) -> Self {
        Problem { at: Problem::NOWHERE, message: message.into() }
    }
}

/// Problems with source snippets, sorted by position.
pub(crate) fn render(source: &str, mut problems: Vec<Problem>) -> Error {
    problems.sort_by_key(|problem| problem.at.wrapping_add(1));
    let mut texts: Vec<String> = problems.iter().take(MAX_PROBLEMS).map(|problem| picture(source, problem)).collect();
    if let Some(more) = problems.len().checked_sub(MAX_PROBLEMS).filter(|more| *more > 0) {
        texts.push(format!("{more} more errors were truncated"));
    }
    Error::Compile(texts)
}

fn picture(source: &str, problem: &Problem) -> String {
    if problem.at == Problem::NOWHERE {
        return format!("ERROR: <input>:-1:0: {}", problem.message);
    }
    let before: String = source.chars().take(problem.at).collect();
    let (row, column) = (before.matches('\n').count(), before.chars().rev().take_while(|c| *c != '\n').count());
    let line = source.split('\n').nth(row).unwrap_or_default();
    if source.is_empty() {
        return format!("ERROR: <input>:1:0: {}", problem.message);
    }
    let message = format!("ERROR: <input>:{}:{}: {}", row + 1, column + 1, problem.message);
    if line.len() > MAX_SNIPPET {
        return message;
    }
    // Each character has a mark below it, a wide one for characters outside of ASCII
    // (`Error.ToDisplayString`).
    let mark = |wide: bool, marks: [char; 2]| marks[usize::from(wide)];
    let mut signs: String = line.chars().take(column).map(|c| mark(!c.is_ascii(), ['.', '\u{ff0e}'])).collect();
    signs.push(mark(line.chars().nth(column).is_some_and(|c| !c.is_ascii()), ['^', '\u{ff3e}']));
    format!("{message}\n | {}\n | {signs}", line.replace('\t', " "))
}
