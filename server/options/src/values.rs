//! Converts flag values to typed options, with upstream's validation and completion.

use std::collections::HashMap;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use machinery::features::{FeatureGates, KnownGates, parse_bool};

use crate::error::{FlagError, ValueError};
use crate::error_list::ErrorList;
use crate::flag::{Flag, FlagType};
use crate::flags::FLAGS;

/// The given values of flags, and the defaults of the others.
pub(super) struct FlagValues {
    defaults: HashMap<&'static str, &'static str>,
    given: HashMap<&'static str, Vec<String>>,
    gates: KnownGates,
}

impl FlagValues {
    pub(super) fn new(
        defaults: impl Iterator<Item = (&'static str, &'static str)>,
        given: impl Iterator<Item = (&'static str, Vec<String>)>,
        gates: &KnownGates,
    ) -> Self {
        FlagValues { defaults: defaults.collect(), given: given.collect(), gates: gates.clone() }
    }

    /// The error of a value, in the format of upstream's flag library.
    pub(super) fn invalid(&self, flag: &str, reason: impl Into<ValueError>) -> FlagError {
        let value = self.given.get(flag).map(|v| v.join(",")).unwrap_or_default();
        FlagError::Value { flag: flag.to_owned(), value, reason: reason.into() }
    }

    pub(super) fn text(&self, flag: &str) -> &str {
        let given = self.given.get(flag).and_then(|v| v.last()).map(String::as_str);
        given.or_else(|| self.defaults.get(flag).copied()).unwrap_or("")
    }

    /// Whether the flag is on the command line.
    pub(super) fn is_given(&self, flag: &str) -> bool {
        self.given.contains_key(flag)
    }

    /// Whether a feature gate is enabled; an unparsable flag counts as not given.
    pub(super) fn has_gate(&self, name: &str) -> bool {
        self.gates.parse(self.list("feature-gates")).unwrap_or_default().enabled(name)
    }

    /// The values of a flag that takes several.
    pub(super) fn list(&self, flag: &str) -> Vec<&str> {
        let texts: Vec<&str> = match self.given.get(flag) {
            Some(given) => given.iter().map(String::as_str).collect(),
            None => self.defaults.get(flag).copied().into_iter().collect(),
        };
        texts.into_iter().flat_map(|text| text.split(',')).map(str::trim).filter(|v| !v.is_empty()).collect()
    }

    pub(super) fn repeated(&self, flag: &str) -> Vec<String> {
        self.given.get(flag).cloned().unwrap_or_default()
    }

    pub(super) fn path(&self, flag: &str) -> Option<PathBuf> {
        Some(self.text(flag)).filter(|text| !text.is_empty()).map(PathBuf::from)
    }

    pub(super) fn bool(&self, flag: &str) -> Result<bool, FlagError> {
        let text = self.text(flag);
        parse_bool(text).ok_or_else(|| self.invalid(flag, ValueError::Bool { text: text.to_owned() }))
    }

    pub(super) fn number<N: FromStr>(&self, flag: &str) -> Result<N, FlagError> {
        let text = self.text(flag);
        text.parse().map_err(|_| self.invalid(flag, ValueError::Number { text: text.to_owned() }))
    }

    pub(super) fn duration(&self, flag: &str) -> Result<Duration, FlagError> {
        let duration = machinery::scalar::Duration::parse(self.text(flag)).map_err(|why| self.invalid(flag, why))?;
        let nanos = u64::try_from(duration.nanos()).map_err(|_| self.invalid(flag, ValueError::Negative))?;
        Ok(Duration::from_nanos(nanos))
    }

    /// Checks the syntax of all given values, before they are converted.
    pub(super) fn check_forms(&self, errors: &mut ErrorList) {
        let mut given: Vec<&str> = self.given.keys().copied().collect();
        given.sort_unstable();
        for flag in FLAGS.iter().filter(|flag| given.binary_search(&flag.name).is_ok()) {
            let read = match (flag.kind, flag.value) {
                (FlagType::Bool, _) => self.bool(flag.name).map(drop),
                (_, "DURATION") => self.duration(flag.name).map(drop),
                _ => Ok(()),
            };
            errors.checked(read);
        }
    }

    pub(super) fn parsed<T: FromStr<Err: Into<ValueError>>>(&self, flag: &str, text: &str) -> Result<T, FlagError> {
        text.parse().map_err(|why| self.invalid(flag, why))
    }

    /// All flags with their values, by name, in the format of `/flagz`.
    pub(super) fn shown(&self) -> Vec<(String, String)> {
        let shown = |flag: &Flag| {
            let text = match flag.kind {
                FlagType::Bool | FlagType::One => self.text(flag.name).to_owned(),
                // Maps are written without brackets.
                _ if flag.value.contains('=') && !flag.value.contains('#') => self.list(flag.name).join(","),
                FlagType::List => format!("[{}]", self.list(flag.name).join(",")),
                FlagType::Repeated => format!("[{}]", self.repeated(flag.name).join(",")),
            };
            (flag.name.to_owned(), text)
        };
        let mut flags: Vec<_> = FLAGS.iter().map(shown).collect();
        flags.sort();
        flags
    }

    /// The version of the reviews of a webhook.
    pub(super) fn webhook_version(&self, flag: &str) -> Result<String, FlagError> {
        match self.text(flag) {
            version @ ("v1" | "v1beta1") => Ok(version.to_owned()),
            other => Err(self.invalid(flag, ValueError::WebhookVersion { version: other.to_owned() })),
        }
    }

    /// `TracingOptions.Validate`
    pub(super) fn tracing_config_file(&self) -> Result<Option<PathBuf>, FlagError> {
        match self.path("tracing-config-file") {
            Some(path) if !path.exists() => Err(FlagError::NoTracingFile { path }),
            path => Ok(path),
        }
    }

    pub(super) fn features(&self) -> Result<Arc<FeatureGates>, FlagError> {
        let gates = self.gates.parse(self.list("feature-gates"));
        gates.map(Arc::new).map_err(|why| self.invalid("feature-gates", ValueError::FeatureGates(why.into())))
    }

    pub(super) fn runtime_config(&self) -> Result<Vec<(String, bool)>, FlagError> {
        let flag = "runtime-config";
        let entry = |text: &str| {
            let (api, value) = text.split_once('=').unwrap_or((text, "true"));
            let on = if value.is_empty() { Some(true) } else { parse_bool(value) };
            let wrong = || ValueError::RuntimeConfig { api: api.to_owned(), value: value.to_owned() };
            let on = on.ok_or_else(|| self.invalid(flag, wrong()))?;
            Ok((api.trim().to_owned(), on))
        };
        self.list(flag).into_iter().map(entry).collect()
    }
}
