//! Rust structs for `kube::Api<T>`. Kubernetes' types come from `k8s-openapi`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{ClientGroupVersion, Home, is_always_written, parts};
use crate::Error;
use crate::emit::File;
use crate::model::{Enum, Field, Group, Model, Role, Struct, StructId, TypeRef};
use crate::names;

const HEADER: &str = "// Written by `export rust`; change the definitions instead.\n//\n\
    // Needs the crates `k8s-openapi` (with the feature of a version of Kubernetes), `serde` (with `derive`) and `serde_json`.\n";

/// `<module>/<version>.rs`, and `<module>/mod.rs` with the list of versions.
///
/// # Errors
/// Fails if the group belongs to Kubernetes.
pub fn files(model: &Model, group: Option<&Group>) -> Result<Vec<File>, Error> {
    let mut out: Vec<File> = Vec::new();
    for part in parts(model, group, "the crate `k8s-openapi`")? {
        let module = &part.group.module;
        let list = format!("{module}/mod.rs");
        let line = format!("pub mod {};\n", part.version.name);
        match out.iter_mut().find(|file| file.path == list) {
            Some(file) => file.bytes.extend(line.bytes()),
            None => out.push(File { path: list, bytes: format!("{HEADER}\n{line}").into_bytes() }),
        }
        out.push(File { path: format!("{module}/{}.rs", part.version.name), bytes: file(part).into_bytes() });
    }
    out.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(out)
}

fn file(part: ClientGroupVersion<'_>) -> String {
    let structs = part.structs().into_iter().map(|(id, one)| structure(part, id, one));
    let enums = part.enums().into_iter().map(|(_, one)| enumeration(one));
    let items: TokenStream = structs.chain(enums).collect();
    let tokens = quote! {
        #items

        /// Whether a value is left out of JSON.
        fn is_default<T: Default + PartialEq>(value: &T) -> bool {
            *value == T::default()
        }
    };
    let text = syn::parse2(tokens)
        .map_or_else(|why| format!("compile_error!({:?});", why.to_string()), |file| prettyplease::unparse(&file));
    // Separates items by blank lines.
    let text = text.replace("\n}\n", "\n}\n\n");
    format!("{HEADER}\n{}\n", text.trim_end())
}

