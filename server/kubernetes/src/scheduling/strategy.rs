//! Priority classes.

use machinery::hooks::Context;

use generated::scheduling::v1::PriorityClass;

/// A class begins with a generation, and changes of it are not counted (`priorityClassStrategy`).
pub fn create_priority_class(_: &Context, new: &mut PriorityClass, _: Option<&PriorityClass>) {
    new.metadata.generation = 1;
}
