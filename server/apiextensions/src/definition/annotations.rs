//! Validation of annotations for conversion without a webhook, an extension of upstream.

use apimachinery::apiextensions::v1::CustomResourceDefinition;
use machinery::field_path::Path;
use machinery::hooks::Validation;

use crate::conversion::{EXPRESSIONS, Expressions, FIELD_MOVES, Moves};

/// Checks that annotations name existing versions, and that the definition has no conversion
/// webhook.
pub fn check(v: &mut Validation<'_>, definition: &CustomResourceDefinition) {
    let metadata = Path::new("metadata");
    let annotations = metadata.child("annotations");
    let is_webhook = definition.spec.conversion.as_ref().is_some_and(|conversion| conversion.strategy == "Webhook");
    let faults: [(&str, Fault); 2] = [(FIELD_MOVES, of_moves), (EXPRESSIONS, of_expressions)];
    for (name, fault) in faults {
        let Some(text) = definition.metadata.annotations.get(name) else { continue };
        let path = annotations.key(name);
        if is_webhook {
            v.forbidden(&path, "must not be set when strategy is set to Webhook");
        } else if let Some(why) = fault(text, definition) {
            v.invalid(&path, text, why);
        }
    }
}

/// Returns the reason why the text of an annotation is invalid.
type Fault = fn(&str, &CustomResourceDefinition) -> Option<String>;

fn of_moves(text: &str, definition: &CustomResourceDefinition) -> Option<String> {
    let moves = match Moves::parse(text) {
        Ok(moves) => moves,
        Err(why) => return Some(why),
    };
    let is_there = |name: &str| definition.spec.versions.iter().any(|version| version.name == name);
    let unknown = moves.versions().find(|name| !is_there(name));
    unknown.map(|name| format!("there is no version {name}"))
}

fn of_expressions(text: &str, definition: &CustomResourceDefinition) -> Option<String> {
    Expressions::compile(text, definition).err()
}
