//! Connections through a konnectivity server: a program with gRPC at a Unix socket.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "../../grpc/tests/program/mod.rs"]
mod program;

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, stream};
use program::{serve, streams};
use prometheus::{Registry, TextEncoder};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tonic::{Status, Streaming};
use webhook::{Client, DialMetrics, Proxy, Route, Trust};

/// A packet of the protocol, declared independently of the code under test, so that different code
/// decodes it.
#[derive(Clone, PartialEq, prost::Message)]
struct Packet {
    #[prost(int32, tag = "1")]
    of: i32,
    #[prost(message, optional, tag = "2")]
    dial_request: Option<Dial>,
    #[prost(message, optional, tag = "3")]
    dial_response: Option<Numbers>,
    #[prost(message, optional, tag = "4")]
    data: Option<Data>,
    #[prost(message, optional, tag = "5")]
    close_request: Option<Close>,
    #[prost(message, optional, tag = "6")]
    close_response: Option<Numbers>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Dial {
    #[prost(string, tag = "1")]
    protocol: String,
    #[prost(string, tag = "2")]
    address: String,
    #[prost(int64, tag = "3")]
    random: i64,
}

/// A response to a dial or to a close.
#[derive(Clone, PartialEq, prost::Message)]
struct Numbers {
    #[prost(string, tag = "1")]
    error: String,
    #[prost(int64, tag = "2")]
    connection: i64,
    #[prost(int64, tag = "3")]
    random: i64,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
struct Close {
    #[prost(int64, tag = "1")]
    connection: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Data {
    #[prost(int64, tag = "1")]
    connection: i64,
    #[prost(bytes = "vec", tag = "3")]
    data: Vec<u8>,
}

const CONNECTION: i64 = 7;

/// Events at the server: `dial ADDRESS`, `close`.
type Noted = mpsc::UnboundedSender<String>;

/// Opens the connection that a stream requests. Every name resolves to this host.
fn proxy(packets: Streaming<Packet>, events: Noted) -> impl Stream<Item = Result<Packet, Status>> {
    let (sender, mut receiver) = mpsc::channel(8);
    tokio::spawn(async move { relay(packets, &sender, &events).await });
    stream::poll_fn(move |context| receiver.poll_recv(context))
}

async fn relay(
    mut packets: Streaming<Packet>,
    sender: &mpsc::Sender<Result<Packet, Status>>,
    events: &Noted,
) -> Option<()> {
    let dial = packets.message().await.ok()??.dial_request?;
    assert_eq!(dial.protocol, "tcp");
    events.send(format!("dial {}", dial.address)).ok()?;
    let (_, port) = dial.address.rsplit_once(':')?;
    let connected = TcpStream::connect(("127.0.0.1", port.parse().ok()?)).await;
    let error = connected.as_ref().err().map(|_| "connection refused by test".to_owned()).unwrap_or_default();
    let response = Numbers { error, connection: CONNECTION, random: dial.random };
    sender.send(Ok(Packet { of: 1, dial_response: Some(response), ..Packet::default() })).await.ok()?;
    let (mut from, mut to) = connected.ok()?.into_split();
    let mut piece = vec![0; 1000];
    loop {
        tokio::select! {
            packet = packets.message() => match packet.ok()?? {
                Packet { data: Some(data), .. } => to.write_all(&data.data).await.ok()?,
                Packet { close_request: Some(Close { connection: CONNECTION }), .. } => {
                    events.send("close".into()).ok()?;
                    let response = Numbers { connection: CONNECTION, ..Numbers::default() };
                    let packet = Packet { of: 3, close_response: Some(response), ..Packet::default() };
                    return sender.send(Ok(packet)).await.ok();
                }
                other => panic!("{other:?}"),
            },
            length = from.read(&mut piece) => {
                let data = Data { connection: CONNECTION, data: piece[..length.ok()?].to_vec() };
                sender.send(Ok(Packet { of: 4, data: Some(data), ..Packet::default() })).await.ok()?;
            }
        }
    }
}

/// Responds to the first request of a connection with as many bytes as its path states. The client
/// closes the connection.
async fn backend() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let mut answered = Vec::new();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let line = String::from_utf8_lossy(&head).lines().next().unwrap().to_owned();
            let length: usize = line.split(['/', ' ']).nth(2).unwrap().parse().unwrap();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
            stream.write_all(head.as_bytes()).await.unwrap();
            stream.write_all(&vec![b'x'; length]).await.unwrap();
            answered.push(stream);
        }
    });
    port
}

async fn get(client: &Client, port: u16, length: usize) -> Result<Bytes, webhook::Error> {
    let uri = format!("http://node.example:{port}/{length}").parse().unwrap();
    let reply = client.get(&uri, Duration::from_secs(30), 1 << 22).await;
    reply.map(|reply| reply.body)
}

fn start(socket: &Path) -> mpsc::UnboundedReceiver<String> {
    let (events, notes) = mpsc::unbounded_channel();
    let socket = socket.to_owned();
    tokio::spawn(async move {
        serve(&socket, move |request| {
            let events = events.clone();
            async move {
                assert_eq!(request.uri().path(), "/ProxyService/Proxy");
                streams(request, move |packets| proxy(packets, events.clone())).await
            }
        })
        .await;
    });
    notes
}

#[tokio::test]
async fn connects_through_konnectivity_server() {
    let folder = tempfile::tempdir().unwrap();
    let (socket, registry) = (folder.path().join("konnectivity.sock"), Registry::new());
    let dials = DialMetrics::default();
    dials.register(&registry);
    let route = Route::through(Proxy::Konnectivity(socket.clone()), &dials).unwrap();
    let client = Client::new(&Trust { route, ..Trust::default() }).unwrap();
    let why = get(&client, 1, 1).await.unwrap_err().cause();
    assert!(why.starts_with("connection error: desc = \"transport: Error while dialing: "), "{why}");

    let mut notes = start(&socket);
    while tokio::net::UnixStream::connect(&socket).await.is_err() {
        tokio::task::yield_now().await;
    }
    let port = backend().await;
    for length in [2, 3_000_000] {
        assert_eq!(get(&client, port, length).await.unwrap(), vec![b'x'; length]);
        assert_eq!(notes.recv().await.unwrap(), format!("dial node.example:{port}"));
        assert_eq!(notes.recv().await.unwrap(), "close");
    }
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    assert_eq!(get(&client, closed, 1).await.unwrap_err().cause(), "connection refused by test");

    let text = TextEncoder::new().encode_to_string(&registry.gather()).unwrap();
    for line in [
        "apiserver_egress_dialer_dial_start_total{protocol=\"grpc\",transport=\"uds\"} 4",
        "apiserver_egress_dialer_dial_duration_seconds_count{protocol=\"grpc\",transport=\"uds\"} 2",
        "apiserver_egress_dialer_dial_failure_count{protocol=\"grpc\",stage=\"connect\",transport=\"uds\"} 1",
        "apiserver_egress_dialer_dial_failure_count{protocol=\"grpc\",stage=\"proxy\",transport=\"uds\"} 1",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}
