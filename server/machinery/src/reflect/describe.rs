//! `describe!` and its setters: the only way to create a descriptor.

use crate::checks::CheckDef;
use crate::def::{Defaults, JsonForm, RuleDef, StructDef, UnionDef};
use crate::hooks::ValidateFn;
use crate::reflect::{Mut, Struct, StructAccess};

impl StructDef {
    #[doc(hidden)]
    pub const fn json_form(mut self, form: JsonForm) -> Self {
        self.json_form = form;
        self
    }
    #[doc(hidden)]
    pub const fn atomic(mut self) -> Self {
        self.atomic = true;
        self
    }
    #[doc(hidden)]
    pub const fn direct<T: Struct>(mut self) -> Self {
        self.access = StructAccess::direct::<T>();
        self
    }
    #[doc(hidden)]
    pub const fn defaults(mut self, defaults: &'static Defaults) -> Self {
        self.defaults = Some(defaults);
        self
    }
    #[doc(hidden)]
    pub const fn defaults_below(mut self) -> Self {
        self.defaults_below = true;
        self
    }
    #[doc(hidden)]
    pub const fn normalize(mut self, function: fn(Mut<'_>)) -> Self {
        self.normalize = Some(function);
        self
    }
    #[doc(hidden)]
    pub const fn normalize_below(mut self) -> Self {
        self.normalize_below = true;
        self
    }
    #[doc(hidden)]
    pub const fn validate(mut self, function: ValidateFn) -> Self {
        self.validate = Some(function);
        self
    }
    #[doc(hidden)]
    pub const fn checks(mut self, checks: &'static [CheckDef]) -> Self {
        self.checks = checks;
        self
    }
    #[doc(hidden)]
    pub const fn rules(mut self, rules: &'static [RuleDef]) -> Self {
        self.rules = rules;
        self
    }
    #[doc(hidden)]
    pub const fn unions(mut self, unions: &'static [UnionDef]) -> Self {
        self.unions = unions;
        self
    }
}

/// Describes a struct: implements [`Struct`](crate::reflect::Struct), equality, `Debug` and the serde
/// traits by its descriptor.
///
/// A row has the Rust field, its JSON name, its protobuf number, its flags and, optionally, its
/// [`FieldInfo`](crate::def::FieldInfo). Generated code calls this macro; tests may, too.
///
/// ```
/// use machinery::def::{FieldInfo, Flags, Literal};
/// use machinery::describe;
///
/// #[derive(Default, Clone)]
/// pub struct Port {
///     pub name: String,
///     pub protocol: String,
/// }
/// describe! { Port, PORT "Port" { .atomic() } [
///     name: "name", 1, Flags::NONE;
///     protocol: "protocol", 2, Flags::OMIT_EMPTY, &FieldInfo {
///         default: Some(Literal::String("TCP")),
///         ..FieldInfo::PLAIN
///     };
/// ] }
///
/// let port = Port { name: "web".into(), ..Port::default() };
/// assert_eq!(serde_json::to_string(&port)?, r#"{"name":"web"}"#);
/// assert!(PORT.atomic);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// With `direct` before the name, the type gets its own JSON encoder
/// ([`json::direct`](crate::json::direct)) instead of using the interpreter of descriptors. It is twice
/// as fast, at the cost of compile time.
#[macro_export]
macro_rules! describe {
    (direct $ty:ident, $def:ident $name:literal { $($set:tt)* } [ $($field:ident: $json:literal, $number:literal, $flags:expr $(, $info:expr)?;)* ]) => {
        $crate::describe! { @ $ty, $def $name { .direct::<$ty>() $($set)* } [ $($field: $json, $number, $flags $(, $info)?;)* ] {
            fn write_members(&self, out: &mut Vec<u8>) {
                $($crate::json::direct::member(&self.$field, concat!(",\"", $json, "\":"), $flags, out);)*
            }
        } }
    };
    ($ty:ident, $def:ident $name:literal { $($set:tt)* } [ $($rows:tt)* ]) => {
        $crate::describe! { @ $ty, $def $name { $($set)* } [ $($rows)* ] {
            fn write_members(&self, out: &mut Vec<u8>) {
                $crate::json::walk_members($crate::reflect::Ref::of(self), out);
            }
        } }
    };
    (@ $ty:ident, $def:ident $name:literal { $($set:tt)* } [ $($field:ident: $json:literal, $number:literal, $flags:expr $(, $info:expr)?;)* ] { $($write:tt)* }) => {
        #[doc = concat!("Describes [`", stringify!($ty), "`].")]
        pub static $def: $crate::def::StructDef = {
            // Separate, so that the descriptor is plain data.
            static TABLES: std::sync::OnceLock<$crate::reflect::Tables> = std::sync::OnceLock::new();
            $crate::reflect::struct_def::<$ty>($name, &[
                $($crate::field!($ty, $field, $json, $number, $flags $(, $info)?)),*
            ], &TABLES) $($set)*
        };

        #[allow(unsafe_code)]
        // SAFETY: the descriptor is made of this very type's fields, above.
        unsafe impl $crate::reflect::Struct for $ty {
            const DEF: &'static $crate::def::StructDef = &$def;

            $($write)*
        }

        impl PartialEq for $ty {
            fn eq(&self, other: &Self) -> bool {
                $crate::reflect::Ref::of(self) == $crate::reflect::Ref::of(other)
            }
        }

        impl std::fmt::Debug for $ty {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&$crate::reflect::Ref::of(self), f)
            }
        }

        impl $crate::serde::Serialize for $ty {
            fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::serde::Serialize::serialize(&$crate::reflect::Ref::of(self), serializer)
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $ty {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let mut value = Self::default();
                $crate::serde_impl::deserialize_into($crate::reflect::Mut::of(&mut value), deserializer)?;
                Ok(value)
            }
        }
    };
}

/// One field of `describe!`.
#[doc(hidden)]
#[macro_export]
macro_rules! field {
    ($ty:ident, $field:ident, $json:literal, $number:literal, $flags:expr) => {
        $crate::field!($ty, $field, $json, $number, $flags, &$crate::def::FieldInfo::PLAIN)
    };
    ($ty:ident, $field:ident, $json:literal, $number:literal, $flags:expr, $info:expr) => {{
        #[allow(unsafe_code)]
        // SAFETY: offset and form are taken from the same field.
        unsafe {
            $crate::reflect::field_def(
                $json,
                $number,
                $flags,
                $info,
                std::mem::offset_of!($ty, $field),
                $crate::reflect::form_of::<$ty, _>(|s| &s.$field),
            )
        }
    }};
}

/// The JSON name of a struct's field, as it is declared: a constant.
///
/// ```
/// use machinery::{describe, def::Flags, json_name};
///
/// #[derive(Default, Clone)]
/// pub struct Widget {
///     pub node_name: String,
/// }
/// describe! { Widget, WIDGET "Widget" {} [
///     node_name: "nodeName", 1, Flags::OMIT_EMPTY;
/// ] }
///
/// assert_eq!(json_name!(Widget.node_name), "nodeName");
/// ```
#[macro_export]
macro_rules! json_name {
    ($($ty:ident)::+ . $field:ident) => {
        const { $crate::reflect::json_name_at::<$($ty)::+>(std::mem::offset_of!($($ty)::+, $field)) }
    };
}
