//! One question that many ask at the same time.

use tokio::sync::watch;

/// Puts a question at most once at a time. Who asks while an answer is on its way shares the next one with all others who do, as etcd gathers
/// its own reads (`ReadIndex`): an answer never is to a question put before it was asked for.
pub(super) struct Batched<T> {
    asked: watch::Sender<u64>,
    answers: watch::Receiver<Answer<T>>,
}

/// What came last, and how many had asked when its question was put.
struct Answer<T> {
    asked: u64,
    given: Option<T>,
}

impl<T: Clone + Send + Sync + 'static> Batched<T> {
    /// The question is put by a task that ends with this.
    pub(super) fn new<F: Future<Output = T> + Send>(put: impl Fn() -> F + Send + Sync + 'static) -> Self {
        let (asked, mut questions) = watch::channel(0);
        let (answered, answers) = watch::channel(Answer { asked: 0, given: None });
        tokio::spawn(async move {
            while questions.changed().await.is_ok() {
                let asked = *questions.borrow_and_update();
                let given = Some(put().await);
                answered.send_replace(Answer { asked, given });
            }
        });
        Self { asked, answers }
    }

    /// An answer to the question as it is put from now on; nothing when the task was ended.
    pub(super) async fn ask(&self) -> Option<T> {
        let mut number = 0;
        self.asked.send_modify(|asked| {
            *asked += 1;
            number = *asked;
        });
        let mut answers = self.answers.clone();
        let answer = answers.wait_for(|answer| answer.asked >= number).await.ok()?;
        answer.given.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use tokio::sync::Semaphore;

    use super::*;

    #[tokio::test]
    async fn who_asks_meanwhile_shares_the_next_answer() {
        let (put, may_answer) = (Arc::new(AtomicU64::new(0)), Arc::new(Semaphore::new(0)));
        let batched = Batched::new({
            let (put, may_answer) = (put.clone(), may_answer.clone());
            move || {
                let (number, may_answer) = (put.fetch_add(1, Ordering::SeqCst) + 1, may_answer.clone());
                async move { may_answer.acquire().await.map(|permit| permit.forget()).map(|()| number).ok() }
            }
        });
        let answer_when_put = async |number| {
            while put.load(Ordering::SeqCst) < number {
                tokio::task::yield_now().await;
            }
            may_answer.add_permits(1);
        };
        let later = async {
            answer_when_put(1).await;
            let all = async { tokio::join!(batched.ask(), batched.ask(), batched.ask()) };
            tokio::join!(all, answer_when_put(2)).0
        };
        let (first, (second, third, fourth)) = tokio::join!(batched.ask(), later);
        assert_eq!([first, second, third, fourth].map(Option::flatten), [Some(1), Some(2), Some(2), Some(2)]);
    }
}