fn docs(text: &str) -> TokenStream {
    text.lines().map(|line| format!(" {line}")).map(|line| quote!(#[doc = #line])).collect()
}

fn ident(name: &str) -> syn::Ident {
    if names::is_keyword(name) { format_ident!("r#{name}") } else { format_ident!("{name}") }
}

fn structure(part: ClientGroupVersion<'_>, id: StructId, one: &Struct) -> TokenStream {
    let (docs, name) = (docs(&one.docs), format_ident!("{}", one.name));
    let fields = one.fields.iter().map(|field| declaration(part, id, field));
    let serialize = if one.role == Role::Part { quote!(serde::Serialize,) } else { quote!() };
    let kind = if one.role == Role::Part { quote!() } else { as_kind(part, one) };
    quote! {
        #docs
        #[derive(Clone, Debug, Default, PartialEq, #serialize serde::Deserialize)]
        pub struct #name { #(#fields),* }

        #kind
    }
}

fn declaration(part: ClientGroupVersion<'_>, owner: StructId, field: &Field) -> TokenStream {
    let (docs, name) = (docs(&field.docs), ident(&field.name));
    let ty = ty(part, owner, field);
    let mut words = Vec::new();
    if field.inline || field.json.is_empty() {
        words.push(quote!(flatten));
    } else {
        if field.json != field.name {
            let json = &field.json;
            words.push(quote!(rename = #json));
        }
        words.push(quote!(default));
        if is_option(field) {
            words.push(quote!(skip_serializing_if = "Option::is_none"));
        } else if !is_always_written(field) {
            words.push(quote!(skip_serializing_if = "is_default"));
        }
    }
    quote!(#docs #[serde(#(#words),*)] pub #name: #ty)
}

/// Whether a field is an `Option`; points in time are, because they have no empty value.
fn is_option(field: &Field) -> bool {
    field.nullable || matches!(field.ty, TypeRef::Time | TypeRef::MicroTime)
}

fn ty(part: ClientGroupVersion<'_>, owner: StructId, field: &Field) -> TokenStream {
    let inner = of(part, &field.ty);
    let is_boxed = matches!(field.ty, TypeRef::Struct(_)) && part.holds_itself(owner);
    let inner = if is_boxed { quote!(Box<#inner>) } else { inner };
    if is_option(field) { quote!(Option<#inner>) } else { inner }
}

fn of(part: ClientGroupVersion<'_>, ty: &TypeRef) -> TokenStream {
    match ty {
        TypeRef::String | TypeRef::Duration => quote!(String),
        TypeRef::Bool => quote!(bool),
        TypeRef::I32 => quote!(i32),
        TypeRef::I64 => quote!(i64),
        TypeRef::F64 => quote!(f64),
        TypeRef::Bytes => quote!(k8s_openapi::ByteString),
        TypeRef::Quantity => quote!(k8s_openapi::apimachinery::pkg::api::resource::Quantity),
        TypeRef::Time => quote!(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time),
        TypeRef::MicroTime => quote!(k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime),
        TypeRef::IntOrString => quote!(k8s_openapi::apimachinery::pkg::util::intstr::IntOrString),
        TypeRef::RawExtension | TypeRef::FieldsV1 | TypeRef::Json => quote!(serde_json::Value),
        TypeRef::Enum(id) => place(part, &part.home_of_enum(*id), &part.model.enums[id.0].name),
        TypeRef::Struct(id) => place(part, &part.home_of_struct(*id), &part.model.structs[id.0].name),
        TypeRef::List(item) => {
            let item = of(part, item);
            quote!(Vec<#item>)
        }
        TypeRef::Map(value) => {
            let value = of(part, value);
            quote!(std::collections::BTreeMap<String, #value>)
        }
    }
}

fn place(part: ClientGroupVersion<'_>, home: &Home<'_>, name: &str) -> TokenStream {
    let name = format_ident!("{name}");
    match home {
        Home::Here => quote!(#name),
        Home::Elsewhere(group, version) => {
            let version = format_ident!("{version}");
            if group.module == part.group.module {
                return quote!(super::#version::#name);
            }
            let module = ident(&group.module);
            quote!(super::super::#module::#version::#name)
        }
        Home::Kubernetes(group, version) => {
            let version = format_ident!("{version}");
            let path = group.openapi_prefix.trim_start_matches("io.k8s.").split('.').map(ident);
            quote!(k8s_openapi::#(#path)::*::#version::#name)
        }
    }
}

/// Implementations that make a struct a kind: serialization with its type, and the traits that `kube`
/// requires.
fn as_kind(part: ClientGroupVersion<'_>, one: &Struct) -> TokenStream {
    let (name, kind, api_version) = (format_ident!("{}", one.name), &one.name, part.api_version());
    let fields = one.fields.iter().filter(|field| !field.json.is_empty()).map(|field| {
        let (field_name, json) = (ident(&field.name), &field.json);
        let write = quote!(state.serialize_entry(#json, &self.#field_name)?;);
        if is_option(field) {
            quote!(if self.#field_name.is_some() { #write })
        } else if is_always_written(field) {
            write
        } else {
            quote!(if !is_default(&self.#field_name) { #write })
        }
    });
    let serialize = quote! {
        impl serde::Serialize for #name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;

                let mut state = serializer.serialize_map(None)?;
                state.serialize_entry("apiVersion", #api_version)?;
                state.serialize_entry("kind", #kind)?;
                #(#fields)*
                state.end()
            }
        }
    };
    let Some((_, resource)) = part.kind(one) else { return serialize };
    let (group, version, plural) = (&part.group.name, &part.version.name, &resource.plural);
    let scope =
        format_ident!("{}", if resource.namespaced { "NamespaceResourceScope" } else { "ClusterResourceScope" });
    let list = format!("{kind}List");
    quote! {
        #serialize

        impl k8s_openapi::Resource for #name {
            const API_VERSION: &'static str = #api_version;
            const GROUP: &'static str = #group;
            const KIND: &'static str = #kind;
            const VERSION: &'static str = #version;
            const URL_PATH_SEGMENT: &'static str = #plural;
            type Scope = k8s_openapi::#scope;
        }

        impl k8s_openapi::ListableResource for #name {
            const LIST_KIND: &'static str = #list;
        }

        impl k8s_openapi::Metadata for #name {
            type Ty = k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

            fn metadata(&self) -> &Self::Ty {
                &self.metadata
            }

            fn metadata_mut(&mut self) -> &mut Self::Ty {
                &mut self.metadata
            }
        }
    }
}

/// An enum with a variant for values that only newer servers know.
fn enumeration(one: &Enum) -> TokenStream {
    let (text, name) = (docs(&one.docs), format_ident!("{}", one.name));
    let variants = one.variants.iter().map(|(variant, value, about)| {
        let (about, variant) = (docs(about), format_ident!("{variant}"));
        quote!(#about #[serde(rename = #value)] #variant)
    });
    quote! {
        #text
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum #name {
            #(#variants,)*
            /// A value that was not known when this file was written; empty where none is set.
            #[serde(untagged)]
            Unrecognized(String),
        }

        impl Default for #name {
            fn default() -> Self {
                #name::Unrecognized(String::new())
            }
        }
    }
}
