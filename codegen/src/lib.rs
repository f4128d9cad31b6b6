//! Reads `api-defs/` and renders `generated/`: parse -> model -> check -> emit.
//!
//! A package with definitions of its own calls [`build()`] in its build script; `docs/api-defs.md`
//! describes the language.
//!
//! # Examples
//!
//! ```
//! use codegen::model::TypeRef;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let root = std::env::temp_dir().join(format!("codegen-example-{}", std::process::id()));
//! let folder = root.join("api-defs/shop.example.com");
//! std::fs::create_dir_all(&folder)?;
//! let group = "//! A shop.\n\n#![group(\"shop.example.com\")]\n#![version(v1)]\n";
//! std::fs::write(folder.join("group.rs"), group)?;
//! let price = "
//!     /// A price.
//!     pub struct Price {
//!         /// Amount in the currency of the shop.
//!         #[field(1, required)]
//!         pub amount: Quantity,
//!     }
//! ";
//! std::fs::write(folder.join("price.rs"), price)?;
//!
//! let model = codegen::load(&root)?;
//! assert_eq!(model.groups[0].name, "shop.example.com");
//! assert_eq!(model.structs[0].fields[0].ty, TypeRef::Quantity);
//! # std::fs::remove_dir_all(&root)?;
//! # Ok(())
//! # }
//! ```

#![deny(missing_docs)]
#![deny(clippy::missing_errors_doc)]

mod bounds;
mod check;
pub mod diagnostics;
pub mod emit;
mod error;
mod examine;
pub mod export;
mod functions;
mod gates;
pub mod import;
pub mod ledger;
pub mod model;
pub mod names;
mod parse;
mod paths;
mod project;
mod refresh;

pub use error::Error;
pub use examine::{Examined, examine, examine_project, load, load_project};
pub use parse::VOCABULARY;
pub use project::Project;
pub use refresh::{build, refresh, refresh_registration};
