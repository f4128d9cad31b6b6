//! Whether a stored text needs nothing of what reading does. Most are read by the schema that they were written by: then no tree has to be made.

use machinery::json::Scanner;

use crate::prune::is_meta;
use crate::{Additional, Schema};

/// Whether reading an object by a schema would neither drop nor fill in anything. Only texts in the form that the server writes are looked
/// through; of others, and where that takes more than a look, it says no.
pub fn is_complete(text: &str, schema: &Schema) -> bool {
    let mut scanner = Scanner::new(text.trim_ascii_end());
    !schema.below.embedded && members(&mut scanner, schema, true).is_some() && scanner.peek() == 0
}

fn value(at: &mut Scanner<'_>, schema: Option<&Schema>) -> Option<()> {
    match (at.peek(), schema) {
        (b'{', Some(schema)) => members(at, schema, false),
        (b'[', Some(schema)) => items(at, schema),
        // What nothing is said of is emptied.
        (b'{' | b'[', None) => None,
        (b'n', Some(schema)) if !schema.flags.nullable => None,
        _ => at.skip(),
    }
}

fn members(at: &mut Scanner<'_>, schema: &Schema, is_root: bool) -> Option<()> {
    // Both are in order of their names.
    let mut rest = &schema.properties[..];
    at.members(|name, at| {
        while let [(property, of), others @ ..] = rest
            && **property < *name
        {
            is_not_missed(of)?;
            rest = others;
        }
        let property = match rest {
            [(property, of), others @ ..] if **property == *name => {
                rest = others;
                Some(of)
            }
            _ => None,
        };
        match (property, &schema.additional) {
            _ if is_root && is_meta(name) => at.skip(),
            (Some(of), _) => value(at, Some(of)),
            (None, Additional::Schema(of)) => value(at, Some(of)),
            (None, Additional::Allowed | Additional::Refused) => value(at, None),
            (None, Additional::Unset) if schema.flags.preserve_unknown_fields => at.skip(),
            (None, Additional::Unset) => None,
        }
    })?;
    rest.iter().try_for_each(|(_, of)| is_not_missed(of))
}

fn is_not_missed(of: &Schema) -> Option<()> {
    of.default.is_none().then_some(())
}

fn items(at: &mut Scanner<'_>, schema: &Schema) -> Option<()> {
    let of = schema.items.as_deref();
    match (schema.flags.preserve_unknown_fields, of) {
        (true, None) => at.skip(),
        (true, Some(_)) => None,
        (false, of) => at.items(|at| value(at, of)),
    }
}
