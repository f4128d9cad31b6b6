//! Entry points of the fuzz targets in `tests/fuzz`, which supply the bytes of backends.

use tokio::io::AsyncWriteExt;

use crate::rewrite::Links;
use crate::spdy::SpdyConnection;

/// Reads frames of a kubelet that accepts two streams, up to the end of `bytes`.
pub async fn read_spdy(bytes: &[u8]) {
    let (here, mut kubelet) = tokio::io::duplex(bytes.len().max(1) + 4096);
    let Ok(mut connection) = SpdyConnection::start(here) else { return };
    if kubelet.write_all(bytes).await.is_err() {
        return;
    }
    for stream_type in ["stdin", "stdout"] {
        let Ok(mut stream) = connection.open(stream_type).await else { break };
        let _ = stream.writer.write(b"input").await;
        while let Ok(received) = stream.received.try_recv() {
            assert!(received.len() <= bytes.len());
        }
    }
    connection.close().await;
}

/// Rewrites the links of a page that arrives in pieces of `length` bytes.
pub fn rewrite_page(page: &[u8], length: usize) -> Vec<u8> {
    let links = Links { prefix: "/proxy/web".into(), backend: "10.0.0.1:80".into(), client_host: "front:6443".into() };
    links.rewrite_pieces(page, length)
}
