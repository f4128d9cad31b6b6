//! Comparison of two values.

use machinery::def::FieldDef;
use machinery::json::{Node, NodeForm};

use super::items::element_of;
use super::same;
use crate::field_set::{FieldSet, FieldSetBuilder, Filter, PathElement};
use crate::schema::{Atom, AtomKind, List, ListKind, Map, SchemaType};

/// The changes between two values; a field is in at most one of the sets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    pub removed: FieldSet,
    pub modified: FieldSet,
    pub added: FieldSet,
}

impl Comparison {
    fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.modified.is_empty() && self.added.is_empty()
    }

    pub(crate) fn filtered(self, filter: &Filter) -> Self {
        Comparison {
            removed: filter.apply(self.removed),
            modified: filter.apply(self.modified),
            added: filter.apply(self.added),
        }
    }
}

/// Compares two values (`TypedValue.Compare`).
pub fn compare<'v>(of: SchemaType<'_>, old: impl Into<Node<'v>>, new: impl Into<Node<'v>>) -> Comparison {
    let mut walker = Walker::default();
    walker.pair(of, Some(old.into()), Some(new.into()));
    walker.below.build()
}

/// Returns every field below a value that the other side does not have.
fn all_below(of: SchemaType<'_>, value: Node<'_>) -> FieldSet {
    // Most values are strings and numbers, which need no lookup of their type.
    if !matches!(value.form(), NodeForm::Object | NodeForm::List) {
        return FieldSet::new();
    }
    let atom = of.atom();
    match (atom.deduce(value).0, atom.map, atom.list) {
        (Some(AtomKind::Map), Some(map), _) if !map.atomic && value.form() == NodeForm::Object => {
            all_members(&map, value)
        }
        (Some(AtomKind::List), _, Some(list)) if !matches!(list.kind, ListKind::Atomic) => {
            value.items(|items| all_items(&list, items))
        }
        _ => FieldSet::new(),
    }
}

fn all_members(map: &Map<'_>, object: Node<'_>) -> FieldSet {
    let mut set = FieldSetBuilder::default();
    let mut add = |field: &'static FieldDef, value: Node<'_>| {
        set.add(PathElement::declared(field.json), true, all_below(SchemaType::Field(field), value));
    };
    if map.declared().is_some_and(|def| object.each_declared(def, &mut add)) {
        return set.build();
    }
    object.each_member(&mut |name, value| {
        if let Some(of) = map.member(name) {
            set.add(PathElement::field(name), true, all_below(of, value));
        }
    });
    set.build()
}

fn all_items(list: &List<'_>, items: &[Node<'_>]) -> FieldSet {
    let keyed = items.iter().filter_map(|item| Some((element_of(list, *item).ok()?, *item)));
    let mut keyed: Vec<(PathElement, Node<'_>)> = keyed.collect();
    keyed.sort_by(|one, other| one.0.cmp(&other.0));
    let (mut set, mut keyed) = (FieldSetBuilder::default(), keyed.into_iter().peekable());
    while let Some((element, item)) = keyed.next() {
        let mut is_single = true;
        while keyed.next_if(|(next, _)| *next == element).is_some() {
            is_single = false;
        }
        // Several items of one key count as one field, without the fields below.
        let below = if is_single { all_below(list.items, item) } else { FieldSet::new() };
        set.add(element, true, below);
    }
    set.build()
}

type Side<'v> = Option<Node<'v>>;

/// An item of a list, old or new.
struct Item<'n> {
    element: PathElement,
    is_new: bool,
    node: Node<'n>,
}

/// Compares the values at one path.
#[derive(Default)]
struct Walker {
    /// The change of the value itself.
    here: Change,
    /// The changes below it.
    below: Changes,
}

/// A [`Comparison`] under construction.
#[derive(Default)]
struct Changes {
    removed: FieldSetBuilder,
    modified: FieldSetBuilder,
    added: FieldSetBuilder,
}

impl Changes {
    fn build(self) -> Comparison {
        Comparison { removed: self.removed.build(), modified: self.modified.build(), added: self.added.build() }
    }
}

#[derive(Default)]
struct Change {
    removed: bool,
    modified: bool,
    added: bool,
}

impl Change {
    fn is_any(&self) -> bool {
        self.removed || self.modified || self.added
    }
}

fn with_items(side: Side<'_>, f: impl FnOnce(&[Node<'_>])) {
    match side {
        Some(node) => node.items(f),
        None => f(&[]),
    }
}

