//! Strategies of kinds by name; everything else has the declared one.

use std::sync::Arc;

use machinery::catalog::{KindDef, ResourceDef};
use registry::Strategy;

/// The strategy of a resource, if it has one of its own.
pub fn of(_kind: &'static KindDef, _resource: &'static ResourceDef) -> Option<Arc<dyn Strategy>> {
    None
}
