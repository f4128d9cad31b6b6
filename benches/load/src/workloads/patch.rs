//! PATCH of one label.

use std::sync::Arc;

use http::Method;

use super::{pod_name, timed};
use crate::Common;
use crate::client::{ApiRequest, Server};
use crate::error::Result;
use crate::measure;

/// Each client changes a separate pod, so that there are no write conflicts.
pub async fn run(server: Arc<Server>, common: &Common) -> Result<()> {
    let (namespace, pods) = (common.namespace.clone(), common.clients.max(1) * 4);
    measure::run("PATCH pod", server, common, move |mut client, number| {
        let api_request = ApiRequest {
            method: Method::PATCH,
            content_type: "application/merge-patch+json",
            body: format!("{{\"metadata\":{{\"labels\":{{\"load\":\"{number}\"}}}}}}").into(),
            ..ApiRequest::get(format!("/api/v1/namespaces/{namespace}/pods/{}", pod_name(number % pods)))
        };
        async move { timed(&mut client, &api_request).await }
    })
    .await
}
