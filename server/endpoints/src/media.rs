//! Media types: which one a request body is in, which one an answer should be in, and in what form (table, metadata only).

use machinery::features::FeatureGates;
use machinery::status::Status;

/// An encoding of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Json,
    Yaml,
    Protobuf,
    Cbor,
}

impl Encoding {
    /// What stands in a Content-Type header.
    pub fn media_type(self) -> &'static str {
        match self {
            Encoding::Json => "application/json",
            Encoding::Yaml => "application/yaml",
            Encoding::Protobuf => "application/vnd.kubernetes.protobuf",
            Encoding::Cbor => "application/cbor",
        }
    }
}

/// What clients may ask for and bodies may be in, as messages list it; the last one where CBOR is spoken.
const ALL: [&str; 4] =
    ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/cbor"];
/// Streams of watch events are in one of these, likewise.
const STREAMS: [&str; 3] =
    ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch", "application/cbor-seq"];

/// The encodings that a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spoken {
    /// With the feature gate `CBORServingAndStorage` only.
    pub cbor: bool,
}

impl Spoken {
    /// What is spoken without asking.
    pub const BY_DEFAULT: Spoken = Spoken { cbor: false };

    /// As the feature gates say.
    pub fn of(features: &FeatureGates) -> Self {
        Spoken { cbor: features.enabled("CBORServingAndStorage") }
    }

    fn parse(self, media_type: &str) -> Option<Encoding> {
        let all = [Encoding::Json, Encoding::Yaml, Encoding::Protobuf, Encoding::Cbor];
        all.into_iter().find(|e| e.media_type() == media_type).filter(|e| self.cbor || *e != Encoding::Cbor)
    }

    fn media_types(self) -> &'static [&'static str] {
        if self.cbor { &ALL } else { &ALL[..3] }
    }

    fn streams(self) -> &'static [&'static str] {
        if self.cbor { &STREAMS } else { &STREAMS[..2] }
    }
}

/// The form an answer is wanted in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// The object itself.
    Object,
    /// `as=Table`, in this version of meta.k8s.io.
    Table(String),
    /// `as=PartialObjectMetadata`.
    PartialMetadata(String),
    /// `as=PartialObjectMetadataList`.
    PartialMetadataList(String),
}

/// How to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    pub encoding: Encoding,
    pub form: Form,
    /// `pretty=1`, or what a browser or curl gets.
    pub pretty: bool,
    /// Profile text behind the media type, for discovery: (group, version, kind) of `g=..;v=..;as=..`.
    pub stream: bool,
}

/// One clause of an Accept header.
struct Clause<'a> {
    media_type: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
    quality: f32,
}

fn clauses(accept: &str) -> Vec<Clause<'_>> {
    let mut out: Vec<Clause<'_>> = accept
        .split(',')
        .filter(|part| !part.trim().is_empty())
        .map(|part| {
            let mut pieces = part.split(';').map(str::trim);
            let media_type = pieces.next().unwrap_or("");
            let mut clause = Clause { media_type, parameters: Vec::new(), quality: 1.0 };
            for (key, value) in pieces.filter_map(|p| p.split_once('=')) {
                let value = value.trim_matches('"');
                match key.trim() {
                    "q" => clause.quality = value.parse().unwrap_or(1.0),
                    key => clause.parameters.push((key, value)),
                }
            }
            clause
        })
        .collect();
    out.sort_by(|a, b| b.quality.total_cmp(&a.quality));
    out
}

impl Clause<'_> {
    fn encoding(&self, spoken: Spoken) -> Option<Encoding> {
        match self.media_type {
            "*/*" | "application/*" => Some(Encoding::Json),
            media_type => spoken.parse(media_type),
        }
    }

    fn parameter(&self, key: &str) -> &str {
        self.parameters.iter().find(|(k, _)| *k == key).map_or("", |(_, v)| v)
    }

    /// The form asked for; `None` when it is one that nobody knows.
    fn form(&self) -> Option<Form> {
        let (name, group, version) = (self.parameter("as"), self.parameter("g"), self.parameter("v"));
        if name.is_empty() {
            return Some(Form::Object);
        }
        if group != "meta.k8s.io" || !matches!(version, "v1" | "v1beta1") {
            return None;
        }
        match name {
            "Table" => Some(Form::Table(version.into())),
            "PartialObjectMetadata" => Some(Form::PartialMetadata(version.into())),
            "PartialObjectMetadataList" => Some(Form::PartialMetadataList(version.into())),
            _ => None,
        }
    }
}

/// The forms that an answer may be asked in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forms {
    All,
    /// What is not stored has no table.
    NoTable,
    Object,
}

