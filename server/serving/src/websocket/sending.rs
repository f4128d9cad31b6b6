//! Bodies as messages of WebSockets.

use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use http_body_util::BodyExt;
use hyper::upgrade::OnUpgrade;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{CloseCode, Data, OpCode};

use super::{Messages, Socket, closing, goodbye, open};
use crate::body::Body;

/// How long a client may take to read the last message.
const GOODBYE: Duration = Duration::from_secs(10);
/// The longest message of a client. It has nothing to say.
const MAX_IGNORED: usize = 256 << 10;
/// There may be thousands of watches, and each has a buffer of this size.
const READ_BUFFER: usize = 4 << 10;

/// Sends each frame of a body as a message, until the body or its client ends. The body is asked for more once the
/// client has been sent what there was.
pub(crate) async fn send(client_side: OnUpgrade, messages: Messages, mut body: Body) {
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_IGNORED))
        .max_frame_size(Some(MAX_IGNORED))
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(0);
    let socket = match open(client_side, config).await {
        Ok(socket) => socket,
        Err(error) => return tracing::debug!(%error, "a client did not wait for its WebSocket"),
    };
    let (mut to, mut from) = socket.split();
    let last = tokio::select! {
        last = carry(&mut body, messages, &mut to) => last,
        last = ignore(&mut from) => last,
    };
    // What the body holds is let go before a client that does not read is waited for.
    drop(body);
    let end = async {
        if let Some(last) = last {
            to.send(last).await?;
        }
        to.flush().await
    };
    if !matches!(timeout(GOODBYE, end).await, Ok(Ok(()))) {
        tracing::debug!("a WebSocket was not closed");
    }
}

/// Sends what the body gives; what to say at its end.
async fn carry(body: &mut Body, messages: Messages, to: &mut SplitSink<Socket, Message>) -> Option<Message> {
    let code = OpCode::Data(match messages {
        Messages::Text => Data::Text,
        Messages::Binary => Data::Binary,
    });
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(bytes) = frame.into_data() else { continue };
        to.send(Message::Frame(Frame::message(bytes, code, true))).await.ok()?;
    }
    Some(goodbye())
}

/// Reads what the client says, and lets it be; what to say then (upstream: `IgnoreReceives`).
async fn ignore(from: &mut SplitStream<Socket>) -> Option<Message> {
    loop {
        match from.next().await? {
            // The library has the answer ready.
            Ok(Message::Close(_)) => return None,
            Ok(_) => {}
            Err(Error::Protocol(_)) => return Some(closing(CloseCode::Protocol)),
            Err(Error::Utf8(_)) => return Some(closing(CloseCode::Invalid)),
            Err(Error::Capacity(_)) => return Some(closing(CloseCode::Size)),
            Err(_) => return None,
        }
    }
}
