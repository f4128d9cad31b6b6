//! The stream of a watch, read while other requests run.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, timeout_at};

use crate::scenario::{Events, Stream};

/// How long surplus events are waited for.
const SURPLUS: Duration = Duration::from_millis(300);

/// Events of one watch. A BOOKMARK counts only if it ends the initial events, since others come at any time.
pub struct Watch {
    bytes: UnboundedReceiver<Vec<u8>>,
    rest: Vec<u8>,
    events: Vec<Value>,
    closed: bool,
    /// When the stream counts as read.
    pub wanted: Stream,
}

impl Watch {
    /// Reads events from pieces of the answer's body.
    pub fn new(bytes: UnboundedReceiver<Vec<u8>>, wanted: Stream) -> Self {
        Watch { bytes, rest: Vec::new(), events: Vec::new(), closed: false, wanted }
    }

    /// Reads up to the end that is wanted: `{"$watch": [..]}`, with `"$closed": true` if the server closed the stream.
    pub async fn finish(mut self) -> Value {
        let seconds = |default: f64| Duration::from_secs_f64(self.wanted.seconds.unwrap_or(default));
        match self.wanted.events {
            Some(Events::Number(number)) => {
                let end = Instant::now() + seconds(10.0);
                while self.events.len() < number && self.read_until(end).await {}
                let end = Instant::now() + SURPLUS;
                while self.events.len() <= number && self.read_until(end).await {}
            }
            Some(Events::Close(_)) => {
                let end = Instant::now() + seconds(10.0);
                while self.read_until(end).await {}
            }
            None => {
                let quiet = seconds(2.0);
                let mut seen = None;
                while seen != Some(self.events.len()) && !self.closed {
                    seen = Some(self.events.len());
                    let end = Instant::now() + quiet;
                    while seen == Some(self.events.len()) && self.read_until(end).await {}
                }
            }
        }
        while let Ok(bytes) = self.bytes.try_recv() {
            self.push(&bytes);
        }
        if self.closed { json!({"$watch": self.events, "$closed": true}) } else { json!({"$watch": self.events}) }
    }

    /// Reads a piece of the stream; false after the end of the stream or of the time.
    async fn read_until(&mut self, end: Instant) -> bool {
        if self.closed {
            return false;
        }
        match timeout_at(end, self.bytes.recv()).await {
            Ok(Some(bytes)) => {
                self.push(&bytes);
                true
            }
            Ok(None) => {
                self.push(b"\n");
                self.closed = true;
                false
            }
            Err(_) => false,
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let event =
                serde_json::from_slice(line).unwrap_or_else(|_| json!({"$text": String::from_utf8_lossy(line)}));
            if event["type"] != "BOOKMARK" || event.to_string().contains("k8s.io/initial-events-end") {
                self.events.push(event);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Close;
    use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

    fn watch(events: Option<Events>, seconds: f64) -> (UnboundedSender<Vec<u8>>, Watch) {
        let (sender, receiver) = unbounded_channel();
        (sender, Watch::new(receiver, Stream { events, seconds: Some(seconds) }))
    }

    fn send(sender: &UnboundedSender<Vec<u8>>, text: &str) {
        sender.send(text.as_bytes().to_vec()).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_ends_after_its_events_and_surplus_ones_are_seen() {
        let (sender, watch) = watch(Some(Events::Number(1)), 5.0);
        send(&sender, "{\"a\":");
        send(&sender, "1}\n\n{\"type\":\"BOOKMARK\"}\n");
        let reading = tokio::spawn(watch.finish());
        tokio::time::sleep(Duration::from_millis(100)).await;
        send(&sender, "{\"b\":2}\n");
        assert_eq!(reading.await.unwrap(), json!({"$watch": [{"a": 1}, {"b": 2}]}));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_without_its_events_ends_in_time() {
        let (_sender, watch) = watch(Some(Events::Number(1)), 5.0);
        let begin = Instant::now();
        assert_eq!(watch.finish().await, json!({"$watch": []}));
        assert_eq!(begin.elapsed(), Duration::from_millis(5300));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_may_be_read_until_it_is_closed_or_quiet() {
        let (sender, closing) = watch(Some(Events::Close(Close::Close)), 5.0);
        send(&sender, "no json\n{\"a\":1}");
        drop(sender);
        assert_eq!(closing.finish().await, json!({"$watch": [{"$text": "no json"}, {"a": 1}], "$closed": true}));
        let (sender, quiet) = watch(None, 2.0);
        send(&sender, "{\"a\":1}\n");
        assert_eq!(quiet.finish().await, json!({"$watch": [{"a": 1}]}));
    }

    #[tokio::test]
    async fn bookmarks_count_only_at_the_end_of_the_initial_events() {
        let (sender, watch) = watch(Some(Events::Close(Close::Close)), 5.0);
        let bookmark =
            r#"{"type":"BOOKMARK","object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}}"#;
        send(&sender, &format!("{{\"type\":\"BOOKMARK\"}}\n{bookmark}\n"));
        drop(sender);
        assert_eq!(watch.finish().await["$watch"].as_array().unwrap().len(), 1);
    }
}
