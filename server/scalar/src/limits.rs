//! Limits on client input that all codecs share.

/// Limit on the containers (objects and lists) around a value of a document, including the
/// outermost one.
///
/// Every codec counts the same containers, those of the JSON form, after expansion of aliases. So
/// each format can encode what another format has decoded. Recursive functions over documents and
/// over recursive types rely on this limit: at this depth each of them fits into half of the 2 MiB
/// stack of a worker thread in a debug build. Go's JSON decoder has a limit of 10,000 because its
/// stacks grow. The deepest published custom resource definitions have less than 100 levels.
pub const MAX_DEPTH: usize = 256;

/// Limit on the containers around a value of a document of the server, or a stored one.
///
/// The server embeds objects in lists, tables and watch events, and describes their fields in
/// managed fields. Such documents are therefore a few levels deeper than client input.
pub const MAX_STORED_DEPTH: usize = MAX_DEPTH + 32;

/// Limit on the indentation of an indented text, in blanks for each byte of its compact form.
///
/// Without a limit, a line of a few bytes takes two blanks for each level of nesting.
const BLANKS_PER_BYTE: usize = 16;

/// Limit on the blanks of indentation for a text of this many bytes. A text that exceeds it is
/// written compactly.
pub const fn max_blanks(length: usize) -> usize {
    length.saturating_mul(BLANKS_PER_BYTE).saturating_add(1 << 20)
}

/// Limit on the bytes of a request body (upstream's `MaxRequestBodyBytes`).
pub const MAX_BODY: usize = 3 << 20;

/// Limit on the bytes that the aliases of a YAML document may add to it.
///
/// The JSON form of a YAML document is therefore about as large as the largest JSON body.
pub const MAX_ALIASED_BYTES: usize = MAX_BODY;
