//! Which fields are written in which ways.

use std::collections::HashSet;
use std::sync::Arc;

use crate::custom;
use crate::fields::{self, Elements, Merge, Place, Seen};
use crate::target::{self, Method, Target};

/// A field with one kind of elements, and the ways in which it is written.
pub struct Trial {
    pub place: Place,
    pub elements: Elements,
    pub methods: Vec<Method>,
}

/// Trials of one target.
pub struct Group {
    pub target: Arc<Target>,
    pub trials: Vec<Trial>,
}

/// How many trials a group has at most; a server at a time works on a group.
const GROUP: usize = 12;

/// The trials of all kinds. Every field of every kind is created, or updated where there is no POST. Fields of one
/// declared type meet all other methods in the first kind that has the type, and one of them, in turn, in the others;
/// with `all` they meet all methods in every kind.
pub fn groups(all: bool) -> (Vec<Group>, usize) {
    let mut seen = Seen::new();
    let mut groups = Vec::new();
    let mut fields = HashSet::new();
    for target in target::targets() {
        let target = Arc::new(target);
        let Some(def) = target.def() else { continue };
        let mut trials = Vec::new();
        let places = fields::places(&target, def).into_iter().filter(|(place, _)| target.takes(&place.steps));
        for (turn, (place, key)) in places.enumerate() {
            fields.insert(place.to_string());
            let is_new = !target.ignores(&place.steps) && (seen.insert(key) || all);
            trials.extend(of_place(&place, is_new, turn));
        }
        groups.extend(in_groups(&target, trials));
    }
    let target = Arc::new(custom::target());
    let places = custom::places(&target);
    fields.extend(places.iter().map(Place::to_string));
    groups.extend(in_groups(
        &target,
        places.iter().enumerate().flat_map(|(turn, place)| of_place(place, true, turn)).collect(),
    ));
    (groups, fields.len())
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

fn of_place(place: &Place, is_new: bool, turn: usize) -> Vec<Trial> {
    let methods: Vec<Method> = place.target.methods.iter().copied().filter(|method| fits(place, *method)).collect();
    let (first, rest) = methods.split_at(1);
    let trial = |elements, methods: &[Method]| Trial { place: place.clone(), elements, methods: methods.to_vec() };
    if !is_new {
        let more = rest.get(turn % rest.len().max(1)).filter(|_| !place.target.ignores(&place.steps));
        return vec![trial(Elements::Distinct, &[first, more.map_or(&[][..], std::slice::from_ref)].concat())];
    }
    let mut distinct = methods.clone();
    // Encodings differ by the shape of a field, and not by its name.
    if turn < 4 && first == [Method::Create] {
        let has_protobuf = place.target.kind.is_some();
        distinct.extend([Method::CreateYaml, Method::CreateCbor]);
        distinct.extend(has_protobuf.then_some(Method::CreateProtobuf));
    }
    if first == [Method::Create] && !rest.is_empty() {
        distinct.push(Method::Table);
    }
    place
        .variants()
        .iter()
        .map(|&elements| match elements {
            Elements::Distinct => trial(elements, &distinct),
            Elements::Equal => trial(elements, &methods),
        })
        .collect()
}

fn fits(place: &Place, method: Method) -> bool {
    match method {
        Method::OrderedPatch | Method::DeletingPatch => place.merge != Merge::No,
        Method::StrategicPatch => place.target.kind.is_some(),
        _ => true,
    }
}
