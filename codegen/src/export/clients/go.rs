//! Go types for controller-runtime and client-go, with deep copies and a function that registers them.

pub(super) mod names;

use std::fmt::Write;

use super::{ClientGroupVersion, Home, deep_copy, is_always_written, parts};
use crate::Error;
use crate::emit::File;
use crate::model::{Enum, Field, Group, Model, Role, Struct, TypeRef};
use names::MODULE;
pub(super) use names::{Imports, field_name, file, is_pointer, of};

/// `<module>/<version>/{types,register,zz_generated.deepcopy}.go`. `module` is the path by which
/// packages of the export import each other.
///
/// # Errors
/// Fails if the group belongs to Kubernetes, or if the module is needed and not given.
pub fn files(model: &Model, group: Option<&Group>, module: Option<&str>) -> Result<Vec<File>, Error> {
    let mut out = Vec::new();
    for part in parts(model, group, "the module `k8s.io/api`")? {
        if let (None, Some(other)) = (module, uses_elsewhere(part)) {
            return Err(Error::NoModule { here: part.api_version(), other });
        }
        let mut add = |name: &str, text: String| {
            let path = format!("{}/{}/{name}.go", part.group.module, part.version.name);
            let text = text.replace(&format!("\"{MODULE}/"), &format!("\"{}/", module.unwrap_or(MODULE)));
            out.push(File { path, bytes: text.into_bytes() });
        };
        add("types", types(part));
        add("register", register(part));
        add("zz_generated.deepcopy", deep_copy::copies(part));
    }
    Ok(out)
}

/// The first other package of the export that a version uses.
fn uses_elsewhere(part: ClientGroupVersion<'_>) -> Option<String> {
    let homes = part.structs().into_iter().flat_map(|(_, one)| &one.fields).filter_map(|field| inner(part, &field.ty));
    let mut others = homes.filter_map(|home| match home {
        Home::Elsewhere(group, version) => Some(format!("{}/{version}", group.name)),
        Home::Here | Home::Kubernetes(..) => None,
    });
    others.next()
}

/// The location of the struct or enum in a type.
fn inner<'m>(part: ClientGroupVersion<'m>, ty: &TypeRef) -> Option<Home<'m>> {
    match ty {
        TypeRef::Enum(id) => Some(part.home_of_enum(*id)),
        TypeRef::Struct(id) => Some(part.home_of_struct(*id)),
        TypeRef::List(inside) | TypeRef::Map(inside) => inner(part, inside),
        _ => None,
    }
}

fn types(part: ClientGroupVersion<'_>) -> String {
    let (mut imports, mut body) = (Imports::default(), String::new());
    for (_, one) in part.structs() {
        body.push_str(&structure(part, one, &mut imports));
    }
    for (_, one) in part.enums() {
        body.push_str(&enumeration(one));
    }
    let docs = format!("// Package {} has the types of {}.\n", part.version.name, part.api_version());
    file(part, &docs, &imports, &body)
}

fn comment(text: &str, indent: &str) -> String {
    text.lines().fold(String::new(), |mut out, line| {
        let _ = writeln!(out, "{}", format!("{indent}// {line}").trim_end());
        out
    })
}

/// A line of a Go block: a comment, or cells that `gofmt` aligns with those of adjacent lines.
enum Line {
    Comment(String),
    Cells(Vec<String>),
}

/// Formats the lines of a block as `gofmt` does: a column is as wide as its widest cell among
/// consecutive lines that have a further cell.
fn block(lines: &[Line]) -> String {
    let cells = |index: usize| match lines.get(index) {
        Some(Line::Cells(cells)) => cells.as_slice(),
        _ => &[],
    };
    let width = |index: usize, column: usize| {
        let has = |at: &usize| cells(*at).len() > column + 1;
        let before = (0..index).rev().take_while(has);
        let after = (index..lines.len()).take_while(has);
        before.chain(after).map(|at| cells(at)[column].chars().count()).max().unwrap_or(0)
    };
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        match line {
            Line::Comment(comment) => text.push_str(comment),
            Line::Cells(cells) => {
                let padded = cells.iter().enumerate().map(|(column, cell)| match column + 1 < cells.len() {
                    true => format!("{cell:<width$} ", width = width(index, column)),
                    false => cell.clone(),
                });
                let _ = writeln!(text, "\t{}", padded.collect::<String>());
            }
        }
    }
    text
}

