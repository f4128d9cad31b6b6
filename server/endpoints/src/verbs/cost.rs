//! What the body of a write may cost, and so which threads do the work.

use serving::RequestInfo;

use crate::endpoint::Endpoint;
use crate::media::Encoding;

/// Bodies up to this many bytes are decoded by the thread of the connection.
const SMALL_BODY: usize = 16 << 10;
/// Stored objects up to this many bytes are changed there.
const SMALL_OBJECT: usize = 64 << 10;

/// What a body costs to decode and to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// In proportion to its size and that of the stored object.
    BySize,
    /// More than its size says.
    Unbounded,
}

impl Cost {
    /// The cost of decoding. Aliases of YAML repeat what they name.
    pub fn of(encoding: Encoding) -> Self {
        match encoding {
            Encoding::Json | Encoding::Protobuf => Cost::BySize,
            Encoding::Yaml | Encoding::Cbor => Cost::Unbounded,
        }
    }

    /// Where the work of a request with a body of this length is done.
    pub fn place(self, endpoint: &Endpoint, info: &RequestInfo, body: usize) -> Place {
        let stored = stored_size(endpoint, info);
        let is_small = self == Cost::BySize && !endpoint.is_costly && body <= SMALL_BODY && stored <= SMALL_OBJECT;
        if is_small { Place::Connection } else { Place::WorkPool { memory: memory(body.max(stored)) } }
    }
}

/// The threads that do the work of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The thread of the connection: the cost is small.
    Connection,
    /// The work pool, when there is room for so many bytes.
    WorkPool { memory: u64 },
}

/// Whether a body of this length is decoded by the thread of the connection.
pub fn is_small_body(length: u64) -> bool {
    length <= SMALL_BODY as u64
}

/// How many bytes the work takes that is done with a body or object of this length: decoded, copied and encoded.
fn memory(length: usize) -> u64 {
    (1 << 20) + 32 * length as u64
}

/// The size of the object that the path names, as the cache has it; 0 if it has none.
fn stored_size(endpoint: &Endpoint, info: &RequestInfo) -> usize {
    match endpoint.store.as_ref().filter(|_| !info.name.is_empty()) {
        Some(store) => store.cached_size(&info.namespace, &info.name),
        None => 0,
    }
}
