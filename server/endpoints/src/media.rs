//! Media types: the encoding of a request body, and the encoding and form of a response (table,
//! metadata only).

use machinery::features::{self, FeatureGates};
use machinery::status::Status;
use request::negotiation::{Clause, is_consumed, is_produced, parse_accept};

/// An encoding of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Json,
    Yaml,
    Protobuf,
    Cbor,
}

impl Encoding {
    /// The value of a Content-Type header.
    pub fn media_type(self) -> &'static str {
        match self {
            Encoding::Json => "application/json",
            Encoding::Yaml => "application/yaml",
            Encoding::Protobuf => "application/vnd.kubernetes.protobuf",
            Encoding::Cbor => "application/cbor",
        }
    }
}

/// Media types of responses and bodies, as messages list them. The last one requires CBOR.
const ALL: [&str; 4] =
    ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/cbor"];
const ENCODINGS: [(&str, Encoding); 4] =
    [(ALL[0], Encoding::Json), (ALL[1], Encoding::Yaml), (ALL[2], Encoding::Protobuf), (ALL[3], Encoding::Cbor)];
/// Media types of watch streams. The last one requires CBOR.
const STREAMS: [&str; 3] =
    ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch", "application/cbor-seq"];

/// The encodings that an endpoint supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SupportedEncodings {
    /// Enabled by the feature gate `CBORServingAndStorage`.
    pub cbor: bool,
    /// Whether objects can be encoded in protobuf. Of custom resources only tables and metadata
    /// can.
    pub protobuf_objects: bool,
}

impl SupportedEncodings {
    /// The encodings without feature gates.
    pub const DEFAULT: SupportedEncodings = SupportedEncodings { cbor: false, protobuf_objects: true };

    /// The encodings of an endpoint of declared kinds, or of custom resources.
    pub fn of(features: &FeatureGates, is_custom: bool) -> Self {
        SupportedEncodings { cbor: features.enabled(features::CBORServingAndStorage), protobuf_objects: !is_custom }
    }

    fn encodings(self) -> &'static [(&'static str, Encoding)] {
        if self.cbor { &ENCODINGS } else { &ENCODINGS[..3] }
    }

    fn media_types(self) -> &'static [&'static str] {
        if self.cbor { &ALL } else { &ALL[..3] }
    }

    fn streams(self) -> &'static [&'static str] {
        if self.cbor { &STREAMS } else { &STREAMS[..2] }
    }
}

/// The error of go-restful if no route produces a requested media type.
fn without_route(available: &[&str]) -> Status {
    let available = available.join(", ");
    let message = format!("406: Not Acceptable\n\nAvailable representations: {available}");
    Status { details: Some(Box::default()), ..Status::new(406, "NotAcceptable", message) }
}

/// The requested form of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Representation {
    /// The object itself.
    Object,
    /// `as=Table`, in this version of meta.k8s.io.
    Table(String),
    /// `as=PartialObjectMetadata`.
    PartialMetadata(String),
    /// `as=PartialObjectMetadataList`.
    PartialMetadataList(String),
}

/// The negotiated encoding and form of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    pub encoding: Encoding,
    pub form: Representation,
    /// Whether JSON is indented: `pretty=1`, or the client is a browser or curl.
    pub pretty: bool,
    pub stream: bool,
}

/// The forms that a response can have (upstream: `EndpointRestrictions`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forms {
    All,
    /// Virtual resources have no table; neither do some subresources.
    NoTable,
    /// Documents that are not resources, and failures.
    Object,
}

impl Forms {
    /// The form that a clause requests, in this encoding; `None` if it is not available.
    fn of(self, clause: &Clause<'_>, encoding: Encoding) -> Option<Representation> {
        if !clause.is_transformed() {
            return Some(Representation::Object);
        }
        let parameter = |name| clause.parameter(name).unwrap_or_default();
        let version = parameter("v");
        if self == Forms::Object || parameter("g") != "meta.k8s.io" || !matches!(version, "v1" | "v1beta1") {
            return None;
        }
        match parameter("as") {
            "Table" => {
                let has_table = self == Forms::All && matches!(encoding, Encoding::Json | Encoding::Yaml);
                has_table.then(|| Representation::Table(version.into()))
            }
            "PartialObjectMetadata" => Some(Representation::PartialMetadata(version.into())),
            "PartialObjectMetadataList" => Some(Representation::PartialMetadataList(version.into())),
            _ => None,
        }
    }
}

