//! Forwards errors of another server to a client.

use super::{GroupResource, Status};

impl Status {
    /// An error that another server returned about an object, with its text
    /// (`NewGenericServerResponse` of an expected response).
    pub fn answered(code: u16, of: GroupResource<'_>, name: &str, text: &str) -> Self {
        let (reason, message) = match code {
            400 => ("BadRequest", "the server rejected our request for an unknown reason".to_owned()),
            401 => ("Unauthorized", "the server has asked for the client to provide credentials".into()),
            403 => ("Forbidden", text.to_owned()),
            404 => ("NotFound", "the server could not find the requested resource".into()),
            405 => ("MethodNotAllowed", "the server does not allow this method on the requested resource".into()),
            406 if matches!(text, "" | "unknown") => (
                "NotAcceptable",
                "the server was unable to respond with a content type that the client supports".into(),
            ),
            406 => ("NotAcceptable", text.to_owned()),
            409 => ("Conflict", "the server reported a conflict".into()),
            415 => ("UnsupportedMediaType", text.to_owned()),
            422 => ("Invalid", "the server rejected our request due to an error in our request".into()),
            429 => {
                let why = "the server has received too many requests and has asked us to try again later";
                ("TooManyRequests", why.into())
            }
            503 => ("ServiceUnavailable", "the server is currently unable to handle the request".into()),
            504 => {
                let why = "the server was unable to return a response in the time allotted, but may still be processing the request";
                ("Timeout", why.into())
            }
            500.. => {
                let why = format!("an error on the server ({text:?}) has prevented the request from succeeding");
                ("InternalError", why)
            }
            _ => {
                let why =
                    format!("the server responded with the status code {code} but did not return more information");
                ("", why)
            }
        };
        // Upstream omits the verb, but not the space after it.
        Self::new(code, reason, format!("{message} ( {of} {name})")).about(of, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_codes_to_reasons() {
        let of = GroupResource { group: "", resource: "pods/log" };
        let check = |code: u16, reason: &str, message: &str| {
            let status = Status::answered(code, of, "web", "gone fishing");
            assert_eq!((status.reason, status.message.as_str()), (reason, message));
        };
        check(404, "NotFound", "the server could not find the requested resource ( pods/log web)");
        check(403, "Forbidden", "gone fishing ( pods/log web)");
        let broken =
            "an error on the server (\"gone fishing\") has prevented the request from succeeding ( pods/log web)";
        check(502, "InternalError", broken);
        let unknown =
            "the server responded with the status code 302 but did not return more information ( pods/log web)";
        check(302, "", unknown);
    }
}
