//! Limits on expressions, most of them cel-go's.

/// Maximum length of an expression, in code points (cel-go's `expressionSizeCodePointLimit`).
pub(crate) const MAX_LENGTH: usize = 100_000;

/// Maximum nesting depth of brackets and operators (cel-go's `maxRecursionDepth`).
pub(crate) const MAX_DEPTH: usize = 250;

/// Maximum height of a tree with expanded macros. Macros and chains of `&&` and `||` add to the depth
/// that cel-go counts.
pub(crate) const MAX_HEIGHT: usize = 1_000;

/// Maximum number of nodes of a tree. `optMap` copies its target, so each one in a chain doubles the
/// tree.
pub(crate) const MAX_NODES: usize = 200_000;

/// Maximum number of steps that the checker takes to compare types. Types with shared parts may be very
/// large when expanded.
pub(crate) const MAX_TYPE_STEPS: usize = 5_000_000;

/// Maximum number of reported problems (cel-go's `maxErrorsToReport`).
pub(crate) const MAX_PROBLEMS: usize = 100;

/// Maximum length of a line in a source snippet, in bytes (cel-go's `maxSnippetLength`).
pub(crate) const MAX_SNIPPET: usize = 16_384;

/// Maximum memory for the values of one evaluation, in bytes.
pub(crate) const MAX_MEMORY: u64 = 64 << 20;

/// Maximum number of values and 64-byte chunks of text that the evaluations of one budget may visit
/// beyond upstream's cost model.
pub(crate) const MAX_VISITS: u64 = 50_000_000;

/// Maximum number of nested evaluations: a variable of a policy is evaluated when another one first
/// uses it.
pub(crate) const MAX_NESTED_EVALUATIONS: usize = 64;

/// Maximum nesting depth of a value that an expression creates.
pub(crate) const MAX_VALUE_DEPTH: usize = 500;

/// Remaining stack at which a recursion moves to another stack; also the stack that dropping the
/// highest tree needs.
const RED_ZONE: usize = 1 << 20;

/// Size of the additional stack.
const STACK: usize = 8 << 20;

/// Calls a recursive function, on another stack if this one is nearly used up. Callers limit their
/// depth.
pub(crate) fn recurse<T>(run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(RED_ZONE, STACK, run)
}
