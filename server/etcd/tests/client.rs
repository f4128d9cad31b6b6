//! The cases of the crate `etcd-client`'s own tests, on the served store.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod common;

use common::Served;
use etcd_client::{
    AlarmAction, AlarmOptions, AlarmType, Client, Compare, CompareOp, ConnectOptions, DeleteOptions, EventType,
    GetOptions, LeaseGrantOptions, LeaseTimeToLiveOptions, PutOptions, Txn, TxnOp, TxnOpResponse, WatchOptions,
};

async fn client(served: &Served) -> Client {
    let options = ConnectOptions::default().with_require_leader(true);
    Client::connect([served.url.as_str()], Some(options)).await.unwrap()
}

#[tokio::test]
async fn puts_return_the_previous_key() {
    let served = Served::start(&[]).await;
    let mut client = client(&served).await;
    client.put("put", "123", None).await.unwrap();
    for (value, before) in [("456", "123"), ("789", "456")] {
        let response = client.put("put", value, Some(PutOptions::new().with_prev_key())).await.unwrap();
        let before_put = response.prev_key().unwrap();
        assert_eq!((before_put.key(), before_put.value()), (&b"put"[..], before.as_bytes()));
    }
    served.stop().await;
}

#[tokio::test]
async fn gets_a_key_a_range_and_a_prefix() {
    let served = Served::start(&[]).await;
    let mut client = client(&served).await;
    for number in ["10", "11", "20", "21"] {
        client.put(format!("get{number}"), number, None).await.unwrap();
    }
    let one = client.get("get11", None).await.unwrap();
    assert_eq!((one.count(), one.more(), one.kvs()[0].value()), (1, false, &b"11"[..]));
    let from = client.get("get11", Some(GetOptions::new().with_from_key().with_limit(2))).await.unwrap();
    assert!(from.more());
    assert_eq!(from.kvs().iter().map(|kv| kv.key()).collect::<Vec<_>>(), [b"get11", b"get20"]);
    let prefix = client.get("get1", Some(GetOptions::new().with_prefix())).await.unwrap();
    assert_eq!((prefix.count(), prefix.kvs().len()), (2, 2));
    served.stop().await;
}

#[tokio::test]
async fn deletes_a_key_a_range_and_a_prefix() {
    let served = Served::start(&[]).await;
    let mut client = client(&served).await;
    for number in ["10", "11", "20", "21", "31", "32"] {
        client.put(format!("del{number}"), number, None).await.unwrap();
    }
    assert_eq!(client.delete("del11", None).await.unwrap().deleted(), 1);
    let range = DeleteOptions::new().with_range("del22");
    assert_eq!(client.delete("del11", Some(range)).await.unwrap().deleted(), 2);
    assert_eq!(client.delete("del3", Some(DeleteOptions::new().with_prefix())).await.unwrap().deleted(), 2);
    let count = client.get("del", Some(GetOptions::new().with_prefix().with_count_only())).await.unwrap();
    assert_eq!(count.count(), 1);
    served.stop().await;
}

#[tokio::test]
async fn a_compacted_revision_cannot_be_read() {
    let served = Served::start(&[]).await;
    let mut client = client(&served).await;
    let first = client.put("compact", "0", None).await.unwrap().header().unwrap().revision();
    let second = client.put("compact", "1", None).await.unwrap().header().unwrap().revision();
    client.compact(second, None).await.unwrap();
    let refused = client.get("compact", Some(GetOptions::new().with_revision(first))).await.unwrap_err();
    assert!(refused.to_string().contains("etcdserver: mvcc: required revision has been compacted"), "{refused}");
    let read = client.get("compact", Some(GetOptions::new().with_revision(second))).await.unwrap();
    assert_eq!(read.kvs()[0].value(), b"1");
    served.stop().await;
}

#[tokio::test]
async fn a_transaction_takes_one_of_two_sides() {
    let served = Served::start(&[]).await;
    let mut client = client(&served).await;
    client.put("txn01", "01", None).await.unwrap();
    let txn = || {
        Txn::new()
            .when(&[Compare::value("txn01", CompareOp::Equal, "01")][..])
            .and_then(&[TxnOp::put("txn01", "02", Some(PutOptions::new().with_prev_key()))][..])
            .or_else(&[TxnOp::get("txn01", None)][..])
    };
    let first = client.txn(txn()).await.unwrap();
    assert!(first.succeeded());
    assert!(matches!(&first.op_responses()[0], TxnOpResponse::Put(put) if put.prev_key().unwrap().value() == b"01"));
    let second = client.txn(txn()).await.unwrap();
    assert!(!second.succeeded());
    assert!(matches!(&second.op_responses()[0], TxnOpResponse::Get(get) if get.kvs()[0].value() == b"02"));
    served.stop().await;
}

