//! The cost of a write by its body, and the threads that perform it.

use request::RequestInfo;

use crate::endpoint::Endpoint;
use crate::media::Encoding;

/// Bodies up to this many bytes are decoded on the connection's thread.
const SMALL_BODY: usize = 16 << 10;
/// Stored objects up to this many bytes are changed on the connection's thread.
const SMALL_OBJECT: usize = 64 << 10;

/// The cost of decoding and applying a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestCost {
    /// Proportional to its size and that of the stored object.
    BySize,
    /// Not bounded by its size.
    Unbounded,
}

impl RequestCost {
    /// The cost of decoding. YAML aliases repeat the nodes that they name.
    pub fn of(encoding: Encoding) -> Self {
        match encoding {
            Encoding::Json | Encoding::Protobuf => RequestCost::BySize,
            Encoding::Yaml | Encoding::Cbor => RequestCost::Unbounded,
        }
    }

    /// Returns the threads that handle a request with a body of this length.
    pub fn place(self, endpoint: &Endpoint, info: &RequestInfo, body: usize) -> Executor {
        let stored = stored_size(endpoint, info);
        let is_small =
            self == RequestCost::BySize && !endpoint.is_costly && body <= SMALL_BODY && stored <= SMALL_OBJECT;
        if is_small { Executor::Connection } else { Executor::WorkPool { memory: memory(body.max(stored)) } }
    }
}

/// The threads that handle a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executor {
    /// The connection's thread, for small costs.
    Connection,
    /// The work pool, once it has this many free bytes.
    WorkPool { memory: u64 },
}

/// Whether a body of this length is decoded on the connection's thread.
pub fn is_small_body(length: u64) -> bool {
    length <= SMALL_BODY as u64
}

/// Memory in bytes to process a body or object of this length: decoded, copied and encoded.
fn memory(length: usize) -> u64 {
    (1 << 20) + 32 * length as u64
}

/// The cached size of the object that the path names; 0 if the cache has no such object.
fn stored_size(endpoint: &Endpoint, info: &RequestInfo) -> usize {
    match endpoint.store.as_ref().filter(|_| !info.name.is_empty()) {
        Some(store) => store.cached_size(&info.namespace, &info.name),
        None => 0,
    }
}