fn structure(part: ClientGroupVersion<'_>, one: &Struct, imports: &mut Imports) -> String {
    let mut lines = Vec::new();
    if one.role != Role::Part {
        let embedded = format!("{}.TypeMeta", imports.known("metav1"));
        lines.push(Line::Cells(vec![embedded, "`json:\",inline\"`".into()]));
    }
    for field in &one.fields {
        lines.extend((!field.docs.is_empty()).then(|| Line::Comment(comment(&field.docs, "\t"))));
        let ty = field_type(part, field, imports);
        let is_metadata = one.role != Role::Part && field.json == "metadata";
        let tag = match field.json.as_str() {
            "" => ",inline".to_owned(),
            json if is_always_written(field) && !is_metadata => json.to_owned(),
            json => format!("{json},omitempty"),
        };
        let tag = format!("`json:\"{tag}\"`");
        // Metadata and fields that are inlined in JSON are embedded.
        let is_embedded = is_metadata || field.json.is_empty();
        lines.push(Line::Cells(if is_embedded { vec![ty, tag] } else { vec![field_name(field), ty, tag] }));
    }
    let mut text = format!("{}type {} struct {{\n{}}}\n\n", comment(&one.docs, ""), one.name, block(&lines));
    if let Some((kind, _)) = part.kind(one) {
        text.push_str(&list(&kind.name, imports.known("metav1")));
    }
    text
}

fn list(kind: &str, meta: &str) -> String {
    let cells = |cells: &[&str]| Line::Cells(cells.iter().map(|cell| (*cell).to_owned()).collect());
    let lines = [
        cells(&[&format!("{meta}.TypeMeta"), "`json:\",inline\"`"]),
        cells(&[&format!("{meta}.ListMeta"), "`json:\"metadata,omitempty\"`"]),
        cells(&["Items", &format!("[]{kind}"), "`json:\"items\"`"]),
    ];
    format!("// {kind}List is a list of {kind}.\ntype {kind}List struct {{\n{}}}\n\n", block(&lines))
}

fn field_type(part: ClientGroupVersion<'_>, field: &Field, imports: &mut Imports) -> String {
    let ty = of(part, &field.ty, imports);
    if is_pointer(field) { format!("*{ty}") } else { ty }
}

fn enumeration(one: &Enum) -> String {
    let mut lines = Vec::new();
    for (variant, value, docs) in &one.variants {
        lines.extend((!docs.is_empty()).then(|| Line::Comment(comment(docs, "\t"))));
        let name = format!("{}{variant}", one.name);
        lines.push(Line::Cells(vec![name, one.name.clone(), format!("= {value:?}")]));
    }
    format!("{}type {} string\n\nconst (\n{})\n\n", comment(&one.docs, ""), one.name, block(&lines))
}

fn register(part: ClientGroupVersion<'_>) -> String {
    let mut imports = Imports::default();
    imports.known("metav1");
    imports.known("runtime");
    imports.add("schema".into(), "k8s.io/apimachinery/pkg/runtime/schema".into());
    let kinds: Vec<&str> =
        part.structs().into_iter().filter_map(|(_, one)| part.kind(one)).map(|(kind, _)| kind.name.as_str()).collect();
    let types = kinds.iter().fold(String::new(), |mut text, kind| {
        let _ = writeln!(text, "\t\t&{kind}{{}},\n\t\t&{kind}List{{}},");
        text
    });
    let body = format!(
        "// GroupVersion is the group and version of the types in this package.\n\
         var GroupVersion = schema.GroupVersion{{Group: {:?}, Version: {:?}}}\n\n\
         var (\n\
         \t// SchemeBuilder collects functions that add types to a scheme.\n\
         \tSchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)\n\
         \t// AddToScheme adds the types of this package to a scheme.\n\
         \tAddToScheme = SchemeBuilder.AddToScheme\n\
         )\n\n\
         // Resource gives the name of a resource its group.\n\
         func Resource(resource string) schema.GroupResource {{\n\
         \treturn GroupVersion.WithResource(resource).GroupResource()\n\
         }}\n\n\
         func addKnownTypes(scheme *runtime.Scheme) error {{\n\
         \tscheme.AddKnownTypes(GroupVersion,\n{types}\t)\n\
         \tmetav1.AddToGroupVersion(scheme, GroupVersion)\n\
         \treturn nil\n\
         }}\n",
        part.group.name, part.version.name
    );
    file(part, "", &imports, &body)
}