impl SupportedEncodings {
    /// Returns the first clause of a header that can be served
    /// (`negotiation.NegotiateMediaTypeOptions`).
    fn negotiate(self, header: &str, pretty: bool, forms: Forms) -> Option<Accepted> {
        if header.is_empty() {
            return Some(Accepted { encoding: Encoding::Json, form: Representation::Object, pretty, stream: false });
        }
        for clause in parse_accept(header) {
            let stream = clause.parameter("stream").unwrap_or_default();
            let version = clause.parameter("sv").unwrap_or_default();
            if !matches!(stream, "" | "watch") || !(version.is_empty() || (version == "v1" && forms != Forms::Object)) {
                continue;
            }
            for &(_, encoding) in self.encodings().iter().filter(|(media_type, _)| clause.matches(media_type)) {
                if !stream.is_empty() && encoding == Encoding::Yaml {
                    continue;
                }
                let Some(form) = forms.of(&clause, encoding) else { continue };
                let is_object = form == Representation::Object && forms != Forms::Object;
                if is_object && encoding == Encoding::Protobuf && !self.protobuf_objects {
                    continue;
                }
                let pretty = encoding == Encoding::Json && (pretty || clause.parameter("pretty") == Some("1"));
                return Some(Accepted { encoding, form, pretty, stream: false });
            }
        }
        None
    }

    /// Negotiates the response for an object or list (`negotiation.NegotiateOutputMediaType`).
    ///
    /// # Errors
    /// Returns 406 if no clause of the header can be served.
    pub fn accept_object(self, header: Option<&str>, pretty: bool, forms: Forms) -> Result<Accepted, Status> {
        let accepted = self.negotiate(header.unwrap_or_default(), pretty, forms);
        accepted.ok_or_else(|| Status::not_acceptable(self.media_types()))
    }

    /// Negotiates the response for a watch (`negotiation.NegotiateOutputMediaTypeStream`).
    ///
    /// # Errors
    /// Returns 406 if no clause of the header can be served, or if the first one is YAML, which has
    /// no streaming form.
    pub fn accept_stream(self, header: Option<&str>) -> Result<Accepted, Status> {
        let accepted = self.accept_object(header, false, Forms::All)?;
        if accepted.encoding == Encoding::Yaml {
            return Err(Status::not_acceptable(self.streams()));
        }
        Ok(Accepted { pretty: false, stream: true, ..accepted })
    }

    /// Checks that the route of a declared resource matches a header. Upstream leaves this to
    /// go-restful, which runs before all other checks.
    ///
    /// # Errors
    /// Returns 406 if the header names none of the media types of the route.
    pub fn check_route(self, header: Option<&str>, is_collection: bool) -> Result<(), Status> {
        let header = header.unwrap_or_default();
        if is_produced(header, self.media_types()) || (is_collection && is_produced(header, self.streams())) {
            return Ok(());
        }
        let streams = if is_collection { self.streams() } else { &[] };
        Err(without_route(&[self.media_types(), streams].concat()))
    }

    /// Same as [`check_route`](Self::check_route), for a route that produces a media type besides
    /// those of objects.
    ///
    /// # Errors
    /// Returns 406 if the header names none of the media types of the route.
    pub fn check_route_of(self, header: Option<&str>, media_type: &'static str) -> Result<(), Status> {
        let available = [&[media_type], self.media_types()].concat();
        if is_produced(header.unwrap_or_default(), &available) { Ok(()) } else { Err(without_route(&available)) }
    }

    /// Checks the headers of a read-only document. The media type of a body, if any, must be one of
    /// the route.
    ///
    /// # Errors
    /// Returns 415 or 406 with go-restful's text.
    pub fn check_document(self, content_type: Option<&str>, accept: Option<&str>) -> Result<(), Status> {
        if !is_consumed(content_type.unwrap_or_default(), self.media_types()) {
            return Err(Status::media_type_without_route());
        }
        self.check_route(accept, false)
    }

    /// Returns the encoding of a request body (`negotiation.NegotiateInputSerializer`). The default
    /// is JSON.
    ///
    /// # Errors
    /// Returns 415 for an unsupported media type.
    pub fn body_encoding(self, content_type: Option<&str>) -> Result<Encoding, Status> {
        let (media_type, parameters) =
            content_type.unwrap_or("").split_once(';').unwrap_or((content_type.unwrap_or(""), ""));
        let media_type = media_type.trim();
        if media_type.is_empty() {
            return Ok(Encoding::Json);
        }
        if !are_parameters(parameters) {
            return Err(Status::unsupported_media_type(self.media_types()));
        }
        let found = self.encodings().iter().find(|(known, _)| known.eq_ignore_ascii_case(media_type));
        found.map(|(_, encoding)| *encoding).ok_or_else(|| Status::unsupported_media_type(self.media_types()))
    }
}

