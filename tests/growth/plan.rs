//! Which fields are written in which ways.

use std::collections::HashSet;
use std::fmt;

use crate::fields::{self, Elements, Place};
use crate::write::Method;

/// A field, a way of writing it, and what its elements are like.
#[derive(Clone)]
pub struct Combination {
    pub place: Place,
    pub method: Method,
    pub elements: Elements,
}

impl Combination {
    /// Whether the combination is looked at with more elements too when it costs little.
    pub fn is_plain(&self) -> bool {
        self.method == Method::Create && self.elements == Elements::Distinct
    }
}

impl fmt::Display for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {} {:?}", self.method, self.place, self.elements)
    }
}

/// The fields of one kind.
pub struct Group {
    /// The fields whose type no kind before this one has.
    places: Vec<Place>,
    /// All fields of the kind; never empty.
    every_place: Vec<Place>,
}

/// The kinds that can be created. With `all`, a field counts as new in each kind.
pub fn groups(all: bool) -> Vec<Group> {
    let mut seen = HashSet::new();
    let mut groups = Vec::new();
    for (kind, resource) in fields::kinds() {
        let every_place = fields::places(kind, resource, &mut HashSet::new());
        let places = match all {
            true => every_place.clone(),
            false => fields::places(kind, resource, &mut seen),
        };
        groups.push(Group { places, every_place });
    }
    groups
}

impl Group {
    /// A field of the kind.
    pub fn first(&self) -> &Place {
        &self.every_place[0]
    }

    /// The combinations to try. Without an object to update only create and apply remain.
    pub fn combinations(&self, all: bool, can_update: bool) -> Vec<Combination> {
        let methods: &[Method] = if can_update { &Method::ALL } else { &Method::ALL[..2] };
        let combination = |place: &Place, method, elements| Combination { place: place.clone(), method, elements };
        let mut combinations = Vec::new();
        for place in &self.places {
            for &elements in place.variants() {
                let methods = if all { methods } else { &methods[..1] };
                combinations.extend(methods.iter().map(|&method| combination(place, method, elements)));
            }
        }
        if !all {
            let places = if self.places.is_empty() { &self.every_place } else { &self.places };
            let methods = &methods[1..];
            for turn in 0..places.len().max(methods.len()) {
                let place = &places[turn % places.len()];
                let variants = place.variants();
                let method = methods[turn % methods.len()];
                combinations.push(combination(place, method, variants[turn / methods.len() % variants.len()]));
            }
        }
        combinations
    }
}
