//! KindExtensions that a declaration names: hand-written functions of one kind, and what they are given.
//!
//! `#[strategy(..)]` and `#[validate(by_hand = ..)]` name typed functions; the generator wraps each so that it can be called on any
//! [`Ref`](crate::reflect::Ref), and the registry calls them without knowing the kind.

use std::any::Any;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::checks::Notes;
use crate::features::FeatureGates;
use crate::field_error::{BadValue, FieldError};
use crate::field_path::Path;
use crate::format::{Messages, NameRule};
use crate::print::RowCondition;
use crate::reflect::{Mut, Ref};
use crate::request_document::RequestDocument;
use crate::scalar::Time;

/// Who writes, where and when.
#[derive(Clone, Debug)]
pub struct Context {
    /// Empty for cluster-scoped objects.
    pub namespace: String,
    /// The group and version that the request names; empty for the server's own writes.
    pub group: String,
    pub version: String,
    /// The subresource, empty for the object itself.
    pub subresource: String,
    pub user: String,
    pub groups: Vec<String>,
    pub dry_run: bool,
    /// When the request came.
    pub now: Time,
    pub features: Arc<FeatureGates>,
    /// Whether containers may be privileged (`--allow-privileged`).
    pub allow_privileged: bool,
    /// What the writer is told besides the answer.
    pub warnings: Warnings,
    /// What the writer sent, for messages about it.
    pub sent: RequestDocument,
    /// What a delete says of dependents.
    pub propagation: Option<Propagation>,
}

/// What happens to dependents of an object that is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    Orphan,
    Background,
    Foreground,
    /// `orphanDependents: false`: the background, but the foreground for namespaces.
    NotOrphan,
}

impl Context {
    /// A UUID that no object has (`uuid.NewUUID`).
    pub fn new_uid() -> String {
        uuid::Uuid::new_v4().to_string()
    }
}

/// The warnings of one request (upstream: `warning.Recorder`). Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Warnings(Arc<Mutex<Texts>>);

/// Texts in the order in which they were added.
#[derive(Debug, Default)]
struct Texts {
    known: HashSet<Arc<str>>,
    ordered: Vec<Arc<str>>,
}

impl Warnings {
    /// Adds a warning, unless it is empty or there already.
    pub fn add(&self, text: &str) {
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if text.is_empty() || texts.known.contains(text) {
            return;
        }
        let text: Arc<str> = text.into();
        texts.known.insert(Arc::clone(&text));
        texts.ordered.push(text);
    }

    /// All of them, in order.
    pub fn texts(&self) -> Vec<String> {
        let texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        texts.ordered.iter().map(|text| text.to_string()).collect()
    }
}

