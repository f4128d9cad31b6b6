//! Bandwidth limits of upgraded connections, in each direction (`--max-connection-bytes-per-sec`;
//! upstream: `flowrate`).

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// Period of the byte quota.
const PERIOD: Duration = Duration::from_millis(100);

/// A connection with an optional bandwidth limit.
pub(crate) struct Throttled<I> {
    inner: I,
    read: Option<Quota>,
    written: Option<Quota>,
}

/// The byte quota of one direction.
struct Quota {
    /// Bytes per period.
    share: usize,
    left: usize,
    next: Pin<Box<Sleep>>,
}

impl<I> Throttled<I> {
    pub(crate) fn new(inner: I, bytes_per_second: Option<u64>) -> Self {
        let quota = || bytes_per_second.map(Quota::new);
        Throttled { inner, read: quota(), written: quota() }
    }
}

impl Quota {
    fn new(bytes_per_second: u64) -> Self {
        let share = u128::from(bytes_per_second) * PERIOD.as_millis() / 1000;
        let share = usize::try_from(share).unwrap_or(usize::MAX).max(1);
        Quota { share, left: share, next: Box::pin(sleep_until(Instant::now() + PERIOD)) }
    }

    /// Returns the remaining quota; waits for the next period if it is zero.
    fn poll_left(&mut self, cx: &mut Context<'_>) -> Poll<usize> {
        if self.left == 0 {
            ready!(self.next.as_mut().poll(cx));
            self.left = self.share;
            self.next.as_mut().reset(Instant::now() + PERIOD);
        }
        Poll::Ready(self.left)
    }
}

impl<I: AsyncRead + Unpin> AsyncRead for Throttled<I> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let Throttled { inner, read, .. } = &mut *self;
        let Some(quota) = read else { return Pin::new(inner).poll_read(cx, buffer) };
        let most = ready!(quota.poll_left(cx)).min(buffer.remaining());
        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(most));
        ready!(Pin::new(inner).poll_read(cx, &mut part))?;
        let length = part.filled().len();
        buffer.advance(length);
        quota.left -= length;
        Poll::Ready(Ok(()))
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Throttled<I> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let Throttled { inner, written, .. } = &mut *self;
        let Some(quota) = written else { return Pin::new(inner).poll_write(cx, bytes) };
        let most = ready!(quota.poll_left(cx)).min(bytes.len());
        let length = ready!(Pin::new(inner).poll_write(cx, &bytes[..most]))?;
        quota.left -= length;
        Poll::Ready(Ok(length))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    #[tokio::test(start_paused = true)]
    async fn limits_bandwidth() {
        for (limit, seconds) in [(None, 0), (Some(1000), 2)] {
            let (near, mut far) = duplex(1 << 20);
            let mut throttled = Throttled::new(near, limit);
            let begin = Instant::now();
            throttled.write_all(&[0; 3000]).await.unwrap();
            assert_eq!(begin.elapsed().as_secs(), seconds, "to write at {limit:?}");
            far.write_all(&[0; 3000]).await.unwrap();
            let begin = Instant::now();
            throttled.read_exact(&mut [0; 3000]).await.unwrap();
            assert_eq!(begin.elapsed().as_secs(), seconds, "to read at {limit:?}");
        }
    }
}
