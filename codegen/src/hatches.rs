//! Functions written by hand, read from `<module>.rs` in the project's folder of hatches: their names and the types that they take.
//!
//! Only what a definition needs to know is read; the compiler checks the rest.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use crate::model::Model;
use crate::project::Project;

/// Hatch files by module; a module whose file is not Rust is absent, since the compiler says that better.
pub struct Hatches {
    /// Their folder, below the project's root.
    pub folder: &'static str,
    modules: BTreeMap<String, HashMap<String, Function>>,
}

/// A `pub fn`.
#[derive(Clone, Debug)]
pub struct Function {
    pub arguments: Vec<Argument>,
    /// Last name of the return type, empty for none.
    pub returns: String,
}

/// A parameter's type, with the file's `use` written out.
#[derive(Clone, Debug)]
pub struct Argument {
    pub kind: Passing,
    pub path: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    Shared,
    Mutable,
    Value,
    /// `Option<..>` of any of them; the path is that of what is in it.
    Optional,
}

impl Hatches {
    /// Reads the hatch file of every group. `None` when the project has no hatch folder: then there is nothing to hold them
    /// against (definitions that are checked apart from a server).
    pub fn read(project: &Project, model: &Model) -> Option<Self> {
        let folder = project.root.join(project.hatches());
        if !folder.is_dir() {
            return None;
        }
        let declared = model.groups.iter().filter(|group| project.declares(group));
        let files = declared.map(|group| (group.module.clone(), folder.join(format!("{}.rs", group.module))));
        let modules = files.filter_map(|(module, file)| Some((module, read_file(file)?))).collect();
        Some(Self { folder: project.hatches(), modules })
    }

    /// The functions of a module; `None` when its file cannot be understood.
    pub fn module(&self, module: &str) -> Option<&HashMap<String, Function>> {
        self.modules.get(module)
    }
}

fn read_file(path: PathBuf) -> Option<HashMap<String, Function>> {
    let mut functions = HashMap::new();
    if path.exists() {
        let syntax = syn::parse_file(&std::fs::read_to_string(&path).ok()?).ok()?;
        Module { file: &path, prefix: String::new(), uses: HashMap::new() }.collect(&syntax.items, &mut functions);
    }
    Some(functions)
}

/// A list of items, and the names that are visible around it.
struct Module<'a> {
    file: &'a Path,
    /// `v1beta1::` for functions of `mod v1beta1`.
    prefix: String,
    uses: HashMap<String, Vec<String>>,
}

impl Module<'_> {
    /// Adds the functions of these items, of the modules among them, and what `pub use` lifts out of those.
    fn collect(mut self, items: &[syn::Item], out: &mut HashMap<String, Function>) {
        let uses = items.iter().filter_map(|item| match item {
            syn::Item::Use(item) => Some(item),
            _ => None,
        });
        uses.clone().for_each(|item| add_use(&item.tree, &mut Vec::new(), &mut self.uses));
        for item in items {
            match item {
                syn::Item::Fn(item) if !matches!(item.vis, syn::Visibility::Inherited) => {
                    out.insert(format!("{}{}", self.prefix, item.sig.ident), function(&item.sig, &self.uses));
                }
                syn::Item::Mod(item) => self.module(item, out),
                _ => {}
            }
        }
        for item in uses.filter(|item| !matches!(item.vis, syn::Visibility::Inherited)) {
            self.lift(&item.tree, "", out);
        }
    }

    /// A module within the file, or in a file of its own: as `#[path]` says, or below the folder of this file's name.
    fn module(&self, item: &syn::ItemMod, out: &mut HashMap<String, Function>) {
        let prefix = format!("{}{}::", self.prefix, item.ident);
        if let Some((_, items)) = &item.content {
            return Module { file: self.file, prefix, uses: self.uses.clone() }.collect(items, out);
        }
        let said = item.attrs.iter().find_map(path_attribute);
        let file = match said {
            Some(path) => self.file.parent().map(|folder| folder.join(path)),
            None => Some(self.file.with_extension("").join(format!("{}.rs", item.ident))),
        };
        let Some(file) = file else { return };
        let syntax = std::fs::read_to_string(&file).ok().and_then(|text| syn::parse_file(&text).ok());
        if let Some(syntax) = syntax {
            Module { file: &file, prefix, uses: HashMap::new() }.collect(&syntax.items, out);
        }
    }

    /// `pub use columns::*` and `pub use columns::{a, b}`: functions of a module under this one's name.
    fn lift(&self, tree: &syn::UseTree, from: &str, out: &mut HashMap<String, Function>) {
        let within = format!("{}{from}", self.prefix);
        match tree {
            syn::UseTree::Path(step) if step.ident == "self" => self.lift(&step.tree, from, out),
            syn::UseTree::Path(step) => self.lift(&step.tree, &format!("{from}{}::", step.ident), out),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.lift(tree, from, out)),
            syn::UseTree::Name(name) => {
                lift_one(&within, &name.ident.to_string(), &format!("{}{}", self.prefix, name.ident), out)
            }
            syn::UseTree::Rename(one) => {
                lift_one(&within, &one.ident.to_string(), &format!("{}{}", self.prefix, one.rename), out)
            }
            syn::UseTree::Glob(_) => {
                let plain = |name: &&String| name.strip_prefix(&within).is_some_and(|rest| !rest.contains("::"));
                let names: Vec<String> = out.keys().filter(plain).cloned().collect();
                for name in names {
                    let rest = name[within.len()..].to_string();
                    lift_one(&within, &rest, &format!("{}{rest}", self.prefix), out);
                }
            }
        }
    }
}

