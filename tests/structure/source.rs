//! The modules of a crate, read with `syn`: what each defines, imports and names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::{Attribute, Item, ItemMod, ItemUse, UseTree, Visibility};

use crate::names::names;

/// A `use` of one name, or of all names of a module.
pub struct Import {
    /// The name in this scope, or `None` for all names.
    pub name: Option<String>,
    pub path: Vec<String>,
    pub is_public: bool,
}

/// A module; an inline module has the file of the module around it.
#[derive(Default)]
pub struct Module {
    pub file: PathBuf,
    pub items: BTreeSet<String>,
    /// The child modules.
    pub children: BTreeSet<String>,
    pub imports: Vec<Import>,
    /// The paths that the items name, outside of `use`.
    pub paths: BTreeSet<Vec<String>>,
}

/// The modules of a crate by their paths; the root has an empty one.
pub type Modules = BTreeMap<Vec<String>, Module>;

/// Reads all modules of the crate with this root file, except those of tests.
pub fn read_crate(root: &Path) -> Modules {
    let mut modules = Modules::new();
    let folder = root.parent().expect("the root file is in a folder");
    read_file(&mut modules, Vec::new(), root, folder);
    modules
}

/// Reads a file; its child modules are below `folder`.
fn read_file(modules: &mut Modules, path: Vec<String>, file: &Path, folder: &Path) {
    let text = fs::read_to_string(file).unwrap_or_else(|why| panic!("{}: {why}", file.display()));
    let parsed = syn::parse_file(&text).unwrap_or_else(|why| panic!("{}: {why}", file.display()));
    read_items(modules, path, parsed.items, (file, folder));
}

fn read_items(modules: &mut Modules, path: Vec<String>, items: Vec<Item>, (file, folder): (&Path, &Path)) {
    let mut module = Module { file: file.to_owned(), ..Module::default() };
    for item in items {
        match item {
            Item::Mod(child) if is_test(&child.attrs) => {}
            Item::Mod(child) => {
                let name = child.ident.to_string();
                module.children.insert(name.clone());
                let path = path.iter().cloned().chain([name]).collect();
                read_child(modules, path, child, (file, folder));
            }
            Item::Use(import) if !is_test(&import.attrs) => add_imports(&mut module.imports, &import),
            other => {
                let (name, attributes) = defined(&other);
                if !is_test(attributes) {
                    module.items.extend(name);
                    names(&other, &mut module.imports, &mut module.paths);
                }
            }
        }
    }
    modules.insert(path, module);
}

fn read_child(modules: &mut Modules, path: Vec<String>, child: ItemMod, (file, folder): (&Path, &Path)) {
    let name = child.ident.to_string();
    let folder_of_child = folder.join(&name);
    if let Some((_, items)) = child.content {
        return read_items(modules, path, items, (file, &folder_of_child));
    }
    let named = child.attrs.iter().find_map(path_attribute).map(|named| file.with_file_name(named));
    let candidates = [folder.join(format!("{name}.rs")), folder_of_child.join("mod.rs")];
    let found = named.into_iter().chain(candidates).find(|path| path.exists());
    let found = found.unwrap_or_else(|| panic!("{}: no file of module {name}", file.display()));
    read_file(modules, path, &found, &folder_of_child);
}

/// Returns the value of `#[path = ".."]`.
fn path_attribute(attribute: &Attribute) -> Option<String> {
    let pair = attribute.meta.require_name_value().ok().filter(|pair| pair.path.is_ident("path"))?;
    match &pair.value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// Whether only tests have an item with these attributes.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let list = attribute.meta.require_list().ok().filter(|list| list.path.is_ident("cfg"));
        list.is_some_and(|list| is_test_condition(&list.tokens.to_string()))
    })
}

/// Whether the argument of `cfg` is true only in tests.
pub fn is_test_condition(condition: &str) -> bool {
    let condition: String = condition.split_whitespace().collect();
    condition == "test" || condition.starts_with("all(test,")
}

/// Returns the name that an item defines, and its attributes.
fn defined(item: &Item) -> (Option<String>, &[Attribute]) {
    let (name, attributes) = match item {
        Item::Const(item) => (Some(&item.ident), &item.attrs),
        Item::Enum(item) => (Some(&item.ident), &item.attrs),
        Item::Fn(item) => (Some(&item.sig.ident), &item.attrs),
        Item::Impl(item) => (None, &item.attrs),
        Item::Macro(item) => (item.ident.as_ref(), &item.attrs),
        Item::Static(item) => (Some(&item.ident), &item.attrs),
        Item::Struct(item) => (Some(&item.ident), &item.attrs),
        Item::Trait(item) => (Some(&item.ident), &item.attrs),
        Item::Type(item) => (Some(&item.ident), &item.attrs),
        Item::Union(item) => (Some(&item.ident), &item.attrs),
        Item::Use(item) => (None, &item.attrs),
        _ => return (None, &[]),
    };
    (name.map(ToString::to_string), attributes)
}

/// Adds the names of a `use`.
pub fn add_imports(imports: &mut Vec<Import>, item: &ItemUse) {
    if item.leading_colon.is_some() {
        return; // another crate
    }
    let is_public = !matches!(item.vis, Visibility::Inherited);
    let mut trees = vec![(Vec::new(), &item.tree)];
    while let Some((mut path, tree)) = trees.pop() {
        let (name, last) = match tree {
            UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                trees.push((path, &inner.tree));
                continue;
            }
            UseTree::Group(group) => {
                trees.extend(group.items.iter().map(|tree| (path.clone(), tree)));
                continue;
            }
            UseTree::Glob(_) => (None, None),
            UseTree::Name(name) => (Some(name.ident.to_string()), Some(name.ident.to_string())),
            UseTree::Rename(renamed) => (Some(renamed.rename.to_string()), Some(renamed.ident.to_string())),
        };
        // `use a::b::{self}` names `a::b`.
        let name = if last.as_deref() == Some("self") && name == last { path.last().cloned() } else { name };
        path.extend(last.filter(|last| last != "self"));
        imports.push(Import { name, path, is_public });
    }
}
