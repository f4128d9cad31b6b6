//! A flow schema within its level.

use bytes::Bytes;

use crate::config::{Distinguisher, FlowSchema};
use crate::digest::Digest;
use crate::metrics::FlowMetrics;

/// The data that all requests of a schema share.
pub struct Flow {
    pub schema: String,
    pub schema_uid: Bytes,
    pub level_uid: Bytes,
    pub distinguisher: Option<Distinguisher>,
    pub metrics: FlowMetrics,
}

impl Flow {
    /// Creates the flow data of a schema, given the uid of its level.
    pub fn new(schema: &FlowSchema, level_uid: &Bytes, metrics: FlowMetrics) -> Self {
        Flow {
            schema: schema.name.clone(),
            schema_uid: Bytes::copy_from_slice(schema.uid.as_bytes()),
            level_uid: level_uid.clone(),
            distinguisher: schema.distinguisher,
            metrics,
        }
    }

    /// The flow distinguisher of a request.
    pub fn distinguish<'d>(&self, digest: &Digest<'d>) -> &'d str {
        match self.distinguisher {
            Some(Distinguisher::ByUser) => digest.user,
            Some(Distinguisher::ByNamespace) => digest.namespace,
            None => "",
        }
    }
}
