//! The state of a decoder.

use super::error::{Error, TypeError};
use super::go_type::GoTypeNames;
use super::issues::Issues;
use super::path::ValuePath;
use super::read::{Reader, Stop};
use crate::budget::Meter;
use crate::scalar::ScalarError;

pub(crate) struct Decoder<'d, 'i> {
    pub(crate) reader: Reader<'d>,
    pub(crate) issues: &'i mut Issues,
    pub(super) names: GoTypeNames<'d>,
    pub(super) meter: Meter,
    /// The first type error.
    pub(super) saved: Option<Error>,
    /// The error that stopped decoding.
    pub(super) fatal: Option<Error>,
}

pub(crate) type DecodeResult = Result<(), Stop>;

/// The keys of one object; recorded only if duplicates are reported.
pub(crate) struct SeenKeys {
    pub(super) seen: Option<std::collections::HashSet<Box<str>>>,
}

impl Decoder<'_, '_> {
    /// Counts bytes before they are allocated.
    #[inline]
    pub(crate) fn charge(&mut self, bytes: usize) -> DecodeResult {
        match self.meter.charge(bytes) {
            Ok(()) => Ok(()),
            Err(exceeded) => self.fail(exceeded.into()),
        }
    }

    /// Skips a value of a wrong type and keeps the first such error.
    #[cold]
    pub(crate) fn mismatch(
        &mut self,
        path: &ValuePath<'_>,
        wanted: impl FnOnce(GoTypeNames<'_>) -> String,
    ) -> DecodeResult {
        let found = self.reader.skip_named()?;
        self.save(type_error(path, found.into(), wanted(self.names).into()));
        Ok(())
    }

    /// Stops decoding with the error of a scalar's own parser.
    #[cold]
    pub(crate) fn refuse(&mut self, path: &ValuePath<'_>, error: ScalarError) -> DecodeResult {
        self.fail(match error {
            ScalarError::JsonType { found, wanted } => type_error(path, found, wanted.into()),
            other => Error::Scalar(other),
        })
    }

    /// Keeps the first error that does not stop decoding.
    pub(crate) fn save(&mut self, error: Error) {
        self.saved.get_or_insert(error);
    }

    pub(super) fn fail(&mut self, error: Error) -> DecodeResult {
        self.fatal = Some(error);
        Err(Stop)
    }
}

impl SeenKeys {
    pub(crate) fn new(wanted: bool) -> Self {
        SeenKeys { seen: wanted.then(Default::default) }
    }

    /// Whether keys are recorded.
    pub(crate) fn is_active(&self) -> bool {
        self.seen.is_some()
    }

    /// Whether the key is a duplicate.
    pub(crate) fn repeats(&mut self, key: &str) -> bool {
        self.seen.as_mut().is_some_and(|seen| !seen.insert(key.into()))
    }
}

pub(super) fn type_error(path: &ValuePath<'_>, found: Box<str>, wanted: Box<str>) -> Error {
    let (owner, path) = path.go_field();
    Error::Type(Box::new(TypeError { found, owner, path: path.into(), wanted }))
}
