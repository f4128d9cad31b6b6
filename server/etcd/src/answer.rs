//! Errors of etcd's API: codes and texts, which clients compare.

use storage::Error;
use tonic::{Code, Status};

/// An error with etcd's code and text (`rpctypes`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer(Code, &'static str);

impl Answer {
    pub(crate) const EMPTY_KEY: Self = Self(Code::InvalidArgument, "etcdserver: key is not provided");
    pub(crate) const KEY_NOT_FOUND: Self = Self(Code::InvalidArgument, "etcdserver: key not found");
    pub(crate) const VALUE_PROVIDED: Self = Self(Code::InvalidArgument, "etcdserver: value is provided");
    pub(crate) const LEASE_PROVIDED: Self = Self(Code::InvalidArgument, "etcdserver: lease is provided");
    pub(crate) const TOO_MANY_OPS: Self = Self(Code::InvalidArgument, "etcdserver: too many operations in txn request");
    pub(crate) const DUPLICATE_KEY: Self =
        Self(Code::InvalidArgument, "etcdserver: duplicate key given in txn request");
    pub(crate) const INVALID_SORT: Self = Self(Code::InvalidArgument, "etcdserver: invalid sort option");
    pub(crate) const COMPACTED: Self = Self(Code::OutOfRange, "etcdserver: mvcc: required revision has been compacted");
    pub(crate) const FUTURE_REVISION: Self =
        Self(Code::OutOfRange, "etcdserver: mvcc: required revision is a future revision");
    pub(crate) const NO_SPACE: Self = Self(Code::ResourceExhausted, "etcdserver: mvcc: database space exceeded");
    pub(crate) const REQUEST_TOO_LARGE: Self = Self(Code::InvalidArgument, "etcdserver: request is too large");
    pub(crate) const LEASE_NOT_FOUND: Self = Self(Code::NotFound, "etcdserver: requested lease not found");
    pub(crate) const LEASE_EXISTS: Self = Self(Code::FailedPrecondition, "etcdserver: lease already exists");
    pub(crate) const LEASE_TTL_TOO_LARGE: Self = Self(Code::OutOfRange, "etcdserver: too large lease TTL");
    pub(crate) const MEMBER_NOT_FOUND: Self = Self(Code::NotFound, "etcdserver: member not found");
    pub(crate) const MEMBER_BAD_URLS: Self = Self(Code::InvalidArgument, "etcdserver: given member URLs are invalid");
    pub(crate) const MEMBER_NOT_LEARNER: Self =
        Self(Code::FailedPrecondition, "etcdserver: can only promote a learner member");
    pub(crate) const MEMBERS_NOT_STARTED: Self =
        Self(Code::FailedPrecondition, "etcdserver: re-configuration failed due to not enough started members");
    pub(crate) const BAD_TRANSFEREE: Self = Self(Code::FailedPrecondition, "etcdserver: bad leader transferee");
    pub(crate) const DOWNGRADE_FORMAT: Self =
        Self(Code::InvalidArgument, "etcdserver: wrong downgrade target version format");
    pub(crate) const DOWNGRADE_TARGET: Self =
        Self(Code::InvalidArgument, "etcdserver: invalid downgrade target version");
    pub(crate) const NO_DOWNGRADE: Self = Self(Code::FailedPrecondition, "etcdserver: no inflight downgrade job");
    pub(crate) const ROOT_USER_MISSING: Self = Self(Code::FailedPrecondition, "etcdserver: root user does not exist");
    pub(crate) const USER_NOT_FOUND: Self = Self(Code::FailedPrecondition, "etcdserver: user name not found");
    pub(crate) const ROLE_NOT_FOUND: Self = Self(Code::FailedPrecondition, "etcdserver: role name not found");
    pub(crate) const AUTH_NOT_ENABLED: Self =
        Self(Code::FailedPrecondition, "etcdserver: authentication is not enabled");
    /// A text of this server: etcd stores users and roles while authentication is disabled.
    pub(crate) const NO_USERS: Self =
        Self(Code::Unimplemented, "etcdserver: this server has no users and roles; use client certificates");
    pub(crate) const STOPPED: Self = Self(Code::Unavailable, "etcdserver: server stopped");
    pub(crate) const CORRUPT: Self = Self(Code::DataLoss, "etcdserver: corrupt cluster");
    pub(crate) const TIMED_OUT: Self = Self(Code::Unavailable, "etcdserver: request timed out");

    /// The text, as the reason of a canceled watch.
    pub(crate) fn text(self) -> &'static str {
        self.1
    }
}

impl From<Answer> for Status {
    fn from(Answer(code, text): Answer) -> Self {
        Status::new(code, text)
    }
}

/// Returns the error of etcd that an error of the store corresponds to.
pub(crate) fn of_store(error: Error) -> Status {
    let answer = match &error {
        Error::Compacted { .. } => Answer::COMPACTED,
        Error::FutureRevision { .. } => Answer::FUTURE_REVISION,
        Error::EmptyKey => Answer::EMPTY_KEY,
        Error::KeyNotFound => Answer::KEY_NOT_FOUND,
        Error::LeaseNotFound => Answer::LEASE_NOT_FOUND,
        Error::LeaseExists => Answer::LEASE_EXISTS,
        Error::TooManyWrites { .. } => Answer::REQUEST_TOO_LARGE,
        Error::NoSpace { .. } => Answer::NO_SPACE,
        Error::Closed => Answer::STOPPED,
        Error::Slow { .. } => Answer::TIMED_OUT,
        Error::Corrupt { .. } => {
            tracing::error!(%error, "the store reported damage");
            Answer::CORRUPT
        }
        other => return Status::unknown(format!("etcdserver: {other}")),
    };
    answer.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_store_have_the_texts_that_clients_compare() {
        let status = of_store(Error::Compacted { requested: 1, compacted: 2 });
        assert_eq!(
            (status.code(), status.message()),
            (Code::OutOfRange, "etcdserver: mvcc: required revision has been compacted")
        );
        assert_eq!(of_store(Error::LeaseNotFound).code(), Code::NotFound);
        assert_eq!(of_store(Error::NoSpace { reason: "x".into() }).code(), Code::ResourceExhausted);
    }
}
