//! Limits on what clients send, which all codecs share.

/// Most containers (objects and lists) that may enclose a value of a document, the outermost one included.
///
/// Every codec counts the same containers, those of the JSON form, after aliases are expanded. So each format can write what
/// another format has read. Recursive functions over documents and over recursive types rely on this limit: at this depth each
/// of them fits into half of the 2 MiB stack of a worker thread in a debug build. Go's JSON decoder has a limit of 10,000 because
/// its stacks grow. The deepest published custom resource definitions have less than 100 levels.
pub const MAX_DEPTH: usize = 256;

/// Most containers that may enclose a value of a document that the server made or has stored.
///
/// The server puts objects into lists, tables and watch events, and describes their fields in managed fields. So such documents
/// are a few levels deeper than what a client may send.
pub const MAX_STORED_DEPTH: usize = MAX_DEPTH + 32;

/// Blanks at the beginning of lines that a text laid out in lines may have for each byte of its compact form.
///
/// Without a limit, a line of a few bytes would take two blanks for each level of nesting.
const BLANKS_PER_BYTE: usize = 16;

/// Most blanks at the beginning of lines of a text of so many bytes; with more, it is written compactly.
pub(crate) const fn max_blanks(length: usize) -> usize {
    length.saturating_mul(BLANKS_PER_BYTE).saturating_add(1 << 20)
}

/// Most bytes of a request body (upstream's `MaxRequestBodyBytes`).
pub const MAX_BODY: usize = 3 << 20;

/// Most bytes that the aliases of a YAML document may add to it.
///
/// A document in JSON form is therefore about as large as the largest body in JSON could be.
pub const MAX_ALIASED_BYTES: usize = MAX_BODY;

#[cfg(test)]
mod tests;
