//! Lists, sets and maps of limited size.

use std::collections::{BTreeMap, HashSet};

use machinery::field_error::{BadValue, FieldError};
use machinery::field_path::Path;
use machinery::hooks::Validation;

/// Too many items are not looked at (`validateSlice`); tells whether they were.
pub fn validate_list<T>(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    items: &[T],
    max: usize,
    mut each: impl FnMut(&mut Validation<'_>, &Path<'_>, &T),
) -> bool {
    if items.len() > max {
        v.too_many(path, items.len(), max);
        return false;
    }
    for (index, item) in items.iter().enumerate() {
        each(v, &path.index(index), item);
    }
    true
}

/// A list whose items differ in what `key` shows of them (`validateSet`).
pub fn validate_set<T>(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    items: &[T],
    max: usize,
    key: impl Fn(&T) -> BadValue,
    each: impl FnMut(&mut Validation<'_>, &Path<'_>, &T),
) {
    if !validate_list(v, path, items, max, each) {
        return;
    }
    let mut seen = HashSet::new();
    for (index, item) in items.iter().enumerate() {
        let key = key(item);
        if !seen.insert(key.to_string()) {
            v.duplicate(&path.index(index), key);
        }
    }
}

/// [`validate_set`] of texts, which are their own keys.
pub fn validate_texts(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    texts: &[String],
    max: usize,
    mut each: impl FnMut(&mut Validation<'_>, &Path<'_>, &str),
) {
    validate_set(v, path, texts, max, |text: &String| text.into(), |v, path, text| each(v, path, text));
}

/// A map of at most `max` entries, whose keys are shown in `key_length` bytes (`validateMap`).
pub fn validate_map<T>(
    v: &mut Validation<'_>,
    path: &Path<'_>,
    entries: &BTreeMap<String, T>,
    (max, key_length): (usize, usize),
    key: impl Fn(&mut Validation<'_>, &Path<'_>, &str),
    each: impl Fn(&mut Validation<'_>, &Path<'_>, &T),
) {
    if entries.len() > max {
        return v.errors.push(FieldError::too_many(path, Some(entries.len()), max));
    }
    for (name, entry) in entries {
        key(v, path, name);
        each(v, &path.key(&shortened(name, key_length)), entry);
    }
}

/// A text without its middle where it is too long (`truncateIfTooLong`).
fn shortened(text: &str, max: usize) -> String {
    const DOTS: &str = "...";
    if text.len() <= max {
        return text.to_owned();
    }
    let left = max - DOTS.len();
    let bytes = text.as_bytes();
    let (start, end) = (&bytes[..left.div_ceil(2)], &bytes[bytes.len() - left / 2..]);
    format!("{}{DOTS}{}", String::from_utf8_lossy(start), String::from_utf8_lossy(end))
}
