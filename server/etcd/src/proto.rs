//! The messages of etcd's API, generated from `proto/`.

#![allow(clippy::all, clippy::pedantic, missing_docs, reason = "generated")]

/// Keys and changes.
pub(crate) mod mvccpb {
    include!(concat!(env!("OUT_DIR"), "/mvccpb.rs"));
}

/// Requests and responses.
pub(crate) mod etcdserverpb {
    include!(concat!(env!("OUT_DIR"), "/etcdserverpb.rs"));
}

pub(crate) use etcdserverpb::*;
