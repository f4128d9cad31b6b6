//! Detects stored objects that need neither pruning nor defaults.
//!
//! Most objects are read with the schema that they were written with, so no tree has to be built
//! for them.

use machinery::json::Scanner;

use crate::prune::is_meta;
use crate::{Additional, Schema};

/// Whether pruning and defaulting an object would change nothing.
///
/// Only scans texts in the format that the server writes. Returns false for others, and wherever a
/// scan is not sufficient.
pub fn is_complete(text: &str, schema: &Schema) -> bool {
    let mut scanner = Scanner::new(text.trim_ascii_end());
    !schema.below.embedded && members(&mut scanner, schema, true).is_some() && scanner.peek() == 0
}

fn value(at: &mut Scanner<'_>, schema: Option<&Schema>) -> Option<()> {
    match (at.peek(), schema) {
        (b'{', Some(schema)) => members(at, schema, false),
        (b'[', Some(schema)) => items(at, schema),
        // Pruning would empty an object or a list without a schema.
        (b'{' | b'[', None) => None,
        (b'n', Some(schema)) if !schema.flags.nullable => None,
        _ => at.skip(),
    }
}

fn members(at: &mut Scanner<'_>, schema: &Schema, is_root: bool) -> Option<()> {
    // Members and properties are both sorted by name.
    let mut rest = &schema.properties[..];
    at.members(|name, at| {
        while let [(property, of), others @ ..] = rest
            && **property < *name
        {
            has_no_default(of)?;
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
    rest.iter().try_for_each(|(_, of)| has_no_default(of))
}

fn has_no_default(of: &Schema) -> Option<()> {
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
