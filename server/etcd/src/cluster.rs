//! The service Cluster: this server is the only member, and stays it.

use std::sync::Arc;

use tonic::Status;

use crate::{
    answer::Answer,
    etcd::Etcd,
    member::TERM,
    proto::{MemberAddRequest, MemberRequest, MemberUpdateRequest, MembersResponse, ResponseHeader},
};

pub(crate) async fn list(etcd: Arc<Etcd>, (): ()) -> Result<MembersResponse, Status> {
    let header = ResponseHeader {
        cluster_id: etcd.member.cluster_id,
        member_id: etcd.member.id,
        revision: 0, // etcd gives none here
        raft_term: TERM,
    };
    Ok(MembersResponse { header: Some(header), members: vec![etcd.member.message()] })
}

pub(crate) async fn add(_: Arc<Etcd>, request: MemberAddRequest) -> Result<MembersResponse, Status> {
    check_urls(&request.peer_urls)?;
    Err(Answer::MEMBERS_NOT_STARTED.into())
}

pub(crate) async fn remove(etcd: Arc<Etcd>, request: MemberRequest) -> Result<MembersResponse, Status> {
    check_member(&etcd, request.id)?;
    Err(Answer::MEMBERS_NOT_STARTED.into())
}

/// Accepts only the URLs that the member has: they are set by flags.
pub(crate) async fn update(etcd: Arc<Etcd>, request: MemberUpdateRequest) -> Result<MembersResponse, Status> {
    check_urls(&request.peer_urls)?;
    check_member(&etcd, request.id)?;
    match request.peer_urls == etcd.member.peer_urls {
        true => list(etcd, ()).await,
        false => Err(Answer::MEMBERS_NOT_STARTED.into()),
    }
}

pub(crate) async fn promote(etcd: Arc<Etcd>, request: MemberRequest) -> Result<MembersResponse, Status> {
    check_member(&etcd, request.id)?;
    Err(Answer::MEMBER_NOT_LEARNER.into())
}

fn check_member(etcd: &Etcd, id: u64) -> Result<(), Status> {
    if id == etcd.member.id { Ok(()) } else { Err(Answer::MEMBER_NOT_FOUND.into()) }
}

fn check_urls(urls: &[String]) -> Result<(), Status> {
    let is_url = |url: &String| {
        let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
        rest.is_some_and(|address| address.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()))
    };
    if !urls.is_empty() && urls.iter().all(is_url) { Ok(()) } else { Err(Answer::MEMBER_BAD_URLS.into()) }
}
