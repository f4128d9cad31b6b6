//! Assigns the methods of writing to fields.

use std::collections::HashSet;
use std::sync::Arc;

use crate::custom;
use crate::fields::{self, Elements, Merge, Place, Seen};
use crate::target::{self, Method, Target};

/// A field with one kind of elements, and the methods that write it.
pub struct Trial {
    pub place: Place,
    pub elements: Elements,
    pub methods: Vec<Method>,
    /// Whether no earlier kind has the field.
    pub is_new: bool,
}

impl Trial {
    /// Returns some of the methods, preceded by the first method of the trial.
    pub fn with_first(&self, methods: &[Method]) -> Vec<Method> {
        let first = self.methods[0];
        let others = methods.iter().copied().filter(|method| *method != first);
        std::iter::once(first).chain(others).collect()
    }
}

/// Trials of one target.
pub struct Group {
    pub target: Arc<Target>,
    pub trials: Vec<Trial>,
}

/// Maximum number of trials in a group; one server at a time works on a group.
const GROUP: usize = 12;

/// Returns the trials of all kinds.
///
/// Every field of every kind is created, or updated where there is no POST. The first kind with a
/// declared type tries the other methods on each field of the type. Further kinds with the type try
/// one of these methods, in turn. With `all`, every kind tries all methods.
pub fn groups(all: bool) -> (Vec<Group>, usize) {
    let mut seen = Seen::new();
    let mut groups = Vec::new();
    let mut fields = HashSet::new();
    for (number, target) in target::targets().into_iter().enumerate() {
        let target = Arc::new(target);
        let Some(def) = target.def() else { continue };
        let mut trials = Vec::new();
        let places = fields::places(&target, def).into_iter().filter(|(place, _)| target.takes(&place.steps));
        for (index, (place, key)) in places.enumerate() {
            fields.insert(place.to_string());
            let is_new = !target.ignores(&place.steps) && seen.insert(key);
            let choice = Choice { is_new, all, index, turn: number + index };
            trials.extend(of_place(&place, choice));
        }
        groups.extend(in_groups(&target, trials));
    }
    let target = Arc::new(custom::target());
    let places = custom::places(&target);
    fields.extend(places.iter().map(Place::to_string));
    let choice = |index| Choice { is_new: true, all: true, index, turn: index };
    let trials = places.iter().enumerate().flat_map(|(index, place)| of_place(place, choice(index)));
    groups.extend(in_groups(&target, trials.collect()));
    (groups, fields.len())
}

/// The inputs for the methods of a field.
#[derive(Clone, Copy)]
struct Choice {
    /// Whether no earlier kind has the type and field.
    is_new: bool,
    /// Whether all methods are used.
    all: bool,
    /// The index of the field in its target.
    index: usize,
    /// The number by which fields take turns.
    turn: usize,
}

fn in_groups(target: &Arc<Target>, trials: Vec<Trial>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for trial in trials {
        match groups.last_mut().filter(|group| group.trials.len() < GROUP) {
            Some(group) => group.trials.push(trial),
            None => groups.push(Group { target: Arc::clone(target), trials: vec![trial] }),
        }
    }
    groups
}

fn of_place(place: &Place, choice: Choice) -> Vec<Trial> {
    let Choice { all, index, turn, .. } = choice;
    let is_new = choice.is_new || all;
    // These patches change a tree independently of the kind: one of them is enough.
    let alike = [Method::JsonPatch, Method::JsonPatchEach, Method::MergePatch];
    let is_left_out = |method| alike.contains(&method) && method != alike[turn % alike.len()];
    let is_used = |method: &Method| fits(place, *method) && (all || !is_left_out(*method));
    let methods: Vec<Method> = place.target.methods.iter().copied().filter(is_used).collect();
    let (first, rest) = methods.split_at(1);
    let trial = |elements, methods: Vec<Method>| Trial { place: place.clone(), elements, methods, is_new };
    if !is_new {
        let more = rest.get(turn % rest.len().max(1)).filter(|_| !place.target.ignores(&place.steps));
        return vec![trial(Elements::Distinct, [first, more.map_or(&[][..], std::slice::from_ref)].concat())];
    }
    let mut distinct = methods.clone();
    // Encodings depend on the shape of a field, not on its name.
    if index < 4 && first == [Method::Create] {
        let has_protobuf = place.target.kind.is_some();
        distinct.extend([Method::CreateYaml, Method::CreateCbor]);
        distinct.extend(has_protobuf.then_some(Method::CreateProtobuf));
    }
    if first == [Method::Create] && !rest.is_empty() {
        distinct.push(Method::Table);
    }
    let equal = methods.iter().copied().filter(|method| all || first.contains(method) || compares(place, *method));
    place
        .variants()
        .iter()
        .map(|&elements| match elements {
            Elements::Distinct => trial(elements, distinct.clone()),
            Elements::Equal => trial(elements, equal.clone().collect()),
        })
        .collect()
}

/// Reports whether a method compares list elements with one another, so that equal elements are a
/// separate case. Other methods replace the list.
fn compares(place: &Place, method: Method) -> bool {
    match method {
        Method::StrategicPatch | Method::OrderedPatch | Method::DeletingPatch => place.merge != Merge::No,
        Method::Update | Method::Apply => true,
        _ => false,
    }
}

fn fits(place: &Place, method: Method) -> bool {
    match method {
        Method::OrderedPatch | Method::DeletingPatch => place.merge != Merge::No,
        Method::StrategicPatch => place.target.kind.is_some(),
        _ => true,
    }
}