impl Spoken {
    /// Chooses how to answer an object or list (`negotiation.NegotiateOutputMediaType`).
    pub fn accept_object(self, header: Option<&str>, pretty: bool, forms: Forms) -> Result<Accepted, Status> {
        let header = header.unwrap_or("");
        if header.trim().is_empty() {
            return Ok(Accepted { encoding: Encoding::Json, form: Form::Object, pretty, stream: false });
        }
        let clauses = clauses(header);
        if clauses.iter().all(|clause| clause.encoding(self).is_none()) {
            return Err(self.no_representation());
        }
        for clause in clauses {
            let (Some(encoding), Some(form)) = (clause.encoding(self), clause.form()) else { continue };
            let is_known = match form {
                Form::Object => true,
                // Upstream's tables have no protobuf form.
                Form::Table(_) => forms == Forms::All && encoding != Encoding::Protobuf,
                Form::PartialMetadata(_) | Form::PartialMetadataList(_) => forms != Forms::Object,
            };
            if !is_known || !clause.parameter("stream").is_empty() {
                continue;
            }
            return Ok(Accepted { encoding, form, pretty: pretty && encoding == Encoding::Json, stream: false });
        }
        Err(Status::not_acceptable(self.media_types()))
    }

    /// None of the media types is one of ours: in the words of go-restful, which upstream leaves this to.
    fn no_representation(self) -> Status {
        let available = self.media_types().join(", ");
        let mut status =
            Status::new(406, "NotAcceptable", format!("406: Not Acceptable\n\nAvailable representations: {available}"));
        status.details = Some(Box::default());
        status
    }

    /// Chooses how to answer a watch (`negotiation.NegotiateOutputMediaTypeStream`).
    pub fn accept_stream(self, header: Option<&str>) -> Result<Accepted, Status> {
        let header = header.unwrap_or("");
        if header.trim().is_empty() {
            return Ok(Accepted { encoding: Encoding::Json, form: Form::Object, pretty: false, stream: true });
        }
        for clause in clauses(header) {
            let (Some(encoding), Some(form)) = (clause.encoding(self), clause.form()) else { continue };
            if encoding == Encoding::Yaml || !matches!(clause.parameter("stream"), "" | "watch") {
                continue;
            }
            return Ok(Accepted { encoding, form, pretty: false, stream: true });
        }
        Err(Status::not_acceptable(self.streams()))
    }

    /// The encoding of a request body (`negotiation.NegotiateInputSerializer`); JSON when nothing is said.
    pub fn body_encoding(self, content_type: Option<&str>) -> Result<Encoding, Status> {
        let media_type = content_type.unwrap_or("").split(';').next().unwrap_or("").trim();
        if media_type.is_empty() {
            return Ok(Encoding::Json);
        }
        self.parse(media_type).ok_or_else(|| Status::unsupported_media_type(self.media_types()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_clause_that_can_be_served_wins() {
        let check = |header: &str, encoding: Encoding, form: Form| {
            let accepted = Spoken::BY_DEFAULT.accept_object(Some(header), false, Forms::All).expect("acceptable");
            assert_eq!((accepted.encoding, accepted.form), (encoding, form), "{header}");
        };
        check(
            "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
            Encoding::Json,
            Form::Table("v1".into()),
        );
        check("application/json;as=Table;v=v7;g=meta.k8s.io,application/json", Encoding::Json, Form::Object);
        check("text/html, */*;q=0.1", Encoding::Json, Form::Object);
        check("application/yaml;q=0.2, application/vnd.kubernetes.protobuf", Encoding::Protobuf, Form::Object);
        assert_eq!(
            Spoken::BY_DEFAULT.accept_object(Some("text/plain"), false, Forms::All).expect_err("refused").code,
            406
        );
    }

    #[test]
    fn cbor_is_spoken_where_its_gate_is_on() {
        let header = Some("application/cbor, application/json;q=0.5");
        let with = Spoken { cbor: true };
        for (spoken, expect) in [(Spoken::BY_DEFAULT, Encoding::Json), (with, Encoding::Cbor)] {
            assert_eq!(spoken.accept_object(header, false, Forms::All).expect("acceptable").encoding, expect);
            assert_eq!(spoken.accept_stream(header).expect("acceptable").encoding, expect);
        }
        assert_eq!(with.body_encoding(Some("application/cbor")), Ok(Encoding::Cbor));
        let refused = Spoken::BY_DEFAULT.body_encoding(Some("application/cbor")).expect_err("refused");
        assert!(refused.code == 415 && !refused.message.contains("cbor"), "{}", refused.message);
    }
}