fn lift_one(within: &str, name: &str, to: &str, out: &mut HashMap<String, Function>) {
    if let Some(function) = out.get(&format!("{within}{name}")).cloned() {
        out.insert(to.to_string(), function);
    }
}

fn path_attribute(attr: &syn::Attribute) -> Option<String> {
    match &attr.meta {
        syn::Meta::NameValue(syn::MetaNameValue {
            path,
            value: syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }),
            ..
        }) if path.is_ident("path") => Some(text.value()),
        _ => None,
    }
}

fn add_use(tree: &syn::UseTree, path: &mut Vec<String>, uses: &mut HashMap<String, Vec<String>>) {
    let full = |path: &[String], last: &syn::Ident| path.iter().cloned().chain([last.to_string()]).collect::<Vec<_>>();
    match tree {
        syn::UseTree::Path(step) => {
            path.push(step.ident.to_string());
            add_use(&step.tree, path, uses);
            path.pop();
        }
        syn::UseTree::Name(name) if name.ident == "self" => {
            uses.extend(path.last().cloned().map(|alias| (alias, path.clone())));
        }
        syn::UseTree::Name(name) => drop(uses.insert(name.ident.to_string(), full(path, &name.ident))),
        syn::UseTree::Rename(rename) => drop(uses.insert(rename.rename.to_string(), full(path, &rename.ident))),
        syn::UseTree::Group(group) => group.items.iter().for_each(|tree| add_use(tree, path, uses)),
        syn::UseTree::Glob(_) => {}
    }
}

fn function(signature: &syn::Signature, uses: &HashMap<String, Vec<String>>) -> Function {
    let arguments = signature.inputs.iter().filter_map(|input| match input {
        syn::FnArg::Typed(typed) => Some(argument(&typed.ty, uses)),
        syn::FnArg::Receiver(_) => None,
    });
    let returns = match &signature.output {
        syn::ReturnType::Default => String::new(),
        syn::ReturnType::Type(_, ty) => match &**ty {
            syn::Type::Path(path) => path.path.segments.last().map_or(String::new(), |last| last.ident.to_string()),
            _ => String::new(),
        },
    };
    Function { arguments: arguments.collect(), returns }
}

fn argument(ty: &syn::Type, uses: &HashMap<String, Vec<String>>) -> Argument {
    match ty {
        syn::Type::Reference(reference) => {
            let kind = if reference.mutability.is_some() { Passing::Mutable } else { Passing::Shared };
            Argument { kind, ..argument(&reference.elem, uses) }
        }
        syn::Type::Path(path) if let Some(inner) = optional(&path.path) => {
            Argument { kind: Passing::Optional, ..argument(inner, uses) }
        }
        syn::Type::Path(path) => {
            let mut names: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            if let Some(full) = names.first().and_then(|first| uses.get(first)) {
                names.splice(0..1, full.iter().cloned());
            }
            Argument { kind: Passing::Value, path: names }
        }
        _ => Argument { kind: Passing::Value, path: Vec::new() },
    }
}

/// The `T` of an `Option<T>`.
fn optional(path: &syn::Path) -> Option<&syn::Type> {
    let last = path.segments.last().filter(|last| last.ident == "Option")?;
    match &last.arguments {
        syn::PathArguments::AngleBracketed(list) => list.args.iter().find_map(|argument| match argument {
            syn::GenericArgument::Type(ty) => Some(ty),
            _ => None,
        }),
        _ => None,
    }
}
