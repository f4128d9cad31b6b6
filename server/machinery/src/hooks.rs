//! Hand-written functions of kinds that a declaration refers to, and their context.
//!
//! `#[strategy(..)]` and `#[validate(by_hand = ..)]` refer to typed functions. The generator wraps
//! each one so that it accepts any [`Ref`], and the registry calls it without depending
//! on the kind.

use std::any::Any;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::checks::Notes;
pub use crate::chosen_options::ChosenOptions;
use crate::features::FeatureGates;
use crate::features::NameId;
use crate::field_error::{BadValue, FieldError};
use crate::field_path::Path;
use crate::format::{Messages, NameRule};
use crate::print::RowCondition;
use crate::reflect::{Mut, Ref};
use crate::request_document::RequestDocument;
use crate::scalar::Time;

/// The context of a write: user, request and time.
#[derive(Clone, Debug)]
pub struct WriteContext {
    /// The namespace of the object; empty if it is cluster-scoped.
    pub namespace: String,
    /// The API group of the request; empty for core, and for writes of the server itself.
    pub group: String,
    /// The version of the request; empty for writes of the server itself.
    pub version: String,
    /// The subresource; empty for the object itself.
    pub subresource: String,
    /// The name of the authenticated user.
    pub user: String,
    /// The groups of the user.
    pub groups: Vec<String>,
    /// Whether the write is not stored (`dryRun=All`).
    pub dry_run: bool,
    /// The time of the request.
    pub now: Time,
    /// The feature gates of the server.
    pub features: Arc<FeatureGates>,
    /// Whether privileged containers are allowed (`--allow-privileged`).
    pub allow_privileged: bool,
    /// Warnings in the response.
    pub warnings: Warnings,
    /// The request document, for messages that show it.
    pub sent: RequestDocument,
    /// The propagation policy of a delete.
    pub propagation: Option<Propagation>,
}

/// The treatment of dependents when an object is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    /// Dependents lose their owner reference and are kept.
    Orphan,
    /// Dependents are deleted after the object.
    Background,
    /// Dependents are deleted before the object.
    Foreground,
    /// `orphanDependents: false`: background, but foreground for namespaces.
    NotOrphan,
}

impl WriteContext {
    /// Creates a unique UUID (`uuid.NewUUID`).
    pub fn new_uid() -> String {
        uuid::Uuid::new_v4().to_string()
    }
}

/// The warnings of one request (upstream: `warning.Recorder`). Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Warnings(Arc<Mutex<Texts>>);

/// Warnings in the order in which they were added.
#[derive(Debug, Default)]
struct Texts {
    known: HashSet<Arc<str>>,
    ordered: Vec<Arc<str>>,
}

impl Warnings {
    /// Adds a warning, unless it is empty or was added before.
    pub fn add(&self, text: &str) {
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if text.is_empty() || texts.known.contains(text) {
            return;
        }
        let text: Arc<str> = text.into();
        texts.known.insert(Arc::clone(&text));
        texts.ordered.push(text);
    }

    /// All warnings, in order.
    pub fn texts(&self) -> Vec<String> {
        let texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        texts.ordered.iter().map(|text| text.to_string()).collect()
    }
}

impl Default for WriteContext {
    /// The context of the server itself, at the current time, with the default features.
    fn default() -> Self {
        WriteContext {
            namespace: String::new(),
            group: String::new(),
            version: String::new(),
            subresource: String::new(),
            user: String::new(),
            groups: Vec::new(),
            dry_run: false,
            now: Time::from(std::time::SystemTime::now()),
            features: FeatureGates::defaults(),
            allow_privileged: false,
            warnings: Warnings::default(),
            sent: RequestDocument::default(),
            propagation: None,
        }
    }
}

impl WriteContext {
    /// Whether a feature is enabled.
    pub fn enabled(&self, feature: &str) -> bool {
        self.features.enabled(feature)
    }
}

