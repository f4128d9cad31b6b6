//! Connections through a konnectivity server. Their bytes are packets of a gRPC stream, one stream
//! per connection (upstream: `konnectivity-client`).

mod packets;

use std::pin::Pin;
use std::time::Duration;

use bytes::BytesMut;
use futures_util::stream;
use grpc::{Client, Streaming, describe};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf, duplex, split};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::error::ConnectError;
use packets::{CloseRequest, Data, DialRequest, Packet, PacketType, Payload};

const PROXY: &str = "/ProxyService/Proxy";
/// Maximum bytes per read, and so per packet.
const PIECE: usize = 32 << 10;
/// Capacity of the send queue in packets.
const WAITING: usize = 8;
/// How long the server may take to close a connection (upstream: `CloseTimeout`).
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

type Sender = mpsc::Sender<Packet>;

/// Requests a connection to an address from a server.
pub(crate) async fn dial(server: &Client, address: &str) -> Result<DuplexStream, ConnectError> {
    let failed = |why: String| ConnectError::Failed(why);
    let (sender, mut waiting) = mpsc::channel(WAITING);
    let random = rand::random::<i64>() & i64::MAX;
    let request = DialRequest { protocol: "tcp".into(), address: address.into(), random };
    // The server responds only after the first packet, so it is sent with the request.
    let _ = sender.send(Packet::new(PacketType::DialReq, Payload::DialRequest(request))).await;
    let packets = stream::poll_fn(move |context| waiting.poll_recv(context));
    let mut answers: Streaming<Packet> =
        server.open(PROXY, packets).await.map_err(|status| failed(describe(&status)))?;
    let connection = loop {
        let packet = answers.message().await.map_err(|status| failed(describe(&status)))?;
        match packet.map(|packet| packet.payload) {
            None => return Err(failed("tunnel closed".into())),
            Some(Some(Payload::DialResponse(response))) if response.random == random => match response.error.as_str() {
                "" => break response.connect_id,
                _ => return Err(failed(response.error)),
            },
            Some(Some(Payload::CloseDial(response))) if response.random == random => {
                return Err(failed("dial closed".into()));
            }
            Some(_) => {}
        }
    };
    let (near, far) = duplex(2 * PIECE);
    tokio::spawn(relay(far, connection, sender, answers));
    Ok(near)
}

/// Relays bytes in both directions until the server closes the connection or its stream. When this
/// side ends, the connection is closed, because there are no half-open connections.
async fn relay(side: DuplexStream, connection: i64, sender: Sender, answers: Streaming<Packet>) {
    let (from_side, to_side) = split(side);
    let mut inward = Box::pin(receive(to_side, connection, answers));
    tokio::select! {
        () = inward.as_mut() => {}
        () = send(from_side, connection, &sender) => close(connection, &sender, inward).await,
    }
}

/// Requests the server to close the connection, and receives packets until it has.
async fn close(connection: i64, sender: &Sender, inward: Pin<Box<impl Future<Output = ()>>>) {
    let request = CloseRequest { connect_id: connection };
    if sender.send(Packet::new(PacketType::CloseReq, Payload::CloseRequest(request))).await.is_ok() {
        // The stream is dropped if the server does not respond.
        let _ = timeout(CLOSE_TIMEOUT, inward).await;
    }
}

async fn send(mut side: ReadHalf<DuplexStream>, connection: i64, sender: &Sender) {
    let mut piece = BytesMut::with_capacity(PIECE);
    while let Ok(1..) = side.read_buf(&mut piece).await {
        let data = Data { connect_id: connection, data: piece.split().freeze(), ..Data::default() };
        if sender.send(Packet::new(PacketType::Data, Payload::Data(data))).await.is_err() {
            return;
        }
        piece.reserve(PIECE);
    }
}

/// Writes received data. The next packet is read after the write, so a slow reader slows the server
/// down.
async fn receive(mut side: WriteHalf<DuplexStream>, connection: i64, mut answers: Streaming<Packet>) {
    while let Ok(Some(packet)) = answers.message().await {
        let data = match packet.payload {
            Some(Payload::Data(response)) if response.connect_id == connection => response.data,
            Some(Payload::CloseResponse(response)) if response.connect_id == connection => break,
            _ => continue,
        };
        if side.write_all(&data).await.is_err() {
            return;
        }
    }
    let _ = side.shutdown().await;
}
