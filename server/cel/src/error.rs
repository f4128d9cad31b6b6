//! What can be wrong with an expression, worded as cel-go words it.

use thiserror::Error;

/// Why an expression does not compile: one line of explanation and a picture of the place per problem.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{}", .0.join("\n"))]
pub struct CompileError(pub Vec<String>);

/// Why an expression has no value.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum EvalError {
    /// The expression went wrong.
    #[error("{0}")]
    Failed(String),
    /// The expression used up what it may cost.
    #[error("operation cancelled: actual cost limit exceeded")]
    TooDear,
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

/// A problem at a place of the source.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub at: usize,
    pub message: String,
}

/// Problems with pictures, in the order of their places.
pub(crate) fn render(source: &str, mut problems: Vec<Problem>) -> CompileError {
    problems.sort_by_key(|p| p.at);
    CompileError(problems.iter().map(|p| picture(source, p)).collect())
}

fn picture(source: &str, problem: &Problem) -> String {
    let before: String = source.chars().take(problem.at).collect();
    let (row, column) = (before.matches('\n').count(), before.chars().rev().take_while(|c| *c != '\n').count());
    let line = source.split('\n').nth(row).unwrap_or_default();
    if source.is_empty() {
        return format!("ERROR: <input>:1:0: {}", problem.message);
    }
    format!(
        "ERROR: <input>:{}:{}: {}\n | {}\n | {}^",
        row + 1,
        column + 1,
        problem.message,
        line.replace('\t', " "),
        ".".repeat(column)
    )
}
