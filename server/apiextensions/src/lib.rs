//! Custom resources (upstream: `apiextensions-apiserver`): definitions and the resources that they
//! define.
//!
//! | module | part |
//! |---|---|
//! | `unstructured` | the struct of all custom objects |
//! | `kinds` | descriptors created at run time, interned |
//! | `custom` | compiled versions of a definition: schemas, merging, reading and writing of objects
//! |
//! | `compressed_schema` | compressed schemas |
//! | `form` | decoding of stored objects into the cache |
//! | `selectable` | values for field selectors |
//! | `conversion` | conversion between versions: none, declared fields, or a webhook |
//! | `pending` | conversions that several readers share |
//! | `versions` | conversion between the stored and the requested version |
//! | `strategy` | validation of custom objects |
//! | `rules` | validation rules, compiled and run |
//! | `definition` | validation of definitions |
//! | `structure` | the `NonStructuralSchema` condition |
//! | `controller` | accepts names, serves definitions, runs finalizers |

mod columns;
mod compressed_schema;
mod conditions;
mod controller;
mod conversion;
mod custom;
mod definition;
mod error;
mod finalize;
mod form;
mod kinds;
mod names;
mod pending;
mod rules;
mod selectable;
mod serve;
mod strategy;
mod structure;
mod unstructured;
mod versions;

pub use controller::start;
pub use definition::DefinitionStrategy;
pub use error::Error;
pub use rules::type_of as schema_type;
pub use serve::Custom;
pub use unstructured::Unstructured;
