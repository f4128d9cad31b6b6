//! Options of `pods/log` (`ValidatePodLogOptions`).

use endpoints::Connected;
use http::StatusCode;
use machinery::field_error::FieldError;
use machinery::field_path::Path;
use machinery::scalar::Time;
use machinery::status::{GroupResource, Status};
use serving::{Body, Response};

const SPLIT: &str = "PodLogsQuerySplitStreams";

/// Options that the server must understand before it looks for the pod.
pub fn check(connected: &Connected<'_>) -> Result<(), Status> {
    let query = connected.query;
    let since_time = query.get("sinceTime").filter(|text| !text.is_empty());
    since_time.map(Time::parse).transpose().map_err(|e| Status::bad_request(e.to_string()))?;
    let said = Options {
        since_seconds: query.number("sinceSeconds")?,
        tail_lines: query.number("tailLines")?,
        limit_bytes: query.number("limitBytes")?,
        has_since_time: since_time.is_some(),
        stream: query.get("stream"),
        splits: connected.context.enabled(SPLIT),
    };
    let errors = said.errors();
    if errors.is_empty() {
        return Ok(());
    }
    let kind = GroupResource { group: "", resource: "PodLogOptions" };
    Err(Status::invalid(kind, &connected.attributes.name, &errors))
}

/// The log of a pod that has not been anywhere yet.
pub fn nothing() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

struct Options<'q> {
    since_seconds: Option<i64>,
    tail_lines: Option<i64>,
    limit_bytes: Option<i64>,
    has_since_time: bool,
    stream: Option<&'q str>,
    /// Whether standard output and standard error can be had apart.
    splits: bool,
}

impl Options<'_> {
    fn errors(&self) -> Vec<FieldError> {
        let (mut errors, whole) = (Vec::new(), Path::new(""));
        if let Some(lines) = self.tail_lines.filter(|lines| *lines < 0) {
            errors.push(FieldError::invalid(&Path::new("tailLines"), lines, "must be greater than or equal to 0"));
        }
        if let Some(bytes) = self.limit_bytes.filter(|bytes| *bytes < 1) {
            errors.push(FieldError::invalid(&Path::new("limitBytes"), bytes, "must be greater than 0"));
        }
        match self.since_seconds {
            Some(_) if self.has_since_time => {
                let why = "at most one of `sinceTime` or `sinceSeconds` may be specified";
                errors.push(FieldError::forbidden(&whole, why));
            }
            Some(seconds) if seconds < 1 => {
                errors.push(FieldError::invalid(&Path::new("sinceSeconds"), seconds, "must be greater than 0"));
            }
            _ => {}
        }
        self.stream_errors(&mut errors);
        errors
    }

    fn stream_errors(&self, errors: &mut Vec<FieldError>) {
        let path = Path::new("stream");
        let Some(stream) = self.stream else { return };
        if !self.splits {
            return errors.push(FieldError::forbidden(&path, "may not be specified"));
        }
        if !matches!(stream, "All" | "Stdout" | "Stderr") {
            errors.push(FieldError::not_supported(&path, stream, &["All", "Stderr", "Stdout"]));
        }
        if stream != "All" && self.tail_lines.is_some() {
            let why = "`tailLines` and specific `stream` are mutually exclusive for now";
            errors.push(FieldError::forbidden(&Path::new(""), why));
        }
    }
}
