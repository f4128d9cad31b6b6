//! Which devices will do, in CEL.

use machinery::field_path::Path;
use machinery::hooks::Validation;

use super::items::validate_list;
use crate::resource::v1::DeviceSelector;

const MAX_SELECTORS: usize = 32;
/// In bytes.
const MAX_EXPRESSION: usize = 10 * 1024;

/// `validateSelectorSlice`
pub fn validate_selectors(v: &mut Validation<'_>, path: &Path<'_>, selectors: &[DeviceSelector]) {
    validate_list(v, path, selectors, MAX_SELECTORS, |v, path, selector| {
        let path = path.child("cel");
        match &selector.cel {
            None => v.required(&path, ""),
            Some(cel) => validate_expression(v, &path.child("expression"), &cel.expression),
        }
    });
}

/// `validateCELSelector`
fn validate_expression(v: &mut Validation<'_>, path: &Path<'_>, expression: &str) {
    if expression.len() > MAX_EXPRESSION {
        v.too_long(path, MAX_EXPRESSION);
    }
}
