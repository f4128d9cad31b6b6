//! Replies to plaintext HTTP requests on the TLS port.

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// The response of Go's net/http.
const RESPONSE: &[u8] = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
/// The method prefixes that Go checks.
const METHODS: [&[u8]; 5] = [b"GET /", b"HEAD ", b"POST ", b"PUT /", b"OPTIO"];
/// The first byte of a TLS handshake.
const HANDSHAKE: u8 = 0x16;

/// Whether the client seems to start a TLS handshake. A plaintext HTTP client gets an error
/// response.
pub(super) async fn speaks_tls(stream: &mut TcpStream) -> bool {
    let mut begin = [0; 5];
    match stream.peek(&mut begin).await {
        Ok(0) | Err(_) => return false,
        Ok(_) if begin[0] == HANDSHAKE => return true,
        Ok(_) => {}
    }
    if METHODS.iter().any(|method| begin.starts_with(method)) {
        // Write errors do not matter: the connection ends in any case.
        let _ = stream.write_all(RESPONSE).await;
        let _ = stream.shutdown().await;
    }
    false
}
