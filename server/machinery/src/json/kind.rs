//! Reads the version and kind of a document before its type is known (upstream
//! `json.MetaFactory.Interpret`).

use super::error::{Error, TypeError};
use super::read::reason;
use super::read::{Reader, Stop, to_text};

/// The anonymous Go struct that upstream decodes into, which its messages print.
const GO_TYPE: &str =
    r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;

/// The `apiVersion` and `kind` of a document; empty if absent. As upstream, which uses Go's own
/// decoder here, names are case-insensitive.
///
/// # Errors
/// [`Error`] when the text is not JSON, is neither an object nor `null`, or one of the two members is
/// neither a string nor `null`.
pub fn version_and_kind(document: &[u8]) -> Result<(String, String), Error> {
    let text = to_text(document);
    let mut finder =
        Finder { reader: Reader::new(&text), api_version: String::new(), kind: String::new(), error: None };
    match (finder.document(), finder.error) {
        (Ok(()), None) => Ok((finder.api_version, finder.kind)),
        (_, error) => Err(reason(document, error)),
    }
}

struct Finder<'t> {
    reader: Reader<'t>,
    api_version: String,
    kind: String,
    /// The first type error.
    error: Option<Error>,
}

impl Finder<'_> {
    fn document(&mut self) -> Result<(), Stop> {
        match self.reader.token() {
            b'{' => self.object()?,
            b'n' => self.reader.word(b"null")?,
            _ => self.mismatch("", GO_TYPE)?,
        }
        if self.reader.at_end() { Ok(()) } else { Err(Stop) }
    }

    fn object(&mut self) -> Result<(), Stop> {
        if self.reader.enter_empty(b'}')? {
            return Ok(());
        }
        loop {
            let name = self.reader.name()?;
            if name.eq_ignore_ascii_case("apiVersion") {
                self.text("apiVersion", |finder, text| finder.api_version = text)?;
            } else if name.eq_ignore_ascii_case("kind") {
                self.text("kind", |finder, text| finder.kind = text)?;
            } else {
                self.reader.skip()?;
            }
            if !self.reader.more(b'}')? {
                return Ok(());
            }
        }
    }

    fn text(&mut self, field: &str, set: impl FnOnce(&mut Self, String)) -> Result<(), Stop> {
        match self.reader.peek() {
            b'"' => {
                let text = self.reader.string()?.into_owned();
                set(self, text);
                Ok(())
            }
            b'n' => self.reader.word(b"null"),
            _ => self.mismatch(field, "string"),
        }
    }

    fn mismatch(&mut self, field: &str, wanted: &str) -> Result<(), Stop> {
        let found = self.reader.skip_named()?.into();
        let error = TypeError { found, owner: "", path: field.into(), wanted: wanted.into() };
        self.error.get_or_insert(Error::Type(Box::new(error)));
        Ok(())
    }
}
