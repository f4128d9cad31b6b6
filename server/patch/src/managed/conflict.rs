//! Conflicts of an apply with other managers.

use std::collections::BTreeMap;

use machinery::scalar::go_text::quote;
use machinery::status::{Cause, Details, Status};

use super::entries::{ManagedFieldsOperation, ManagerIdentifier};
use crate::field_set::{FieldPath, path_text};

/// A field that the apply would change and another manager owns.
pub(super) struct Conflict {
    pub manager: ManagerIdentifier,
    pub path: FieldPath,
}

/// Returns the response to an apply with conflicts (`NewConflictError`).
pub(super) fn status(conflicts: &[Conflict]) -> Status {
    let cause = |conflict: &Conflict| Cause {
        reason: "FieldManagerConflict".into(),
        message: format!("conflict with {}", name(&conflict.manager)),
        field: path_text(&conflict.path),
    };
    let mut status = Status::new(409, "Conflict", message(conflicts));
    let causes = conflicts.iter().map(cause).collect();
    status.details = Some(Box::new(Details { causes, ..Details::default() }));
    status
}

fn message(conflicts: &[Conflict]) -> String {
    if let [one] = conflicts {
        return format!("Apply failed with 1 conflict: conflict with {}: {}", name(&one.manager), path_text(&one.path));
    }
    let mut by_manager: BTreeMap<&ManagerIdentifier, Vec<String>> = BTreeMap::new();
    for conflict in conflicts {
        by_manager.entry(&conflict.manager).or_default().push(path_text(&conflict.path));
    }
    let mut lines = Vec::new();
    for (manager, paths) in by_manager {
        lines.push(format!("conflicts with {}:", name(manager)));
        lines.extend(paths.iter().map(|path| format!("- {path}")));
    }
    format!("Apply failed with {} conflicts: {}", conflicts.len(), lines.join("\n"))
}

fn name(manager: &ManagerIdentifier) -> String {
    let mut text = quote(&manager.name);
    if !manager.subresource.is_empty() {
        text += &format!(" with subresource {}", quote(&manager.subresource));
    }
    if manager.operation == ManagedFieldsOperation::Update {
        text += &format!(" using {}", manager.api_version);
    }
    text
}
