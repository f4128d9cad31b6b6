//! Channels: every message begins with the number of its channel, and one number says that a channel ends (`v5.channel.k8s.io`).

use bytes::{BufMut, Bytes, BytesMut};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;

use super::{Socket, goodbye};

/// Stands where the number of a channel does, before the number of the channel that ends.
const END: u8 = 255;
/// Messages that may wait to be sent.
const WAITING: usize = 16;

/// What a client says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Said {
    Bytes(u8, Bytes),
    End(u8),
}

/// What comes from a client.
pub(crate) struct Incoming(SplitStream<Socket>);

/// What goes to a client. Clones go the same way.
#[derive(Clone)]
pub(crate) struct Outgoing(mpsc::Sender<Message>);

/// A WebSocket taken apart, and who sends what waits.
pub(crate) fn split(socket: Socket) -> (Incoming, Outgoing, JoinHandle<()>) {
    let (sink, stream) = socket.split();
    let (messages, waiting) = mpsc::channel(WAITING);
    (Incoming(stream), Outgoing(messages), tokio::spawn(send(sink, waiting)))
}

/// Sends what waits until nobody has more to say, and then says goodbye.
async fn send(mut to: SplitSink<Socket, Message>, mut waiting: mpsc::Receiver<Message>) {
    while let Some(message) = waiting.recv().await {
        if to.send(message).await.is_err() {
            return;
        }
    }
    let _ = to.send(goodbye()).await;
    let _ = to.close().await;
}

impl Incoming {
    /// What the client says next; nothing once it has gone, or makes no sense.
    pub async fn next(&mut self) -> Option<Said> {
        loop {
            let message = match self.0.next().await?.ok()? {
                Message::Binary(bytes) => bytes,
                Message::Text(text) => text.into(),
                Message::Close(_) => return None,
                _ => continue,
            };
            match *message {
                [] => {}
                [END, channel] => return Some(Said::End(channel)),
                [END, ..] => return None,
                [channel, ..] => return Some(Said::Bytes(channel, message.slice(1..))),
            }
        }
    }
}

impl Outgoing {
    /// Sends bytes on a channel. Whether the client has gone is for [`Incoming`] to say.
    pub async fn send(&self, channel: u8, bytes: &[u8]) {
        let mut message = BytesMut::with_capacity(1 + bytes.len());
        message.put_u8(channel);
        message.put_slice(bytes);
        let _ = self.0.send(Message::Binary(message.freeze())).await;
    }
}
