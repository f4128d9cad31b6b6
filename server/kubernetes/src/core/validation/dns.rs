//! How the names that a pod looks up are resolved.

use machinery::field_error::BadValue;
use machinery::field_path::Path;
use machinery::hooks::Validation;

use generated::core::v1::PodDNSConfig;

const MAX_SEARCH_CHARACTERS: usize = 2048;

/// By hand: search paths are counted together.
pub fn validate_searches(v: &mut Validation<'_>, path: &Path<'_>, config: &PodDNSConfig, _: Option<&PodDNSConfig>) {
    if config.searches.join(" ").len() > MAX_SEARCH_CHARACTERS {
        let detail =
            format!("must not have more than {MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list");
        v.invalid(&path.child("searches"), BadValue::strings(&config.searches), detail);
    }
}
