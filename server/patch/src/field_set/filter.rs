//! Filters of the fields that a request can own: fields that a strategy resets have no owner
//! (`rest.ResetFieldsStrategy`).

use super::{FieldSet, PathElement, SetNode};

/// A restriction of owned fields.
#[derive(Clone, Debug, Default)]
pub enum Filter {
    /// No restriction.
    #[default]
    None,
    /// These fields and those below them are not owned (`fieldpath.NewExcludeSetFilter`).
    Exclude(FieldSet),
    /// Only fields on or below one of these paths, or above it, are owned
    /// (`fieldpath.NewIncludeMatcherFilter`).
    Include(Vec<Vec<PathElementMatcher>>),
}

/// A step of a path in [`Filter::Include`].
#[derive(Clone, Copy, Debug)]
pub enum PathElementMatcher {
    Field(&'static str),
    /// Any field or item.
    Any,
}

impl PathElementMatcher {
    fn matches(self, element: &PathElement) -> bool {
        match self {
            PathElementMatcher::Any => true,
            PathElementMatcher::Field(name) => matches!(element, PathElement::Field(field) if field == name),
        }
    }
}

impl Filter {
    pub fn apply(&self, set: FieldSet) -> FieldSet {
        match self {
            Filter::None => set,
            Filter::Exclude(excluded) => set.recursive_difference(excluded),
            Filter::Include(paths) => include(&set, &paths.iter().map(Vec::as_slice).collect::<Vec<_>>()),
        }
    }
}

fn include(set: &FieldSet, paths: &[&[PathElementMatcher]]) -> FieldSet {
    if paths.iter().any(|path| path.is_empty()) {
        return set.clone();
    }
    let below = |element: &PathElement| -> Vec<&[PathElementMatcher]> {
        paths.iter().filter(|path| path[0].matches(element)).map(|path| &path[1..]).collect()
    };
    let kept = |SetNode { element, is_member, below: set }: &SetNode| {
        let paths = below(element);
        let below = if paths.is_empty() { FieldSet::new() } else { include(set, &paths) };
        SetNode { element: element.clone(), is_member: *is_member && !paths.is_empty(), below }
    };
    set.entries.iter().map(kept).collect()
}
