//! Strategy of priority classes.

use machinery::hooks::WriteContext;

use generated::scheduling::v1::PriorityClass;

/// Sets the initial generation; updates do not increment it (`priorityClassStrategy`).
pub fn create_priority_class(_: &WriteContext, new: &mut PriorityClass, _: Option<&PriorityClass>) {
    new.metadata.generation = 1;
}
