//! The service Maintenance.

use std::sync::Arc;

use storage::model::Sizes;
use tonic::Status;

use crate::{
    answer::{Answer, of_store},
    convert::{positive, signed},
    etcd::Etcd,
    member::TERM,
    proto::{
        AlarmMember, AlarmRequest, AlarmResponse, AlarmType, DefragmentResponse, DowngradeInfo, DowngradeRequest,
        DowngradeResponse, HashKvRequest, HashKvResponse, HashResponse, MoveLeaderRequest, MoveLeaderResponse,
        StatusResponse, alarm_request::AlarmAction, downgrade_request::DowngradeAction,
    },
    version::{CLUSTER_VERSION, VERSION},
};

pub(crate) async fn alarm(etcd: Arc<Etcd>, request: AlarmRequest) -> Result<AlarmResponse, Status> {
    let kind = request.alarm();
    let member = AlarmMember { member_id: request.member_id, alarm: request.alarm };
    let alarms = match request.action() {
        AlarmAction::Get => {
            let raised = etcd.alarms.raised().into_iter();
            let wanted = raised.filter(|(_, raised)| kind == AlarmType::None || *raised == request.alarm);
            wanted.map(|(member_id, alarm)| AlarmMember { member_id, alarm }).collect()
        }
        AlarmAction::Activate if kind != AlarmType::None => {
            etcd.alarms.raise(request.member_id, kind).await?;
            vec![member]
        }
        AlarmAction::Deactivate if etcd.alarms.clear(request.member_id, kind).await? => vec![member],
        AlarmAction::Activate | AlarmAction::Deactivate => Vec::new(),
    };
    Ok(AlarmResponse { header: Some(etcd.header().await?), alarms })
}

/// The number of the last write stands for the index of a log entry.
pub(crate) async fn status(etcd: Arc<Etcd>, (): ()) -> Result<StatusResponse, Status> {
    let revision = etcd.revision().await?;
    let Sizes { total, in_use } = etcd.store.sizes().map_err(of_store)?;
    Ok(StatusResponse {
        header: Some(etcd.header_at(revision)),
        version: VERSION.to_owned(),
        db_size: signed(total),
        leader: etcd.member.id,
        raft_index: revision,
        raft_term: TERM,
        raft_applied_index: revision,
        errors: etcd.alarms.raised().iter().map(alarm_text).collect(),
        db_size_in_use: signed(in_use),
        is_learner: false,
        storage_version: CLUSTER_VERSION.to_owned(),
        db_size_quota: etcd.alarms.quota().map_or(-1, signed),
        downgrade_info: Some(DowngradeInfo::default()),
    })
}

/// The text form of an alarm.
fn alarm_text((member, kind): &(u64, i32)) -> String {
    let kind = AlarmType::try_from(*kind).unwrap_or(AlarmType::None);
    format!("memberID:{member} alarm:{} ", kind.as_str_name())
}

pub(crate) async fn defragment(etcd: Arc<Etcd>, (): ()) -> Result<DefragmentResponse, Status> {
    etcd.store.defragment().await.map_err(of_store)?;
    Ok(DefragmentResponse::default())
}

pub(crate) async fn hash(etcd: Arc<Etcd>, (): ()) -> Result<HashResponse, Status> {
    let (hash, revision) = etcd.store.hash_all().await.map_err(of_store)?;
    Ok(HashResponse { header: Some(etcd.header_at(revision)), hash })
}

pub(crate) async fn hash_kv(etcd: Arc<Etcd>, request: HashKvRequest) -> Result<HashKvResponse, Status> {
    let hash = etcd.store.hash_history(positive(request.revision)).await.map_err(of_store)?;
    Ok(HashKvResponse {
        header: Some(etcd.header_at(hash.revision)),
        hash: hash.hash,
        // etcd reports -1 before the first compaction.
        compact_revision: positive(signed(hash.compacted)).map_or(-1, signed),
        hash_revision: signed(hash.hash_revision),
    })
}

/// The only member stays the leader.
pub(crate) async fn move_leader(etcd: Arc<Etcd>, request: MoveLeaderRequest) -> Result<MoveLeaderResponse, Status> {
    if request.target_id == etcd.member.id {
        Ok(MoveLeaderResponse { header: Some(etcd.header().await?) })
    } else {
        Err(Answer::BAD_TRANSFEREE.into())
    }
}

/// The data has no form that an older etcd reads.
pub(crate) async fn downgrade(_: Arc<Etcd>, request: DowngradeRequest) -> Result<DowngradeResponse, Status> {
    let is_version = |text: &str| {
        let parts: Vec<_> = text.split('.').collect();
        (2..=3).contains(&parts.len()) && parts.iter().all(|part| part.parse::<u32>().is_ok())
    };
    match request.action() {
        DowngradeAction::Cancel => Err(Answer::NO_DOWNGRADE.into()),
        _ if !is_version(&request.version) => Err(Answer::DOWNGRADE_FORMAT.into()),
        _ => Err(Answer::DOWNGRADE_TARGET.into()),
    }
}
