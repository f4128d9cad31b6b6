//! Unions: one of several fields is set (upstream `validate.Union`, `ZeroOrOneOfUnion`,
//! `DiscriminatedUnion`).

use super::at::is_set;
use super::plan::UnionMembership;
use super::{Run, ValidationScope};
use crate::field_error::FieldError;
use crate::field_path::Path;
use crate::reflect::{Ref, Value};
use crate::scalar::go_text::quote;

fn member_is_set(of: Ref<'_>, name: &str) -> bool {
    match (of.def().json_field(name), of.by_name(name)) {
        (Some(field), Some(value)) => is_set(field.shape(), value),
        _ => false,
    }
}

fn discriminator<'a>(of: Ref<'a>, union: &UnionMembership) -> &'a str {
    of.by_name(union.discriminator).and_then(Value::as_str).unwrap_or_default()
}

impl Run<'_> {
    pub(super) fn union(&mut self, union: &UnionMembership, new: Ref<'_>, old: Option<Ref<'_>>, path: &Path<'_>) {
        let same = |old: Ref<'_>| {
            union.members.iter().all(|(_, name)| member_is_set(old, name) == member_is_set(new, name))
                && discriminator(old, union) == discriminator(new, union)
        };
        // A rule of a definition is checked on every change of its object.
        if self.with.scope == ValidationScope::Tagged && self.update && old.is_some_and(same) {
            return;
        }
        if union.discriminator.is_empty() {
            self.plain_union(union, new, path);
        } else {
            self.discriminated_union(union, new, path);
        }
    }

    fn plain_union(&mut self, union: &UnionMembership, new: Ref<'_>, path: &Path<'_>) {
        let names = || union.members.iter().map(|(_, name)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let set: Vec<&str> =
            union.members.iter().map(|(_, name)| *name).filter(|name| member_is_set(new, name)).collect();
        let wanted = if union.zero_allowed { "at most" } else { "exactly" };
        if set.len() > 1 {
            let detail = format!("must specify {wanted} one of: {}", names());
            self.errors.push(FieldError::invalid(path, format!("{{{}}}", set.join(", ")), detail));
        } else if set.is_empty() && !union.zero_allowed {
            self.errors.push(FieldError::invalid(path, "", format!("must specify one of: {}", names())));
        }
    }

    fn discriminated_union(&mut self, union: &UnionMembership, new: Ref<'_>, path: &Path<'_>) {
        let found = discriminator(new, union);
        for (value, name) in &union.members {
            let may = match (member_is_set(new, name), found == *value) {
                (true, false) => "may only",
                (false, true) => "must",
                _ => continue,
            };
            let detail = format!("{may} be specified when `{}` is {}", union.discriminator, quote(value));
            self.errors.push(FieldError::invalid(&path.child(name), "", detail));
        }
    }
}
