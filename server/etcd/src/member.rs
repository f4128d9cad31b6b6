//! The identity of the only member, as an etcd computes it.

use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};

use crate::proto;

/// The term of a cluster whose only member was elected once.
pub(crate) const TERM: u64 = 2;

/// The only member of the cluster.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) id: u64,
    pub(crate) cluster_id: u64,
    pub(crate) name: String,
    pub(crate) peer_urls: Vec<String>,
    pub(crate) client_urls: Vec<String>,
}

impl Member {
    /// Computes the numbers of the member and of the cluster from its peer URLs and the cluster's token.
    pub(crate) fn new(name: String, peer_urls: Vec<String>, client_urls: Vec<String>, token: &str) -> Self {
        let mut sorted: Vec<&str> = peer_urls.iter().map(String::as_str).collect();
        sorted.sort_unstable();
        let id = first_eight(&[sorted.concat().as_bytes(), token.as_bytes()]);
        let cluster_id = first_eight(&[&id.to_be_bytes()]);
        Self { id, cluster_id, name, peer_urls, client_urls }
    }

    /// The member as a message.
    pub(crate) fn message(&self) -> proto::Member {
        proto::Member {
            id: self.id,
            name: self.name.clone(),
            peer_urls: self.peer_urls.clone(),
            client_urls: self.client_urls.clone(),
            is_learner: false,
        }
    }
}

/// The first eight bytes of a SHA-1, which etcd uses for identifiers.
fn first_eight(parts: &[&[u8]]) -> u64 {
    let mut context = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    parts.iter().for_each(|part| context.update(part));
    context.finish().as_ref().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_the_identifiers_of_a_default_etcd() {
        let urls = vec!["http://localhost:2380".to_owned()];
        let member = Member::new("default".into(), urls.clone(), urls, "etcd-cluster");
        assert_eq!(format!("{:x} {:x}", member.id, member.cluster_id), "8e9e05c52164694d cdf818194e3a8c32");
    }
}
