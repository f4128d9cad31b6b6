//! Values of flags, which errors name.

/// The supported version of events.
pub(super) const VERSION: &str = "audit.k8s.io/v1";

pub(super) const MODES: &str = "batch,blocking,blocking-strict";

pub(super) const FORMATS: &str = "legacy,json";

pub(super) const VERSION_BEFORE: &str = "1.35";

pub(super) const JSON: &str = "application/json";

pub(super) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

pub(super) const LABEL: &str = "[a-zA-Z_][a-zA-Z0-9_]*";

pub(super) const METRIC: &str = "[a-zA-Z_:][a-zA-Z0-9_:]*";

/// The supported formats.
pub(super) const FORMS: &str = "text, markdown, man, bash, elvish, fish, powershell, zsh";
