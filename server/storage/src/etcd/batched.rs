//! Batches concurrent calls of the same request.

use tokio::sync::watch;

/// Sends a request at most once at a time. Calls that arrive while a response is pending share the next
/// one, as etcd batches its own reads (`ReadIndex`). So a response always belongs to a request sent
/// after the call.
pub(super) struct Batched<T> {
    calls: watch::Sender<u64>,
    responses: watch::Receiver<Response<T>>,
}

/// The last response, and the number of calls made when its request was sent.
struct Response<T> {
    calls: u64,
    value: Option<T>,
}

impl<T: Clone + Send + Sync + 'static> Batched<T> {
    /// Creates a batch and the task that sends its requests; the task ends when the batch is dropped.
    pub(super) fn new<F: Future<Output = T> + Send>(send: impl Fn() -> F + Send + Sync + 'static) -> Self {
        let (calls, mut pending) = watch::channel(0);
        let (sender, responses) = watch::channel(Response { calls: 0, value: None });
        tokio::spawn(async move {
            while pending.changed().await.is_ok() {
                let calls = *pending.borrow_and_update();
                let value = Some(send().await);
                sender.send_replace(Response { calls, value });
            }
        });
        Self { calls, responses }
    }

    /// Returns the response to a request that is sent after this call; `None` when the task has ended.
    pub(super) async fn call(&self) -> Option<T> {
        let mut number = 0;
        self.calls.send_modify(|calls| {
            *calls += 1;
            number = *calls;
        });
        let mut responses = self.responses.clone();
        let response = responses.wait_for(|response| response.calls >= number).await.ok()?;
        response.value.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use tokio::sync::Semaphore;

    use super::*;

    #[tokio::test]
    async fn concurrent_calls_share_the_next_response() {
        let (sent, may_answer) = (Arc::new(AtomicU64::new(0)), Arc::new(Semaphore::new(0)));
        let batched = Batched::new({
            let (sent, may_answer) = (sent.clone(), may_answer.clone());
            move || {
                let (number, may_answer) = (sent.fetch_add(1, Ordering::SeqCst) + 1, may_answer.clone());
                async move { may_answer.acquire().await.map(|permit| permit.forget()).map(|()| number).ok() }
            }
        });
        let answer_when_sent = async |number| {
            while sent.load(Ordering::SeqCst) < number {
                tokio::task::yield_now().await;
            }
            may_answer.add_permits(1);
        };
        let later = async {
            answer_when_sent(1).await;
            let all = async { tokio::join!(batched.call(), batched.call(), batched.call()) };
            tokio::join!(all, answer_when_sent(2)).0
        };
        let (first, (second, third, fourth)) = tokio::join!(batched.call(), later);
        assert_eq!([first, second, third, fourth].map(Option::flatten), [Some(1), Some(2), Some(2), Some(2)]);
    }
}
