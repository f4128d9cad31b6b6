//! PATCH of one label.

use std::sync::Arc;

use http::Method;

use super::{pod_name, timed};
use crate::Common;
use crate::client::{Ask, Server};
use crate::error::Result;
use crate::measure;

/// Each client changes a pod of its own, so that nobody waits for anybody.
pub async fn run(server: Arc<Server>, common: &Common) -> Result<()> {
    let (namespace, pods) = (common.namespace.clone(), common.clients.max(1) * 4);
    measure::run("PATCH pod", server, common, move |mut client, number| {
        let ask = Ask {
            method: Method::PATCH,
            content_type: "application/merge-patch+json",
            body: format!("{{\"metadata\":{{\"labels\":{{\"load\":\"{number}\"}}}}}}").into(),
            ..Ask::get(format!("/api/v1/namespaces/{namespace}/pods/{}", pod_name(number % pods)))
        };
        async move { timed(&mut client, &ask).await }
    })
    .await
}