/// Returns the warnings for a write of an object of any type.
pub type WarnFn = fn(&WriteContext, Ref<'_>, Option<Ref<'_>>) -> Vec<String>;
/// Returns the grace period in seconds for the delete of an object of any type.
pub type GraceFn = fn(Option<i64>, Ref<'_>) -> Option<i64>;

/// Returns the sort key of the table row of an object of any type.
pub type OrderFn = fn(Ref<'_>) -> i64;
/// Returns the conditions of the table row of an object of any type.
pub type RowsFn = fn(Ref<'_>) -> Vec<RowCondition>;

/// Functions that a kind adds to the declared strategy (`#[strategy(..)]`). Objects are in hub
/// form.
#[derive(Clone, Copy, Debug)]
pub struct Hooks {
    /// Runs after the declared preparation of a new object. The last argument is the object of the
    /// request with its status, if the preparation dropped anything.
    pub create: Option<fn(&WriteContext, Mut<'_>, Option<Ref<'_>>)>,
    /// Runs after the declared preparation of an update. The last argument is the stored object.
    pub update: Option<fn(&WriteContext, Mut<'_>, Ref<'_>)>,
    /// Warnings for the writer, from the new object, and the stored one on update.
    pub warnings: Option<WarnFn>,
    /// The grace period of a delete, given the requested seconds; `None` deletes the object at
    /// once.
    pub grace: Option<GraceFn>,
    /// Runs when a deletion starts. With this function, the object is marked first, and removed
    /// when nothing holds it.
    pub delete: Option<fn(&WriteContext, Mut<'_>)>,
    /// Whether something other than finalizers of its metadata holds a terminating object.
    pub holds: Option<fn(Ref<'_>) -> bool>,
    /// The conditions of its table rows.
    pub rows: Option<RowsFn>,
    /// The sort key of its table rows. Rows with equal keys, and all rows without this function,
    /// are sorted by their storage keys.
    pub order: Option<OrderFn>,
}

impl Hooks {
    /// No additional functions.
    pub const NONE: Hooks = Hooks {
        create: None,
        update: None,
        warnings: None,
        grace: None,
        delete: None,
        holds: None,
        rows: None,
        order: None,
    };
}

/// The state of a validation: its context and its errors (`#[validate(by_hand = ..)]`).
///
/// Functions take it as the first argument, followed by the path of the validated value.
///
/// ```
/// use machinery::field_path::Path;
/// use machinery::hooks::{WriteContext, Validation};
///
/// fn validate_color(v: &mut Validation<'_>, path: &Path<'_>, color: &str) {
///     v.required_one_of(path, color, &["Green", "Red"]);
/// }
///
/// let (context, mut errors) = (WriteContext::default(), Vec::new());
/// validate_color(&mut Validation::new(&context, &mut errors), &Path::new("color"), "Blue");
/// assert_eq!(errors[0].to_string(), r#"color: Unsupported value: "Blue": supported values: "Green", "Red""#);
/// ```
pub struct Validation<'v> {
    /// The context of the write.
    pub context: &'v WriteContext,
    /// The errors so far, to which functions append.
    pub errors: &'v mut Vec<FieldError>,
    /// Options of this validation by the names of [`crate::options`], some with a text. Conditions
    /// of declared checks refer to them.
    pub options: ChosenOptions,
    /// Values that functions share with later functions: one value per type.
    kept: Vec<Box<dyn Any>>,
    /// Sets of texts that checks record for later checks.
    pub(crate) notes: Vec<Notes>,
}

/// Validates a struct of any type. The last argument is the old form, on updates.
pub type ValidateFn = fn(&mut Validation<'_>, &Path<'_>, Ref<'_>, Option<Ref<'_>>);

impl<'v> Validation<'v> {
    /// Creates a validation without options.
    pub fn new(context: &'v WriteContext, errors: &'v mut Vec<FieldError>) -> Self {
        Validation { context, errors, options: ChosenOptions::default(), kept: Vec::new(), notes: Vec::new() }
    }
}

impl Validation<'_> {
    /// Whether an option is set.
    pub fn has_option(&self, option: &str) -> bool {
        NameId::known(option).is_some_and(|option| self.options.has(option))
    }

    /// The text of an option, if it is set; empty for one without a text.
    pub fn option(&self, option: &str) -> Option<&str> {
        self.options.text(NameId::known(option)?)
    }

    /// Sets or unsets an option.
    pub fn set_option(&mut self, option: &'static str, is_chosen: bool) {
        self.options.set(NameId::of(option), is_chosen);
    }

    /// Sets an option to a text, or unsets it.
    pub fn set_option_to(&mut self, option: &'static str, text: Option<String>) {
        match text {
            Some(text) => self.options.set_text(NameId::of(option), text),
            None => self.set_option(option, false),
        }
    }

    /// Sets all options that another validation has set.
    pub fn choose_all(&mut self, options: &ChosenOptions) {
        self.options.extend(options);
    }

    /// Stores a value for later functions, and replaces a value of the same type.
    pub fn keep<T: Any>(&mut self, value: T) {
        self.kept.retain(|kept| !kept.is::<T>());
        self.kept.push(Box::new(value));
    }

    /// The stored value of a type.
    pub fn kept<T: Any>(&self) -> Option<&T> {
        self.kept.iter().find_map(|kept| kept.downcast_ref())
    }

    /// Reports a malformed value.
    pub fn invalid(&mut self, path: &Path<'_>, value: impl Into<BadValue>, detail: impl Into<Cow<'static, str>>) {
        self.errors.push(FieldError::invalid(path, value, detail));
    }

    /// Reports a malformed value for each message of a format check.
    pub fn malformed(&mut self, path: &Path<'_>, value: &str, messages: Messages) {
        self.errors.extend(messages.into_iter().map(|message| FieldError::invalid(path, value, message)));
    }

    /// Reports each violation of the name rule. An empty name is not checked.
    pub fn malformed_name(&mut self, path: &Path<'_>, name: &str, rule: NameRule, prefix: bool) {
        if !name.is_empty() {
            self.malformed(path, name, rule.check(name, prefix));
        }
    }

    /// Reports each violation of the name rule, also for an empty name.
    pub fn name(&mut self, path: &Path<'_>, name: &str, rule: NameRule) {
        self.malformed(path, name, rule.check(name, false));
    }

    /// Checks that a number is not negative (upstream `ValidateNonnegativeField`).
    pub fn not_negative(&mut self, path: &Path<'_>, number: impl Into<i64>) {
        let number = number.into();
        if number < 0 {
            self.invalid(path, number, "must be greater than or equal to 0");
        }
    }

    /// Checks that a number is greater than 0 (upstream `ValidatePositiveField`).
    pub fn positive(&mut self, path: &Path<'_>, number: impl Into<i64>) {
        let number = number.into();
        if number <= 0 {
            self.invalid(path, number, "must be greater than zero");
        }
    }

    /// Checks that a text is not empty.
    pub fn filled(&mut self, path: &Path<'_>, text: &str) {
        if text.is_empty() {
            self.required(path, "");
        }
    }

    /// Checks that a value of a named string type is one of `known`, which are shown in the given
    /// order.
    pub fn one_of(&mut self, path: &Path<'_>, value: &str, known: &[&str]) {
        if !known.contains(&value) {
            self.not_supported(path, BadValue::json_string(value), known);
        }
    }

    /// [`Self::one_of`], with a required value.
    pub fn required_one_of(&mut self, path: &Path<'_>, value: &str, known: &[&str]) {
        if value.is_empty() {
            self.required(path, "");
        } else {
            self.one_of(path, value, known);
        }
    }

    /// Reports a value that refers to a missing object.
    pub fn not_found(&mut self, path: &Path<'_>, value: impl Into<BadValue>) {
        self.errors.push(FieldError::not_found(path, value));
    }

    /// Reports a missing value.
    pub fn required(&mut self, path: &Path<'_>, detail: impl Into<Cow<'static, str>>) {
        self.errors.push(FieldError::required(path, detail));
    }

    /// Reports a well-formed value that is not allowed.
    pub fn forbidden(&mut self, path: &Path<'_>, detail: impl Into<Cow<'static, str>>) {
        self.errors.push(FieldError::forbidden(path, detail));
    }

    /// Reports a value that must be unique but is not.
    pub fn duplicate(&mut self, path: &Path<'_>, value: impl Into<BadValue>) {
        self.errors.push(FieldError::duplicate(path, value));
    }

    /// Reports a value that is not one of `supported`.
    pub fn not_supported<S: AsRef<str>>(&mut self, path: &Path<'_>, value: impl Into<BadValue>, supported: &[S]) {
        self.errors.push(FieldError::not_supported(path, value, supported));
    }

    /// Reports a text with too many bytes.
    pub fn too_long(&mut self, path: &Path<'_>, max: usize) {
        self.errors.push(FieldError::too_long(path, max));
    }

    /// Reports a list with too many items.
    pub fn too_many(&mut self, path: &Path<'_>, actual: usize, max: usize) {
        self.errors.push(FieldError::too_many(path, Some(actual), max));
    }
}
