//! Custom resources (upstream: `apiextensions-apiserver`): definitions, and the resources that they make.
//!
//! | module | part |
//! |---|---|
//! | `unstructured` | the one struct that all custom objects are |
//! | `kinds` | descriptors made at run time, interned |
//! | `custom` | a definition's versions, ready for use: schemas, merging, reading and writing of objects |
//! | `source` | a schema that is not needed now |
//! | `form` | how stored objects are read into the cache |
//! | `selectable` | what field selectors look at |
//! | `conversion` | what changes an object of one version into one of another: nothing, or a webhook |
//! | `pending` | conversions that several readers wait for |
//! | `versions` | objects between the version of the store and the one asked for |
//! | `strategy` | what custom objects have to be |
//! | `rules` | validation rules, compiled and run |
//! | `definition` | what definitions have to be |
//! | `structure` | the condition of definitions whose schemas are not structural |
//! | `controller` | follows definitions: accepts their names, serves what they say, cleans up |

mod columns;
mod conditions;
mod controller;
mod conversion;
mod custom;
mod definition;
mod finalize;
mod form;
mod kinds;
mod names;
mod pending;
mod rules;
mod selectable;
mod serve;
mod source;
mod strategy;
mod structure;
mod unstructured;
mod versions;

pub use controller::start;
pub use definition::DefinitionStrategy;
pub use serve::Custom;
pub use unstructured::Unstructured;