/// Whether the text after a media type is a list of parameters with values (`mime.ParseMediaType`).
/// The last parameter may be empty.
fn are_parameters(text: &str) -> bool {
    let mut parts: Vec<&str> = text.split(';').map(str::trim).collect();
    if parts.last().is_some_and(|last| last.is_empty()) {
        parts.pop();
    }
    let is_parameter =
        |part: &&str| part.split_once('=').is_some_and(|(name, value)| !name.is_empty() && !value.is_empty());
    parts.iter().all(is_parameter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_body_with_malformed_media_type_parameter() {
        let encoding =
            |header: &str| SupportedEncodings::DEFAULT.body_encoding(Some(header)).map_err(|status| status.code);
        for good in
            ["application/json", "application/json;", "application/json; charset=utf-8", "Application/JSON;a=\"b\""]
        {
            assert_eq!(encoding(good), Ok(Encoding::Json), "{good}");
        }
        for bad in ["application/json; a", "application/json;a=", "application/json;=b;"] {
            assert_eq!(encoding(bad), Err(415), "{bad}");
        }
    }

    #[test]
    fn negotiates_first_servable_clause() {
        let check = |header: &str, encoding: Encoding, form: Representation| {
            let accepted =
                SupportedEncodings::DEFAULT.accept_object(Some(header), false, Forms::All).expect("acceptable");
            assert_eq!((accepted.encoding, accepted.form), (encoding, form), "{header}");
        };
        check(
            "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
            Encoding::Json,
            Representation::Table("v1".into()),
        );
        check("application/json;as=Table;v=v7;g=meta.k8s.io,application/json", Encoding::Json, Representation::Object);
        check("text/html, */*;q=0.1", Encoding::Json, Representation::Object);
        check(
            "application/yaml;q=0.2, application/vnd.kubernetes.protobuf",
            Encoding::Protobuf,
            Representation::Object,
        );
    }

    #[test]
    fn rejects_unsupported_media_types() {
        let supported = SupportedEncodings::DEFAULT;
        for header in
            ["text/plain", "application/json;v=v1", "application/yaml;stream=watch", "application/json;stream=x"]
        {
            assert_eq!(
                supported.accept_object(Some(header), false, Forms::All).expect_err(header).code,
                406,
                "{header}"
            );
        }
        for header in ["application/yaml", "application/yaml,application/json"] {
            let refused = supported.accept_stream(Some(header)).expect_err(header);
            assert!(refused.message.contains("application/json;stream=watch"), "{}", refused.message);
        }
        assert!(supported.check_route_of(Some("text/plain"), "text/plain").is_ok());
        let refused = supported.check_route_of(Some("text/*"), "text/plain").expect_err("a range");
        assert!(
            refused
                .message
                .ends_with(": text/plain, application/json, application/yaml, application/vnd.kubernetes.protobuf")
        );
        let refused = supported.check_route(Some("application/*"), true).expect_err("a range");
        assert!(
            refused
                .message
                .ends_with("protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch")
        );
    }

    #[test]
    fn custom_objects_have_protobuf_only_for_metadata() {
        let custom = SupportedEncodings { protobuf_objects: false, ..SupportedEncodings::DEFAULT };
        let accept =
            |header: &str| custom.accept_object(Some(header), false, Forms::All).map(|accepted| accepted.encoding);
        assert_eq!(accept("application/vnd.kubernetes.protobuf,application/json"), Ok(Encoding::Json));
        let metadata = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
        assert_eq!(accept(metadata), Ok(Encoding::Protobuf));
        assert_eq!(accept("application/vnd.kubernetes.protobuf").map_err(|status| status.code), Err(406));
        let failure = custom.accept_object(Some("application/vnd.kubernetes.protobuf"), false, Forms::Object);
        assert_eq!(failure.map(|accepted| accepted.encoding), Ok(Encoding::Protobuf));
    }

    #[test]
    fn cbor_requires_feature_gate() {
        let header = Some("application/cbor, application/json;q=0.5");
        let with = SupportedEncodings { cbor: true, ..SupportedEncodings::DEFAULT };
        for (supported, expect) in [(SupportedEncodings::DEFAULT, Encoding::Json), (with, Encoding::Cbor)] {
            assert_eq!(supported.accept_object(header, false, Forms::All).expect("acceptable").encoding, expect);
            assert_eq!(supported.accept_stream(header).expect("acceptable").encoding, expect);
        }
        assert_eq!(with.body_encoding(Some("application/cbor")), Ok(Encoding::Cbor));
        let refused = SupportedEncodings::DEFAULT.body_encoding(Some("application/cbor")).expect_err("refused");
        assert!(refused.code == 415 && !refused.message.contains("cbor"), "{}", refused.message);
    }
}