fn of_form(side: Side<'_>, form: NodeForm) -> Side<'_> {
    side.filter(|node| node.form() == form)
}

impl Walker {
    fn pair(&mut self, of: SchemaType<'_>, old: Side<'_>, new: Side<'_>) {
        match (old, new) {
            (Some(old), Some(new)) => {
                let atom = of.atom();
                let (old_is, new_is) = (atom.deduce(old), atom.deduce(new));
                if old_is != new_is {
                    self.by_kind(old_is.0, &atom, Some(old), Some(new));
                }
                self.by_kind(new_is.0, &atom, Some(old), Some(new));
            }
            (None, Some(new)) => {
                self.here.added = true;
                self.below.added.extend(all_below(of, new));
            }
            (Some(old), None) => {
                self.here.removed = true;
                self.below.removed.extend(all_below(of, old));
            }
            (None, None) => {}
        }
    }

    fn by_kind(&mut self, kind: Option<AtomKind>, atom: &Atom<'_>, old: Side<'_>, new: Side<'_>) {
        let is_walked = match (kind, &atom.map, &atom.list) {
            (Some(AtomKind::Map), Some(map), _) if !map.atomic => {
                self.maps(map, of_form(old, NodeForm::Object), of_form(new, NodeForm::Object))
            }
            (Some(AtomKind::List), _, Some(list)) if !matches!(list.kind, ListKind::Atomic) => {
                self.lists(list, of_form(old, NodeForm::List), of_form(new, NodeForm::List))
            }
            _ => false,
        };
        if !is_walked {
            self.leaf(old, new);
        }
    }

    fn leaf(&mut self, old: Side<'_>, new: Side<'_>) {
        match (old, new) {
            (None, _) => self.here.added = true,
            (_, None) => self.here.removed = true,
            (Some(old), Some(new)) if !same(old, new) => self.here.modified = true,
            _ => {}
        }
    }

    fn below(&mut self, element: impl FnOnce() -> PathElement, of: SchemaType<'_>, old: Side<'_>, new: Side<'_>) {
        let mut walker = Walker::default();
        walker.pair(of, old, new);
        let (here, below) = (walker.here, walker.below.build());
        if !here.is_any() && below.is_empty() {
            return;
        }
        let element = element();
        if here.removed || !below.removed.is_empty() {
            self.below.removed.add(element.clone(), here.removed, below.removed);
        }
        if here.modified || !below.modified.is_empty() {
            self.below.modified.add(element.clone(), here.modified, below.modified);
        }
        self.below.added.add(element, here.added, below.added);
    }

    /// Compares maps; returns whether either of them has members.
    fn maps(&mut self, map: &Map<'_>, old: Side<'_>, new: Side<'_>) -> bool {
        let mut is_walked = false;
        Node::each_pair(old, new, &mut |name, old, new| {
            is_walked = true;
            if let Some(of) = map.member(name) {
                self.below(|| PathElement::field(name), of, old, new);
            }
        });
        is_walked
    }

    /// Compares lists; returns whether either of them has items.
    fn lists(&mut self, list: &List<'_>, old: Side<'_>, new: Side<'_>) -> bool {
        if old.is_some() && old == new {
            return true;
        }
        let mut is_walked = false;
        with_items(old, |old| {
            with_items(new, |new| {
                is_walked = !old.is_empty() || !new.is_empty();
                self.pairs_of_items(list, old, new);
            });
        });
        is_walked
    }

    fn pairs_of_items(&mut self, list: &List<'_>, old: &[Node<'_>], new: &[Node<'_>]) {
        let mut items = Vec::with_capacity(old.len() + new.len());
        for (is_new, nodes) in [(false, old), (true, new)] {
            let keyed = nodes.iter().filter_map(|node| Some((element_of(list, *node).ok()?, *node)));
            items.extend(keyed.map(|(element, node)| Item { element, is_new, node }));
        }
        // Items of one key: the old ones first, each side in its order.
        items.sort_by(|one, other| one.element.cmp(&other.element));
        for of_key in items.chunk_by(|one, other| one.element == other.element) {
            let (old, new) = of_key.split_at(of_key.partition_point(|item| !item.is_new));
            self.items(list, &of_key[0].element, old, new);
        }
    }

    /// Compares the items of one key. Several of them count as one field, without the fields below.
    fn items(&mut self, list: &List<'_>, element: &PathElement, old: &[Item<'_>], new: &[Item<'_>]) {
        let (one_old, one_new) = (old.first().map(|item| item.node), new.first().map(|item| item.node));
        match (old, new) {
            ([] | [_], [] | [_]) => {
                self.below(|| element.clone(), list.items, one_old, one_new);
            }
            ([_, _, ..], [_, _, ..]) => {
                let equal = old.len() == new.len() && old.iter().zip(new).all(|(old, new)| same(old.node, new.node));
                self.below.modified.add(element.clone(), !equal, FieldSet::new());
            }
            (_, [] | [_]) => {
                if one_new.is_some() {
                    self.below(|| element.clone(), list.items, None, one_new);
                }
                self.below.removed.add(element.clone(), true, FieldSet::new());
            }
            _ => {
                if one_old.is_some() {
                    self.below(|| element.clone(), list.items, one_old, None);
                }
                self.below.added.add(element.clone(), true, FieldSet::new());
            }
        }
    }
}
