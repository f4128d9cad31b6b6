//! Requests that are proxied to the backend of a resource (`ConnectResource`).

use machinery::status::Status;
use request::{Request, Response};

use super::ResourceRequest;
use crate::admission::Operation;
use crate::endpoint::{ConnectRequest, Endpoint, SubresourceHandler};

/// Proxies a request with the handler of the subresource.
pub async fn connect(
    endpoint: &Endpoint,
    handler: &dyn SubresourceHandler,
    call: ResourceRequest,
    request: Request,
) -> Result<Response, Status> {
    let of_options = endpoint.for_subresource(&call.info.subresource)?;
    let attributes = call.attributes(&of_options, Operation::Connect, &call.info.name, false);
    let context = call.context(endpoint, false);
    let (info, query) = (&*call.info, &call.info.query);
    handler.connect(ConnectRequest { endpoint, context: &context, attributes: &attributes, info, query }, request).await
}
