//! Limits on expressions, most of them cel-go's.

/// Longest expression, in code points (cel-go's `expressionSizeCodePointLimit`).
pub(crate) const MAX_LENGTH: usize = 100_000;

/// How deep brackets and operators may nest (cel-go's `maxRecursionDepth`).
pub(crate) const MAX_DEPTH: usize = 250;

/// The height of a tree with macros expanded. Trees of cel-go's depth are higher by what macros and chains of `&&` and `||` add.
pub(crate) const MAX_HEIGHT: usize = 1_000;

/// How many nodes a tree may have. `optMap` copies its target, so that a chain of them doubles the tree each time.
pub(crate) const MAX_NODES: usize = 200_000;

/// How many steps the checker may take to compare types. Types that share parts may be very large once they are written out.
pub(crate) const MAX_TYPE_STEPS: usize = 5_000_000;

/// How many problems are reported (cel-go's `maxErrorsToReport`).
pub(crate) const MAX_PROBLEMS: usize = 100;

/// Longest line that a problem shows, in bytes (cel-go's `maxSnippetLength`).
pub(crate) const MAX_SNIPPET: usize = 16_384;

/// Bytes that the values of one evaluation may take.
pub(crate) const MAX_MEMORY: u64 = 64 << 20;

/// Values and 64-byte pieces of text that the evaluations of one budget may look at beyond what upstream's cost model counts.
pub(crate) const MAX_VISITS: u64 = 50_000_000;

/// How many evaluations may be nested: a variable of a policy is evaluated when another one first uses it.
pub(crate) const MAX_NESTED_EVALUATIONS: usize = 64;

/// How deep a value that an expression made may nest.
pub(crate) const MAX_VALUE_DEPTH: usize = 500;

/// Stack that is left when a recursion goes on elsewhere; also what dropping the highest tree takes.
const RED_ZONE: usize = 1 << 20;

/// The size of the stack on which it goes on.
const STACK: usize = 8 << 20;

/// Calls a function that recurses, on another stack when this one is nearly used up. Callers count their depth.
pub(crate) fn recurse<T>(run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(RED_ZONE, STACK, run)
}
