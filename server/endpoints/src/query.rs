//! Query parameters as options (`metav1.*Options`), with upstream's conversion rules and validation.

use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::status::{GroupResource, Status};

/// The parameters of a request, in order.
#[derive(Clone, Debug, Default)]
pub struct Query(Vec<(String, String)>);

/// What to do with unknown and duplicate fields of a body.
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
    /// Apply takes fields over from other managers.
    pub force: bool,
}

impl Query {
    /// Parses what follows the question mark.
    pub fn parse(query: Option<&str>) -> Self {
        // Go's `url.Query` leaves out parameters that it cannot read.
        let readable = query.unwrap_or("").split('&').filter(|pair| is_readable(pair));
        Query(readable.flat_map(|pair| form_urlencoded::parse(pair.as_bytes()).into_owned()).collect())
    }

    /// The first value of a parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(k, _)| k == name).map(|(_, v)| v.as_str())
    }

    /// Every value of a parameter.
    pub fn all<'q>(&'q self, name: &'q str) -> impl Iterator<Item = &'q str> {
        self.0.iter().filter(move |(k, _)| k == name).map(|(_, v)| v.as_str())
    }

    /// The first value, empty when absent.
    pub fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or("")
    }

    /// A boolean as upstream reads it: absent, `0` and `false` are false, everything else is true.
    pub fn flag(&self, name: &str) -> bool {
        self.get(name).is_some_and(is_true)
    }

    /// A boolean that may be absent.
    pub fn optional_flag(&self, name: &str) -> Option<bool> {
        self.get(name).map(is_true)
    }

    /// A decimal number.
    pub fn number(&self, name: &str) -> Result<Option<i64>, Status> {
        self.get(name).filter(|text| !text.is_empty()).map(parse_number).transpose()
    }

    /// Every value of a parameter, each a decimal number.
    pub fn numbers(&self, name: &str) -> Result<Vec<i32>, Status> {
        self.all(name).map(parse_number).collect()
    }

    /// Options of create, update and patch, checked (`ValidateCreateOptions`, ..). `kind` is the options' kind in messages.
    pub fn write_options(&self, kind: &str, apply: bool) -> Result<WriteOptions, Status> {
        let mut errors = Vec::new();
        let dry_run: Vec<&str> = self.all("dryRun").collect();
        let field_manager = self.text("fieldManager");
        if kind == "PatchOptions" {
            self.check_patch(apply, field_manager, &mut errors);
        }
        check_manager(field_manager, &mut errors);
        check_dry_run(&dry_run, &mut errors);
        let field_validation = match self.text("fieldValidation") {
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
            force: self.flag("force"),
        })
    }

    fn check_patch(&self, apply: bool, field_manager: &str, errors: &mut Vec<FieldError>) {
        if apply && field_manager.is_empty() {
            errors.push(FieldError::required(&Path::new("fieldManager"), "is required for apply patch"));
        }
        if !apply && self.get("force").is_some() {
            errors.push(FieldError::forbidden(&Path::new("force"), "may not be specified for non-apply patch"));
        }
    }
}

fn parse_number<N: std::str::FromStr>(text: &str) -> Result<N, Status> {
    text.parse().map_err(|_| {
        let digits = text.trim_start_matches('-');
        let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        let why = if is_number { "value out of range" } else { "invalid syntax" };
        Status::bad_request(format!("strconv.ParseInt: parsing {text:?}: {why}"))
    })
}

/// Whether a parameter has no broken escape, and no semicolon, which once separated parameters.
fn is_readable(pair: &str) -> bool {
    let hex = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_hexdigit);
    let bytes = pair.as_bytes();
    let escapes = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'%');
    !pair.contains(';') && escapes.into_iter().all(|(at, _)| hex(bytes.get(at + 1)) && hex(bytes.get(at + 2)))
}

fn is_true(text: &str) -> bool {
    !(text == "0" || text.eq_ignore_ascii_case("false"))
}

/// Longest field manager (`FieldManagerMaxLength`).
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

/// `dryRun` may only be `All`.
pub fn check_dry_run(values: &[&str], errors: &mut Vec<FieldError>) {
    if values.iter().any(|v| *v != "All") {
        errors.push(FieldError::not_supported(&Path::new("dryRun"), BadValue::strings(values), &["All"]));
    }
}

/// An Invalid status about options, when there is an error.
pub fn refuse(kind: &str, errors: &[FieldError]) -> Result<(), Status> {
    if errors.is_empty() {
        return Ok(());
    }
    Err(Status::invalid(GroupResource { group: "meta.k8s.io", resource: kind }, "", errors))
}