impl Default for Context {
    /// The server itself, now, with the features that are on by default.
    fn default() -> Self {
        Context {
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

impl Context {
    /// Whether a feature is on.
    pub fn enabled(&self, feature: &str) -> bool {
        self.features.enabled(feature)
    }
}

/// What the writer of an object of any type is to be warned of.
pub type WarnFn = fn(&Context, Ref<'_>, Option<Ref<'_>>) -> Vec<String>;
/// How long a delete of an object of any type waits, in seconds.
pub type GraceFn = fn(Option<i64>, Ref<'_>) -> Option<i64>;

/// Where the row of an object of any type stands among others.
pub type OrderFn = fn(Ref<'_>) -> i64;
/// What is to be said of the row of an object of any type.
pub type RowsFn = fn(Ref<'_>) -> Vec<RowCondition>;

/// What a kind adds to the declared strategy (`#[strategy(..)]`). Objects are in hub form.
#[derive(Clone, Copy, Debug)]
pub struct Hooks {
    /// After the declared preparation of a new object; the last argument is the object as it came, with its status, if anything was taken from it.
    pub create: Option<fn(&Context, Mut<'_>, Option<Ref<'_>>)>,
    /// After the declared preparation of a change; the last argument is the stored object.
    pub update: Option<fn(&Context, Mut<'_>, Ref<'_>)>,
    /// What the writer is to be warned of: the new object, and the stored one on update.
    pub warnings: Option<WarnFn>,
    /// The grace period of a delete, given the seconds asked for; `None`: the object goes at once.
    pub grace: Option<GraceFn>,
    /// When its deletion begins: with this, it is marked first and goes when nothing holds it any more.
    pub delete: Option<fn(&Context, Mut<'_>)>,
    /// Whether something but finalizers of its metadata holds an object that is being deleted.
    pub holds: Option<fn(Ref<'_>) -> bool>,
    /// What is said of its rows in tables.
    pub rows: Option<RowsFn>,
    /// By what its rows in tables are sorted; those of the same place, and all without this, by their keys.
    pub order: Option<OrderFn>,
}

impl Hooks {
    /// Nothing beyond the declared strategy.
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

/// A hand-written validation at work (`#[validate(by_hand = ..)]`): who writes, and where its findings go.
///
/// Functions take it first, then the path of what they look at.
pub struct Validation<'v> {
    pub context: &'v Context,
    pub errors: &'v mut Vec<FieldError>,
    /// What is allowed, asked for or true here that is not everywhere, by the names of [`crate::options`], some with a
    /// text. Conditions of declared checks name them.
    pub options: Vec<(&'static str, String)>,
    /// What functions found out for those that are called later: one value of a type.
    kept: Vec<Box<dyn Any>>,
    /// Sets of texts that checks have noted, for checks further on.
    pub(crate) notes: Vec<Notes>,
}

/// [`Validation`] of a struct of any type; the old form is there on updates.
pub type ValidateFn = fn(&mut Validation<'_>, &Path<'_>, Ref<'_>, Option<Ref<'_>>);

impl<'v> Validation<'v> {
    /// A validation without options.
    pub fn new(context: &'v Context, errors: &'v mut Vec<FieldError>) -> Self {
        Validation { context, errors, options: Vec::new(), kept: Vec::new(), notes: Vec::new() }
    }
}

impl Validation<'_> {
    /// Whether an option is chosen.
    pub fn has_option(&self, option: &str) -> bool {
        self.option(option).is_some()
    }

    /// The text of an option that is chosen.
    pub fn option(&self, option: &str) -> Option<&str> {
        self.options.iter().find(|(chosen, _)| *chosen == option).map(|(_, text)| text.as_str())
    }

    /// Chooses an option, or does not.
    pub fn set_option(&mut self, option: &'static str, is_chosen: bool) {
        self.set_option_to(option, is_chosen.then(String::new));
    }

    /// Chooses an option with a text, or does not.
    pub fn set_option_to(&mut self, option: &'static str, text: Option<String>) {
        self.options.retain(|(chosen, _)| *chosen != option);
        self.options.extend(text.map(|text| (option, text)));
    }

    /// Keeps a value for functions that are called later, in place of one of the same type.
    pub fn keep<T: Any>(&mut self, value: T) {
        self.kept.retain(|kept| !kept.is::<T>());
        self.kept.push(Box::new(value));
    }

    /// The value of a type that a function kept.
    pub fn kept<T: Any>(&self) -> Option<&T> {
        self.kept.iter().find_map(|kept| kept.downcast_ref())
    }

    /// A malformed value.
    pub fn invalid(&mut self, path: &Path<'_>, value: impl Into<BadValue>, detail: impl Into<Cow<'static, str>>) {
        self.errors.push(FieldError::invalid(path, value, detail));
    }

    /// One malformed value for each message of a format's check.
    pub fn malformed(&mut self, path: &Path<'_>, value: &str, messages: Messages) {
        self.errors.extend(messages.into_iter().map(|message| FieldError::invalid(path, value, message)));
    }

    /// One malformed value for each way in which a name, unless it is empty, breaks its rule.
    pub fn malformed_name(&mut self, path: &Path<'_>, name: &str, rule: NameRule, prefix: bool) {
        if !name.is_empty() {
            self.malformed(path, name, rule.check(name, prefix));
        }
    }

    /// A name that breaks its rule, empty or not.
    pub fn name(&mut self, path: &Path<'_>, name: &str, rule: NameRule) {
        self.malformed(path, name, rule.check(name, false));
    }

    /// A number that must not be negative (upstream `ValidateNonnegativeField`).
    pub fn not_negative(&mut self, path: &Path<'_>, number: impl Into<i64>) {
        let number = number.into();
        if number < 0 {
            self.invalid(path, number, "must be greater than or equal to 0");
        }
    }

    /// A number that must be more than 0 (upstream `ValidatePositiveField`).
    pub fn positive(&mut self, path: &Path<'_>, number: impl Into<i64>) {
        let number = number.into();
        if number <= 0 {
            self.invalid(path, number, "must be greater than zero");
        }
    }

    /// A text that must not be empty.
    pub fn filled(&mut self, path: &Path<'_>, text: &str) {
        if text.is_empty() {
            self.required(path, "");
        }
    }

    /// A value of a named string type that must be one of `known`, which are shown in the order given.
    pub fn one_of(&mut self, path: &Path<'_>, value: &str, known: &[&str]) {
        if !known.contains(&value) {
            self.not_supported(path, BadValue::json_string(value), known);
        }
    }

    /// [`Self::one_of`], and missing when empty.
    pub fn required_one_of(&mut self, path: &Path<'_>, value: &str, known: &[&str]) {
        if value.is_empty() {
            self.required(path, "");
        } else {
            self.one_of(path, value, known);
        }
    }

    /// A value that refers to nothing.
    pub fn not_found(&mut self, path: &Path<'_>, value: impl Into<BadValue>) {
        self.errors.push(FieldError::not_found(path, value));
    }

    /// A missing value.
    pub fn required(&mut self, path: &Path<'_>, detail: impl Into<Cow<'static, str>>) {
        self.errors.push(FieldError::required(path, detail));
    }

    /// A well-formed value that is not allowed here.
    pub fn forbidden(&mut self, path: &Path<'_>, detail: impl Into<Cow<'static, str>>) {
        self.errors.push(FieldError::forbidden(path, detail));
    }

    /// A value that has to be unique and is not.
    pub fn duplicate(&mut self, path: &Path<'_>, value: impl Into<BadValue>) {
        self.errors.push(FieldError::duplicate(path, value));
    }

    /// A value that is none of `supported`.
    pub fn not_supported<S: AsRef<str>>(&mut self, path: &Path<'_>, value: impl Into<BadValue>, supported: &[S]) {
        self.errors.push(FieldError::not_supported(path, value, supported));
    }

    /// A text with too many bytes.
    pub fn too_long(&mut self, path: &Path<'_>, max: usize) {
        self.errors.push(FieldError::too_long(path, max));
    }

    /// A list with too many items.
    pub fn too_many(&mut self, path: &Path<'_>, actual: usize, max: usize) {
        self.errors.push(FieldError::too_many(path, Some(actual), max));
    }
}
