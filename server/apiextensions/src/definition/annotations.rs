//! Validation of annotations for conversion without a webhook, an extension of upstream.

use apimachinery::apiextensions::v1::CustomResourceDefinition;
use machinery::field_path::Path;
use machinery::hooks::Validation;

use crate::conversion::{EXPRESSIONS, Expressions, FIELD_MOVES, Moves};
use crate::error::{Error, Result};

/// Checks that annotations name existing versions, and that the definition has no conversion
/// webhook.
pub fn check(v: &mut Validation<'_>, definition: &CustomResourceDefinition) {
    let metadata = Path::new("metadata");
    let annotations = metadata.child("annotations");
    let is_webhook = definition.spec.conversion.as_ref().is_some_and(|conversion| conversion.strategy == "Webhook");
    let checks: [(&str, Check); 2] = [(FIELD_MOVES, of_moves), (EXPRESSIONS, of_expressions)];
    for (name, check) in checks {
        let Some(text) = definition.metadata.annotations.get(name) else { continue };
        let path = annotations.key(name);
        if is_webhook {
            v.forbidden(&path, "must not be set when strategy is set to Webhook");
        } else if let Err(error) = check(text, definition) {
            v.invalid(&path, text, error.to_string());
        }
    }
}

/// Checks the text of an annotation.
type Check = fn(&str, &CustomResourceDefinition) -> Result<()>;

fn of_moves(text: &str, definition: &CustomResourceDefinition) -> Result<()> {
    let moves = Moves::parse(text)?;
    let is_there = |name: &str| definition.spec.versions.iter().any(|version| version.name == name);
    let unknown = moves.versions().find(|name| !is_there(name));
    unknown.map_or(Ok(()), |name| Err(Error::UnknownVersion { version: name.to_owned() }))
}

fn of_expressions(text: &str, definition: &CustomResourceDefinition) -> Result<()> {
    Expressions::compile(text, definition).map(drop)
}
