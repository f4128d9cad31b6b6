//! HTTP/2 streams that are reset immediately (CVE-2023-44487).

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{ADMIN, Target, token};
use crate::tls::Dialer;

const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const END_STREAM_AND_HEADERS: u8 = 5;
const CANCEL: [u8; 4] = [0, 0, 0, 8];
const ENHANCE_YOUR_CALM: u32 = 11;

/// Number of streams that the attacker opens, far above the limit of resets for one connection.
const STREAMS: u32 = 100_000;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Encodes a header without indexing and compression; the name is in the static table.
fn literal(name: &[u8], value: &str) -> Vec<u8> {
    assert!(value.len() < 127);
    [name, &[u8::try_from(value.len()).unwrap()], value.as_bytes()].concat()
}

/// Encodes a list request by the administrator as an HPACK block.
fn request() -> Vec<u8> {
    let path = literal(&[0x04], "/api/v1/secrets");
    let authority = literal(&[0x01], "localhost");
    let authorization = literal(&[0x0f, 0x08], &format!("Bearer {}", token(ADMIN)));
    [&[0x82, 0x87][..], &path, &authority, &authorization].concat()
}

/// Returns the error code of the first GOAWAY among complete frames.
fn goaway(mut frames: &[u8]) -> Option<u32> {
    while let Some((head, rest)) = frames.split_at_checked(9) {
        let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
        let payload = rest.get(..length)?;
        if head[3] == GOAWAY {
            return Some(u32::from_be_bytes(payload[4..8].try_into().unwrap()));
        }
        frames = &rest[length..];
    }
    None
}

/// CVE-2023-44487: the server closes the connection after some hundred immediate resets; other
/// clients are served meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rapid_reset_closes_connection() {
    let target = Target::start(&[]);
    let probe = target.probe(ADMIN, "/api/v1/namespaces/default");
    let stream = Dialer::new(&target.server, None, true).tls().await.unwrap();
    let (mut reader, mut writer) = tokio::io::split(stream);
    let send = tokio::spawn(async move {
        let mut sent = 0;
        let preface = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", frame(SETTINGS, 0, 0, &[]).as_slice()].concat();
        writer.write_all(&preface).await.unwrap();
        let block = request();
        for number in 0..STREAMS {
            let id = 2 * number + 1;
            let frames =
                [frame(HEADERS, END_STREAM_AND_HEADERS, id, &block), frame(RST_STREAM, 0, id, &CANCEL)].concat();
            if writer.write_all(&frames).await.is_err() {
                break;
            }
            sent = number + 1;
        }
        sent
    });
    let mut received = Vec::new();
    let read = async { while matches!(reader.read_buf(&mut received).await, Ok(1..)) {} };
    tokio::time::timeout(Duration::from_secs(120), read).await.expect("the server closes the connection");
    let sent = send.await.unwrap();
    println!("{sent} streams were sent before the connection ended");
    assert!(sent < STREAMS, "all streams were taken");
    assert_eq!(goaway(&received), Some(ENHANCE_YOUR_CALM));
    let slowest = probe.finish().percentile(100);
    assert!(slowest < Duration::from_secs(15), "another user waited {slowest:?}");
    target.assert_alive().await;
}
