//! Query parameters as options of writes (`metav1.*Options`), with upstream's validation.

use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::status::{GroupResource, Status};
use request::Query;

/// How to treat unknown and duplicate fields of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValidation {
    Ignore,
    Warn,
    Strict,
}

/// Options of a write.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    pub dry_run: bool,
    pub field_manager: String,
    pub field_validation: FieldValidation,
    /// Whether an apply takes over fields of other managers.
    pub force: bool,
}

/// Parses and validates options of create, update and patch (`ValidateCreateOptions`, ..). `kind`
/// is the kind of the options in messages.
pub fn write_options(query: &Query, kind: &str, apply: bool) -> Result<WriteOptions, Status> {
    let mut errors = Vec::new();
    let dry_run: Vec<&str> = query.all("dryRun").collect();
    let field_manager = query.text("fieldManager");
    if kind == "PatchOptions" {
        check_patch(query, apply, field_manager, &mut errors);
    }
    check_manager(field_manager, &mut errors);
    check_dry_run(&dry_run, &mut errors);
    let field_validation = match query.text("fieldValidation") {
        "" | "Warn" => FieldValidation::Warn,
        "Ignore" => FieldValidation::Ignore,
        "Strict" => FieldValidation::Strict,
        other => {
            errors.push(FieldError::not_supported(
                &Path::new("fieldValidation"),
                other.to_string(),
                &["", "Ignore", "Strict", "Warn"],
            ));
            FieldValidation::Warn
        }
    };
    refuse(kind, &errors)?;
    Ok(WriteOptions {
        dry_run: !dry_run.is_empty(),
        field_manager: field_manager.to_string(),
        field_validation,
        force: query.flag("force"),
    })
}

fn check_patch(query: &Query, apply: bool, field_manager: &str, errors: &mut Vec<FieldError>) {
    if apply && field_manager.is_empty() {
        errors.push(FieldError::required(&Path::new("fieldManager"), "is required for apply patch"));
    }
    if !apply && query.get("force").is_some() {
        errors.push(FieldError::forbidden(&Path::new("force"), "may not be specified for non-apply patch"));
    }
}

/// Maximum length of a field manager in bytes (`FieldManagerMaxLength`).
const MAX_MANAGER: usize = 128;

fn check_manager(manager: &str, errors: &mut Vec<FieldError>) {
    if manager.len() > MAX_MANAGER {
        errors.push(FieldError::too_long(&Path::new("fieldManager"), MAX_MANAGER));
    }
    if let Some((index, c)) = manager.char_indices().find(|(_, c)| c.is_control()) {
        let why = format!("invalid character U+{:04X} (at position {index})", u32::from(c));
        errors.push(FieldError::invalid(&Path::new("fieldManager"), manager.to_string(), why));
    }
}

/// Checks that `dryRun` is only `All`.
pub fn check_dry_run(values: &[&str], errors: &mut Vec<FieldError>) {
    if values.iter().any(|v| *v != "All") {
        errors.push(FieldError::not_supported(&Path::new("dryRun"), BadValue::strings(values), &["All"]));
    }
}

/// Returns an Invalid status for options, if there are errors.
pub fn refuse(kind: &str, errors: &[FieldError]) -> Result<(), Status> {
    if errors.is_empty() {
        return Ok(());
    }
    Err(Status::invalid(GroupResource { group: "meta.k8s.io", resource: kind }, "", errors))
}