#[tokio::test]
async fn a_watch_is_created_delivers_and_is_canceled() {
    let served = Served::start(&[]).await;
    let mut client = client(&served).await;
    let mut watch = client.watch("watch01", Some(WatchOptions::new().with_prev_key())).await.unwrap();
    let created = watch.message().await.unwrap().unwrap();
    assert!(created.created() && !created.canceled());
    client.put("watch01", "01", None).await.unwrap();
    let response = watch.message().await.unwrap().unwrap();
    assert_eq!((response.watch_id(), response.events().len()), (created.watch_id(), 1));
    let event = &response.events()[0];
    assert_eq!((event.event_type(), event.kv().unwrap().value()), (EventType::Put, &b"01"[..]));
    watch.cancel(created.watch_id()).await.unwrap();
    let canceled = watch.message().await.unwrap().unwrap();
    assert!(canceled.canceled() && canceled.watch_id() == created.watch_id());
    served.stop().await;
}

#[tokio::test]
async fn leases_are_granted_renewed_listed_and_revoked() {
    let served = Served::start(&[]).await;
    let mut client = client(&served).await;
    let lease = client.lease_grant(60, None).await.unwrap();
    assert_eq!(lease.ttl(), 60);
    let (mut keeper, mut renewals) = client.lease_keep_alive(lease.id()).await.unwrap();
    keeper.keep_alive().await.unwrap();
    let renewed = renewals.message().await.unwrap().unwrap();
    assert_eq!((renewed.id(), renewed.ttl()), (lease.id(), 60));
    client.put("leased", "x", Some(PutOptions::new().with_lease(lease.id()))).await.unwrap();
    let with_keys = Some(LeaseTimeToLiveOptions::new().with_keys());
    let left = client.lease_time_to_live(lease.id(), with_keys).await.unwrap();
    assert_eq!((left.granted_ttl(), left.keys()), (60, &[b"leased".to_vec()][..]));
    for id in [100, 101] {
        client.lease_grant(60, Some(LeaseGrantOptions::new().with_id(id))).await.unwrap();
    }
    let mut ids: Vec<i64> = client.leases().await.unwrap().leases().iter().map(|lease| lease.id()).collect();
    ids.sort_unstable();
    assert!(ids.contains(&100) && ids.contains(&101) && ids.len() == 3);
    client.lease_revoke(lease.id()).await.unwrap();
    assert_eq!(client.get("leased", None).await.unwrap().count(), 0);
    assert!(client.lease_grant(60, Some(LeaseGrantOptions::new().with_id(100))).await.is_err());
    served.stop().await;
}

#[tokio::test]
async fn maintenance_and_members_answer() {
    let served = Served::start(&[]).await;
    let mut client = client(&served).await;
    client.put("a", "1", None).await.unwrap();
    let status = client.status().await.unwrap();
    assert!(status.db_size() > 0 && status.version() == "3.6.6" && status.leader() != 0);
    client.defragment().await.unwrap();
    client.hash().await.unwrap();
    assert_ne!(client.hash_kv(0).await.unwrap().hash(), 0);
    let mut snapshot = client.snapshot().await.unwrap();
    let mut length = 0;
    while let Some(part) = snapshot.message().await.unwrap() {
        length += part.blob().len();
    }
    assert_eq!(length % 512, 32, "sectors and a checksum");
    let members = client.member_list().await.unwrap();
    assert_eq!((members.members().len(), members.members()[0].name()), (1, "default"));
    assert!(client.member_add(["http://localhost:2520"], None).await.is_err());
    assert!(client.member_remove(1).await.is_err());
    client.move_leader(status.leader()).await.unwrap();
    assert!(client.move_leader(7).await.is_err());
    served.stop().await;
}

#[tokio::test]
async fn alarms_are_raised_listed_and_cleared() {
    let served = Served::start(&[]).await;
    let mut client = client(&served).await;
    let member = client.status().await.unwrap().leader();
    let options = || {
        let mut options = AlarmOptions::new();
        options.with_member(member);
        Some(options)
    };
    client.alarm(AlarmAction::Activate, AlarmType::Nospace, options()).await.unwrap();
    let raised = client.alarm(AlarmAction::Get, AlarmType::None, None).await.unwrap();
    assert_eq!(raised.alarms().len(), 1);
    let refused = client.put("a", "1", None).await.unwrap_err();
    assert!(refused.to_string().contains("etcdserver: mvcc: database space exceeded"), "{refused}");
    client.delete("a", None).await.unwrap();
    client.alarm(AlarmAction::Deactivate, AlarmType::Nospace, options()).await.unwrap();
    client.put("a", "1", None).await.unwrap();
    served.stop().await;
}

#[tokio::test]
async fn authentication_is_disabled_and_stays_it() {
    let served = Served::start(&[]).await;
    let mut client = client(&served).await;
    client.auth_disable().await.unwrap();
    assert!(client.auth_enable().await.unwrap_err().to_string().contains("root user does not exist"));
    assert!(client.user_list().await.unwrap().users().is_empty());
    assert!(client.role_list().await.unwrap().roles().is_empty());
    assert!(client.user_get("x").await.unwrap_err().to_string().contains("user name not found"));
    assert!(client.role_add("x").await.is_err());
    served.stop().await;
}
