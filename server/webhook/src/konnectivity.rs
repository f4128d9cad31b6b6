//! Connections that a konnectivity server makes: their bytes travel in packets of a gRPC stream, which is there for one connection only
//! (upstream: `konnectivity-client`).

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
/// How much is read before it is sent.
const PIECE: usize = 32 << 10;
/// Packets that may wait to be sent.
const WAITING: usize = 8;
/// How long the other end of a connection may take to close it (upstream: `CloseTimeout`).
const CLOSE_PATIENCE: Duration = Duration::from_secs(10);

type Sender = mpsc::Sender<Packet>;

/// Has a server connect to an address.
pub(crate) async fn dial(server: &Client, address: &str) -> Result<DuplexStream, ConnectError> {
    let failed = |why: String| ConnectError::Failed(why);
    let (sender, mut waiting) = mpsc::channel(WAITING);
    let random = rand::random::<i64>() & i64::MAX;
    let request = DialRequest { protocol: "tcp".into(), address: address.into(), random };
    // The server begins to answer when it has been asked something, so this is sent with the stream.
    let _ = sender.send(Packet::new(PacketType::DialReq, Payload::DialRequest(request))).await;
    let packets = stream::poll_fn(move |context| waiting.poll_recv(context));
    let mut answers: Streaming<Packet> =
        server.open(PROXY, packets).await.map_err(|status| failed(describe(&status)))?;
    let connection = loop {
        let packet = answers.message().await.map_err(|status| failed(describe(&status)))?;
        match packet.map(|packet| packet.payload) {
            None => return Err(failed("tunnel closed".into())),
            Some(Some(Payload::DialResponse(said))) if said.random == random => match said.error.as_str() {
                "" => break said.connect_id,
                _ => return Err(failed(said.error)),
            },
            Some(Some(Payload::CloseDial(said))) if said.random == random => return Err(failed("dial closed".into())),
            Some(_) => {}
        }
    };
    let (near, far) = duplex(2 * PIECE);
    tokio::spawn(carry(far, connection, sender, answers));
    Ok(near)
}

/// Carries bytes both ways until the server says that the connection is closed, or goes away. An end of this side closes the connection: there
/// are no connections that are half open.
async fn carry(side: DuplexStream, connection: i64, sender: Sender, answers: Streaming<Packet>) {
    let (from_side, to_side) = split(side);
    let mut inward = Box::pin(receive(to_side, connection, answers));
    tokio::select! {
        () = inward.as_mut() => {}
        () = send(from_side, connection, &sender) => close(connection, &sender, inward).await,
    }
}

/// Asks the server to close the connection, and takes what comes until it has.
async fn close(connection: i64, sender: &Sender, inward: Pin<Box<impl Future<Output = ()>>>) {
    let request = CloseRequest { connect_id: connection };
    if sender.send(Packet::new(PacketType::CloseReq, Payload::CloseRequest(request))).await.is_ok() {
        // A server that does not answer has its stream ended.
        let _ = timeout(CLOSE_PATIENCE, inward).await;
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

/// Whoever reads slowly slows the server down: the next packet is asked for when this one has been taken.
async fn receive(mut side: WriteHalf<DuplexStream>, connection: i64, mut answers: Streaming<Packet>) {
    while let Ok(Some(packet)) = answers.message().await {
        let data = match packet.payload {
            Some(Payload::Data(said)) if said.connect_id == connection => said.data,
            Some(Payload::CloseResponse(said)) if said.connect_id == connection => break,
            _ => continue,
        };
        if side.write_all(&data).await.is_err() {
            return;
        }
    }
    let _ = side.shutdown().await;
}
