//! Requests that are passed on to what a resource stands for (`ConnectResource`).

use machinery::status::Status;
use serving::Response;

use super::Call;
use crate::admission::Operation;
use crate::endpoint::{Connected, Endpoint, SubresourceHandler};

/// Asks admission and has the handler connect.
pub async fn connect(endpoint: &Endpoint, handler: &dyn SubresourceHandler, call: Call) -> Result<Response, Status> {
    let attributes = call.attributes(endpoint, Operation::Connect, &call.info.name, false);
    let context = call.context(endpoint, false);
    endpoint.admission.validate(&attributes, None, None).await?;
    handler.connect(Connected { endpoint, context: &context, attributes: &attributes, query: &call.query }).await
}
