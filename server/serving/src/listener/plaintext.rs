//! What somebody gets who speaks HTTP where HTTPS is spoken.

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// The answer of Go's net/http.
const ANSWER: &[u8] = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
/// What the methods of HTTP begin with, as Go looks for them.
const METHODS: [&[u8]; 5] = [b"GET /", b"HEAD ", b"POST ", b"PUT /", b"OPTIO"];
/// The first byte of a TLS handshake.
const HANDSHAKE: u8 = 0x16;

/// Whether the client seems to speak TLS. One that speaks HTTP gets an answer.
pub(super) async fn speaks_tls(stream: &mut TcpStream) -> bool {
    let mut begin = [0; 5];
    match stream.peek(&mut begin).await {
        Ok(0) | Err(_) => return false,
        Ok(_) if begin[0] == HANDSHAKE => return true,
        Ok(_) => {}
    }
    if METHODS.iter().any(|method| begin.starts_with(method)) {
        // The client is wrong in any case; whether it still listens does not matter.
        let _ = stream.write_all(ANSWER).await;
        let _ = stream.shutdown().await;
    }
    false
}
