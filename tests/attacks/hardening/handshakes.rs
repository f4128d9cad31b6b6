//! TLS handshakes with weak cipher suites and old versions.

use rustls::SupportedCipherSuite;
use rustls::crypto::ring::cipher_suite;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The suites of TLS 1.2 that fit the ECDSA key that the server generates.
pub const SUITES_OF_TLS12: [SupportedCipherSuite; 3] = [
    cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    cipher_suite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
];

/// Weak suites by number: RSA without forward secrecy, CBC, RC4, 3DES, no encryption, anonymous.
const WEAK: [u16; 10] = [0x002f, 0x0035, 0x009c, 0x009d, 0xc009, 0xc00a, 0xc013, 0xc011, 0x000a, 0x0018];

/// Fails when the server continues a handshake with a weak suite, or of TLS 1.0 or 1.1 with any
/// suite.
pub async fn assert_weak_handshakes_fail(address: &str) {
    for suite in WEAK {
        assert!(is_refused(address, [3, 3], &[suite]).await, "suite {suite:#06x}");
    }
    for version in [[3, 0], [3, 1], [3, 2]] {
        let all: Vec<u16> = WEAK.into_iter().chain([0xc02b, 0xc02c, 0xc02f, 0xc030]).collect();
        assert!(is_refused(address, version, &all).await, "version {version:?}");
    }
    // Control: the same message with a supported suite is continued.
    assert!(!is_refused(address, [3, 3], &[0xc02b, 0xc02f]).await, "a good handshake of TLS 1.2");
}

/// Reports whether the server answers a ClientHello with an alert or closes the connection.
async fn is_refused(address: &str, version: [u8; 2], suites: &[u16]) -> bool {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(&client_hello(version, suites)).await.unwrap();
    let mut kind = [0];
    match stream.read_exact(&mut kind).await {
        // Record types: 21 is an alert, 22 a handshake message.
        Ok(_) => kind[0] == 21,
        Err(_) => true,
    }
}

/// Returns a ClientHello with the extensions that elliptic curve handshakes need.
fn client_hello(version: [u8; 2], suites: &[u16]) -> Vec<u8> {
    let with_length = |bytes: &[u8]| [&u16::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat();
    let extension = |number: u16, content: &[u8]| [&number.to_be_bytes()[..], &with_length(content)].concat();
    let extensions = [
        // secp256r1 and secp384r1, uncompressed points, and signatures with ECDSA, RSA-PSS and PKCS
        // #1.
        extension(10, &with_length(&[0, 23, 0, 24])),
        extension(11, &[1, 0]),
        extension(13, &with_length(&[4, 3, 5, 3, 8, 4, 8, 5, 4, 1, 5, 1])),
        // Extended master secret, renegotiation info.
        extension(23, &[]),
        extension(0xff01, &[0]),
    ]
    .concat();
    let suites: Vec<u8> = suites.iter().flat_map(|suite| suite.to_be_bytes()).collect();
    let body = [&version[..], &[7; 32], &[0], &with_length(&suites), &[1, 0], &with_length(&extensions)].concat();
    let length = u32::try_from(body.len()).unwrap().to_be_bytes();
    let message = [&[1], &length[1..], &body].concat();
    [&[22, 3, 1][..], &with_length(&message)].concat()
}
