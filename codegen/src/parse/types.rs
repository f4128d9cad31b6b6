//! Types of fields as written: names, `Option`, `Vec` and `Map`. Rejects other Rust types with a
//! suggestion.

use syn::ext::IdentExt;

use super::ast::{TypeExpr, TypeKind};
use super::reader::ItemReader;
use crate::diagnostics::{Diagnostic, codes};
use crate::model::Span;

impl ItemReader<'_> {
    pub fn type_expr(&mut self, ty: &syn::Type) -> TypeExpr {
        match ty {
            syn::Type::Path(path) if path.qself.is_none() => self.type_path_expr(&path.path),
            syn::Type::Tuple(tuple) if tuple.elems.is_empty() => {
                TypeExpr { kind: TypeKind::Unit, span: self.scope.span(tuple.paren_token.span.open()) }
            }
            syn::Type::Tuple(tuple) => self.refuse(tuple.paren_token.span.open(), "a tuple", "declare a struct"),
            syn::Type::Array(array) => self.refuse(array.bracket_token.span.open(), "an array", "write `Vec<..>`"),
            syn::Type::Slice(slice) => self.refuse(slice.bracket_token.span.open(), "a slice", "write `Vec<..>`"),
            syn::Type::Reference(reference) => {
                self.refuse(reference.and_token.span, "a reference", "write the type itself, such as `String`")
            }
            _ => {
                let span = self.scope.whole();
                self.error(codes::BAD_TYPE, &span, "a field holds a type of the language, a struct or an enum");
                TypeExpr { kind: TypeKind::Unit, span }
            }
        }
    }

    fn refuse(&mut self, span: proc_macro2::Span, what: &str, instead: &str) -> TypeExpr {
        let span = self.scope.span(span);
        self.push(Diagnostic::error(codes::BAD_TYPE, &span, format!("the API cannot carry {what}")).help(instead));
        TypeExpr { kind: TypeKind::Unit, span }
    }

    fn type_path_expr(&mut self, path: &syn::Path) -> TypeExpr {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect();
        let span =
            path.segments.first().map_or_else(|| self.scope.whole(), |first| self.scope.span(first.ident.span()));
        let arguments: Vec<&syn::Type> =
            path.segments.iter().flat_map(|segment| generic_types(&segment.arguments)).collect();
        let kind = match (names.join("::").as_str(), arguments.as_slice()) {
            ("Option", [inner]) => TypeKind::Option(Box::new(self.type_expr(inner))),
            ("Vec", [inner]) => TypeKind::Vec(Box::new(self.type_expr(inner))),
            ("Map", [key, value]) => {
                self.map_key(key);
                TypeKind::Map(Box::new(self.type_expr(value)))
            }
            (name, []) if instead_of(name).is_none() => TypeKind::Named(names),
            (name, _) => {
                self.refuse_named(name, &span);
                TypeKind::Unit
            }
        };
        TypeExpr { kind, span }
    }

    fn map_key(&mut self, key: &syn::Type) {
        let key = self.type_expr(key);
        let is_string = matches!(&key.kind, TypeKind::Named(names) if names.len() == 1 && names[0] == "String");
        if !is_string && !matches!(key.kind, TypeKind::Unit) {
            let diagnostic = Diagnostic::error(codes::BAD_TYPE, &key.span, "keys of maps are strings");
            self.push(diagnostic.help("write `Map<String, ..>`"));
        }
    }

    fn refuse_named(&mut self, name: &str, span: &Span) {
        let message = format!("`{name}` is not a type of the language as it is written here");
        let diagnostic = Diagnostic::error(codes::BAD_TYPE, span, message);
        self.push(match instead_of(name) {
            Some(instead) => diagnostic.help(instead),
            None => diagnostic.help("only `Option<T>`, `Vec<T>` and `Map<String, T>` take parameters"),
        });
    }
}

/// The suggestion for a Rust type that the API does not have.
fn instead_of(name: &str) -> Option<&'static str> {
    Some(match name.rsplit("::").next().unwrap_or(name) {
        "i8" | "i16" | "u8" | "u16" => "write `i32`; the API has no small and no unsigned integers",
        "u32" | "u64" | "usize" | "isize" | "i128" | "u128" => "write `i32` or `i64`; the API has no unsigned integers",
        "f32" => "write `f64`, or better an integer or a `Quantity`",
        "str" | "char" | "OsString" | "PathBuf" => "write `String`",
        "HashMap" | "BTreeMap" | "IndexMap" => "write `Map<String, T>`",
        "HashSet" | "BTreeSet" | "VecDeque" => "write `Vec<T>` with `list = set`",
        "Box" | "Rc" | "Arc" | "Cow" => "write the type itself; recursive types need no `Box`",
        "Option" => "write `Option<T>`",
        "Vec" => "write `Vec<T>`",
        "Map" => "write `Map<String, T>`",
        _ => return None,
    })
}

fn generic_types(arguments: &syn::PathArguments) -> Vec<&syn::Type> {
    let syn::PathArguments::AngleBracketed(arguments) = arguments else { return Vec::new() };
    let types = arguments.args.iter().map(|argument| match argument {
        syn::GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.flatten().collect()
}
