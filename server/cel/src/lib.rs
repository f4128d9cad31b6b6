//! The Common Expression Language as in Kubernetes 1.36: the language of cel-go, Kubernetes' libraries,
//! upstream's cost model and error messages.
//!
//! [`compile`] parses an expression and checks it against an [`Environment`]. A [`Program`] can be
//! evaluated any number of times, with [`Variables`] and a [`CostBudget`]. Values borrow documents
//! ([`Value::json`]). `docs/decisions/0004-cel.md` explains why this crate exists.

mod ast;
mod check;
mod cost;
mod environment;
mod error;
mod estimate;
mod eval;
mod functions;
mod infer;
mod lex;
mod limits;
mod literals;
mod macros;
mod meter;
mod names;
mod nodes;
mod parse;
mod program;
mod rule;
mod signature;
mod time;
mod types;
mod value;

pub use environment::Environment;
pub use error::{BadUrl, Error};
pub use estimate::Bounds;
pub use eval::{CostBudget, Variables};
pub use functions::authorizer;
pub use names::{escape, is_reserved};
pub use program::{Program, compile};
pub use rule::{Rule, RuleResult as RuleOutcome, RuleText, SELF_TYPE, environment as rule_environment};
pub use types::{ElementType, FieldType, Merge, ObjectFields, ObjectType, Type};
pub use value::{ListValue, MapValue, Opaque, Text, Value};
