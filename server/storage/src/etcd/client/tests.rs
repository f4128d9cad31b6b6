//! Calls to fake members that take no request, answer with an error, or have no leader.

use std::{
    convert::Infallible,
    future::{Ready, ready},
    sync::Arc,
};

use futures_util::stream::{self, Iter};
use hyper::{Request, body::Incoming, server::conn::http2, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;
use tonic::{
    Code, Response, Streaming,
    server::{Grpc, StreamingService},
};
use tonic_prost::ProstCodec;

use super::*;

type Message = Result<(), Status>;

/// Answers any call with an empty message or with an error.
struct Method(Message);

impl StreamingService<()> for Method {
    type Response = ();
    type ResponseStream = Iter<std::array::IntoIter<Message, 1>>;
    type Future = Ready<Result<Response<Self::ResponseStream>, Status>>;

    fn call(&mut self, _: tonic::Request<Streaming<()>>) -> Self::Future {
        ready(self.0.clone().map(|message| Response::new(stream::iter([Ok(message)]))))
    }
}

/// A member with answers that the test defines.
struct FakeMember {
    url: String,
    calls: Arc<AtomicUsize>,
}

impl FakeMember {
    /// Starts a member. The argument of `answer` is whether the call requires a leader.
    async fn start(answer: fn(bool) -> Message) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let counted = Arc::clone(&counted);
                let service = service_fn(move |request: Request<Incoming>| {
                    counted.fetch_add(1, Ordering::SeqCst);
                    let answer = answer(request.headers().contains_key("hasleader"));
                    async move {
                        let mut grpc = Grpc::new(ProstCodec::<(), ()>::default());
                        Ok::<_, Infallible>(grpc.streaming(Method(answer), request).await)
                    }
                });
                let connection =
                    http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service);
                tokio::spawn(connection);
            }
        });
        Self { url, calls }
    }

    /// Starts a member that answers every call.
    async fn healthy() -> Self {
        Self::start(|_| Ok(())).await
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

async fn member(url: &str) -> Member {
    Member::new(url, None).await.unwrap()
}

fn client(members: impl Into<Vec<Member>>) -> Client {
    Client { members: members.into(), preferred: AtomicUsize::new(0) }
}

/// Returns a member with an address where nothing listens.
async fn refused() -> Member {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    member(&format!("http://127.0.0.1:{port}")).await
}

/// Returns a member with a channel that takes no requests, because its runtime has ended.
fn unready() -> Member {
    let make = || tokio::runtime::Runtime::new().unwrap().block_on(member("http://127.0.0.1:1"));
    std::thread::spawn(make).join().unwrap()
}

#[tokio::test]
async fn a_write_that_was_not_sent_goes_to_another_member() {
    for unreachable in [refused().await, unready()] {
        let error = unreachable.kv.clone().txn(Txn::new()).await.unwrap_err();
        let other = FakeMember::healthy().await;
        let client = client([unreachable, member(&other.url).await]);
        assert!(client.txn(Txn::new).await.is_ok(), "{error}");
        assert_eq!(other.calls(), 1);
        assert!(client.txn(Txn::new).await.is_ok() && other.calls() == 2, "the next call begins with that member");
    }
}

#[tokio::test]
async fn a_write_that_was_sent_is_not_repeated_and_a_read_is() {
    let failing = FakeMember::start(|_| Err(Status::unavailable("etcdserver: request timed out"))).await;
    let other = FakeMember::healthy().await;
    let client = client([member(&failing.url).await, member(&other.url).await]);
    assert_eq!(client.txn(Txn::new).await.unwrap_err().code(), Code::Unavailable);
    assert_eq!((failing.calls(), other.calls()), (1, 0));
    assert!(client.range(&Range::default()).await.is_ok());
    assert_eq!((failing.calls(), other.calls()), (2, 1));
}

#[tokio::test]
async fn a_refused_request_is_not_repeated() {
    let refusing = FakeMember::start(|_| Err(Status::out_of_range("compacted"))).await;
    let client = client([member(&refusing.url).await]);
    assert_eq!(client.range(&Range::default()).await.unwrap_err().code(), Code::OutOfRange);
    assert_eq!(refusing.calls(), 1);
}

#[tokio::test]
async fn a_watch_leaves_a_member_that_lost_its_leader() {
    // Without the requirement, etcd opens the watch and sends no events.
    let no_leader = |required| if required { Err(Status::unavailable("etcdserver: no leader")) } else { Ok(()) };
    let (alone, other) = (FakeMember::start(no_leader).await, FakeMember::healthy().await);
    let client = client([member(&alone.url).await, member(&other.url).await]);
    assert!(client.range(&Range::default()).await.is_ok(), "a read does not require one");
    let refused = client.watch(b"/a".to_vec(), WatchOptions::new()).await.unwrap_err();
    assert!(is_transient(&refused), "{refused}");
    let mut stream = client.watch(b"/a".to_vec(), WatchOptions::new()).await.unwrap();
    assert!(stream.message().await.unwrap().is_some());
    assert_eq!((alone.calls(), other.calls()), (2, 1));
}
