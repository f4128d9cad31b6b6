//! Channels: every message starts with its channel number. A reserved number closes a channel
//! (`v5.channel.k8s.io`).

use bytes::{BufMut, Bytes, BytesMut};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;

use super::{Socket, normal_closure};

/// The reserved number, followed by the number of the channel to close.
const END: u8 = 255;
/// Capacity of the send queue in messages.
const WAITING: usize = 16;

/// A message of the client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ClientMessage {
    Bytes(u8, Bytes),
    End(u8),
}

/// The receiving half of the client's WebSocket.
pub(crate) struct Incoming(SplitStream<Socket>);

/// The sending half of the client's WebSocket. Clones share the queue.
#[derive(Clone)]
pub(crate) struct Outgoing(mpsc::Sender<Message>);

/// Splits a WebSocket, and starts the task that sends queued messages.
pub(crate) fn split(socket: Socket) -> (Incoming, Outgoing, JoinHandle<()>) {
    let (sink, stream) = socket.split();
    let (messages, waiting) = mpsc::channel(WAITING);
    (Incoming(stream), Outgoing(messages), tokio::spawn(send(sink, waiting)))
}

/// Sends queued messages until all senders are dropped, then closes the WebSocket.
async fn send(mut to: SplitSink<Socket, Message>, mut waiting: mpsc::Receiver<Message>) {
    while let Some(message) = waiting.recv().await {
        if to.send(message).await.is_err() {
            return;
        }
    }
    let _ = to.send(normal_closure()).await;
    let _ = to.close().await;
}

impl Incoming {
    /// Returns the client's next message; nothing after it disconnects or sends an invalid message.
    pub async fn next(&mut self) -> Option<ClientMessage> {
        loop {
            let message = match self.0.next().await?.ok()? {
                Message::Binary(bytes) => bytes,
                Message::Text(text) => text.into(),
                Message::Close(_) => return None,
                _ => continue,
            };
            match *message {
                [] => {}
                [END, channel] => return Some(ClientMessage::End(channel)),
                [END, ..] => return None,
                [channel, ..] => return Some(ClientMessage::Bytes(channel, message.slice(1..))),
            }
        }
    }
}

impl Outgoing {
    /// Sends bytes on a channel. Errors are ignored, because [`Incoming`] reports a disconnect.
    pub async fn send(&self, channel: u8, bytes: &[u8]) {
        let mut message = BytesMut::with_capacity(1 + bytes.len());
        message.put_u8(channel);
        message.put_slice(bytes);
        let _ = self.0.send(Message::Binary(message.freeze())).await;
    }
}
