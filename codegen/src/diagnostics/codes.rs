//! Codes of all diagnostics: `A` for the language, `L` for lints of the API conventions, `C` for
//! compatibility.
//!
//! Each code has a section in `docs/api-defs-errors.md` and a snapshot in
//! `codegen/tests/diagnostics/<code>/`; a test checks that all three exist. A code is never reused with
//! another meaning.

use std::fmt;

/// A code such as `A012`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub &'static str);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal;)+) => {
        $($(#[doc = $doc])+ pub const $name: Code = Code($code);)+

        /// Every code with its meaning, in order.
        pub const ALL: &[(Code, &str)] = &[$(($name, concat!($($doc),+))),+];
    };
}

codes! {
    /// a file cannot be read or is not Rust syntax
    SYNTAX = "A001";
    /// this item is not part of the language
    UNKNOWN_ITEM = "A002";
    /// unknown attribute, or an attribute that does not belong here
    UNKNOWN_ATTRIBUTE = "A003";
    /// unknown word in an attribute
    UNKNOWN_WORD = "A004";
    /// a word has the wrong kind of value, or needs one
    BAD_VALUE = "A005";
    /// a word or an attribute is given twice
    REPEATED = "A006";
    /// words contradict each other
    CONFLICT = "A007";
    /// `group.rs` is missing or incomplete
    GROUP = "A008";
    /// unknown or misplaced version
    VERSION = "A009";
    /// a field has no number
    NO_NUMBER = "A010";
    /// a protobuf number is out of range
    NUMBER_RANGE = "A011";
    /// a protobuf number is used twice
    NUMBER_TWICE = "A012";
    /// two fields have the same JSON name
    JSON_TWICE = "A013";
    /// two types have the same name
    NAME_TWICE = "A014";
    /// unknown type
    UNKNOWN_TYPE = "A015";
    /// a Rust type that the API cannot carry
    BAD_TYPE = "A016";
    /// a `use` names something that does not exist
    UNKNOWN_USE = "A017";
    /// a version names something that its hub does not have
    NOT_IN_HUB = "A018";
    /// a version uses a type that it does not have
    NOT_IN_VERSION = "A019";
    /// a word does not fit the type of its field
    WORD_TYPE = "A020";
    /// a default does not fit the type
    DEFAULT_TYPE = "A021";
    /// a path leads nowhere
    PATH = "A022";
    /// a list map key is missing, not a scalar, or may be absent
    MAP_KEY = "A023";
    /// unknown format
    FORMAT = "A024";
    /// something is missing on a kind, or does not fit it
    KIND = "A025";
    /// a subresource is incomplete or names an unknown kind
    SUBRESOURCE = "A026";
    /// a union's members or discriminator do not exist
    UNION = "A027";
    /// an enum's variants are not plain or not distinct
    ENUM = "A028";
    /// a field exists in one version only and nothing converts it
    CONVERT_MISSING = "A031";
    /// a field has different types in two versions and nothing converts it
    CONVERT_TYPE = "A032";
    /// an `allow` that allows nothing, or an unknown code
    ALLOW = "A033";
    /// a struct without `#[proto(items)]`'s or `inline`'s required shape
    SHAPE = "A034";
    /// a pattern is no regular expression
    PATTERN = "A035";
    /// unknown feature gate
    GATE = "A036";
    /// a default breaks the field's own constraint
    DEFAULT_BOUNDS = "A037";
    /// a rule that is no expression, or not about this type
    CEL = "A038";
    /// a feature gate is declared twice, or without effect
    GATE_DECLARED = "A039";

    /// a description is missing
    DOCS_MISSING = "L001";
    /// a description does not read as a sentence
    DOCS_FORM = "L002";
    /// an optional field is written even when it was not set
    OPTIONAL_ZERO = "L003";
    /// a default that cannot be distinguished from zero
    DEFAULT_ZERO = "L004";
    /// conditions are not a list of `Condition` by type
    CONDITIONS = "L005";
    /// floating point number
    FLOAT = "L006";
    /// a list without list semantics
    LIST_SEMANTICS = "L007";
    /// JSON name not in lowerCamelCase
    JSON_CASE = "L008";
    /// a phase instead of conditions
    PHASE = "L009";
    /// a map of something else than strings
    MAP_VALUES = "L010";
    /// a duration instead of an integer with its unit in the name
    DURATION = "L011";
    /// a timestamp named so
    TIMESTAMP = "L012";
    /// a reference named so
    REFERENCE = "L013";
    /// a required field with `Option`
    REQUIRED_OPTION = "L014";
    /// a required field in a status
    STATUS_REQUIRED = "L015";
    /// a status without its subresource
    STATUS_SUBRESOURCE = "L016";
    /// an enum value not in CamelCase
    ENUM_CASE = "L017";
    /// a default on a required field
    DEFAULT_REQUIRED = "L018";
    /// items of a list that may be entirely empty
    EMPTY_ITEMS = "L019";
    /// list semantics on something that is no list
    LIST_ON_OTHER = "L020";
    /// a list map key that may be absent
    KEY_OPTIONAL = "L021";

    /// a version, kind or type is gone
    GONE_TYPE = "C001";
    /// a field is gone
    GONE_FIELD = "C002";
    /// a field has another protobuf number
    NUMBER_CHANGED = "C003";
    /// a protobuf number means something else than before
    NUMBER_REUSED = "C004";
    /// a field has another type
    TYPE_CHANGED = "C005";
    /// an optional field became required
    NOW_REQUIRED = "C006";
    /// a default changed
    DEFAULT_CHANGED = "C007";
    /// an enum value is gone
    GONE_VALUE = "C008";
    /// a list or map has other merge semantics
    SEMANTICS_CHANGED = "C009";
    /// a kind is reached in another way than before
    RESOURCE_CHANGED = "C010";
    /// a `breaks` that breaks nothing
    BREAKS_NOTHING = "C011";
    /// the ledger differs from the definitions
    LEDGER_STALE = "C012";
    /// the ledger cannot be read
    LEDGER_SYNTAX = "C013";
    /// a constraint is tighter than before
    TIGHTENED = "C014";
    /// a column, selectable field or short name is gone
    GONE_NAME = "C015";
}
