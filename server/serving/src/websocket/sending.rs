//! Sends bodies as WebSocket messages.

use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use http_body_util::BodyExt;
use hyper::upgrade::OnUpgrade;
use request::Body;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{CloseCode, Data, OpCode};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::{Socket, WebSocketMessages, closing, normal_closure, open};

/// How long a client may take to read the last message.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum size of a message from the client; messages are ignored.
const MAX_IGNORED: usize = 256 << 10;
/// Thousands of watches may be open, and each has a buffer of this size.
const READ_BUFFER: usize = 4 << 10;

/// Sends each frame of a body as a message, until the body or its client ends. The body is polled
/// again only after the previous frames are sent.
pub(crate) async fn send(client_side: OnUpgrade, messages: WebSocketMessages, mut body: Body) {
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_IGNORED))
        .max_frame_size(Some(MAX_IGNORED))
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(0);
    let socket = match open(client_side, config).await {
        Ok(socket) => socket,
        Err(error) => return tracing::debug!(%error, "WebSocket upgrade failed: client disconnected"),
    };
    let (mut to, mut from) = socket.split();
    let last = tokio::select! {
        last = send_frames(&mut body, messages, &mut to) => last,
        last = ignore(&mut from) => last,
    };
    // Release the resources of the body before waiting for a slow client.
    drop(body);
    let end = async {
        if let Some(last) = last {
            to.send(last).await?;
        }
        to.flush().await
    };
    if !matches!(timeout(CLOSE_TIMEOUT, end).await, Ok(Ok(()))) {
        tracing::debug!("WebSocket not closed properly: the client did not read the close message");
    }
}

/// Sends the frames of the body; returns the closing message.
async fn send_frames(
    body: &mut Body,
    messages: WebSocketMessages,
    to: &mut SplitSink<Socket, Message>,
) -> Option<Message> {
    let code = OpCode::Data(match messages {
        WebSocketMessages::Text => Data::Text,
        WebSocketMessages::Binary => Data::Binary,
    });
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(bytes) = frame.into_data() else { continue };
        to.send(Message::Frame(Frame::message(bytes, code, true))).await.ok()?;
    }
    Some(normal_closure())
}

/// Reads and ignores messages of the client; returns the closing message (upstream:
/// `IgnoreReceives`).
async fn ignore(from: &mut SplitStream<Socket>) -> Option<Message> {
    loop {
        match from.next().await? {
            // The library replies to the close message.
            Ok(Message::Close(_)) => return None,
            Ok(_) => {}
            Err(Error::Protocol(_)) => return Some(closing(CloseCode::Protocol)),
            Err(Error::Utf8(_)) => return Some(closing(CloseCode::Invalid)),
            Err(Error::Capacity(_)) => return Some(closing(CloseCode::Size)),
            Err(_) => return None,
        }
    }
}
