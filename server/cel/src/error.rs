//! Errors of expressions, worded as in cel-go.

use thiserror::Error;

use crate::limits::{MAX_PROBLEMS, MAX_SNIPPET};

/// Compile errors: one line of explanation and a source snippet per problem.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{}", .0.join("\n"))]
pub struct CompileError(pub Vec<String>);

/// Evaluation errors.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum EvalError {
    /// The evaluation failed.
    #[error("{0}")]
    Failed(String),
    /// The expression exceeded its cost limit.
    #[error("operation cancelled: actual cost limit exceeded")]
    CostLimitExceeded,
}

impl EvalError {
    pub fn new(message: impl Into<String>) -> Self {
        EvalError::Failed(message.into())
    }

    pub(crate) fn no_such_overload() -> Self {
        EvalError::new("no such overload")
    }

    pub(crate) fn no_such_key(key: impl std::fmt::Display) -> Self {
        EvalError::new(format!("no such key: {key}"))
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
pub(crate) fn render(source: &str, mut problems: Vec<Problem>) -> CompileError {
    problems.sort_by_key(|problem| problem.at.wrapping_add(1));
    let mut texts: Vec<String> = problems.iter().take(MAX_PROBLEMS).map(|problem| picture(source, problem)).collect();
    if let Some(more) = problems.len().checked_sub(MAX_PROBLEMS).filter(|more| *more > 0) {
        texts.push(format!("{more} more errors were truncated"));
    }
    CompileError(texts)
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
