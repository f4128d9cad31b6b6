//! Inference of unknown types.

use std::cell::Cell;
use std::sync::Arc;

use crate::limits::MAX_TYPE_STEPS;
use crate::signature::Overload;
use crate::types::{ElementType, Merge, Type};

/// Parameters from this number on are unknown types of the expression; those below belong to
/// declarations.
const FIRST: usize = 16;

/// The inferred types.
#[derive(Default)]
pub(crate) struct Inference {
    known: Vec<Option<Type>>,
    /// Indexes of inferred types, in the order of inference.
    learned: Vec<usize>,
    steps: Cell<usize>,
}

impl Inference {
    /// A new unknown type.
    pub(crate) fn fresh(&mut self) -> Type {
        self.known.push(None);
        Type::Param(FIRST + self.known.len() - 1)
    }

    /// Whether types were too large to compare. From then on they count as equal, and as `dyn`.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.steps.get() > MAX_TYPE_STEPS
    }

    fn step(&self) {
        self.steps.set(self.steps.get() + 1);
    }

    fn known(&self, param: usize) -> Option<&Type> {
        self.known.get(param.checked_sub(FIRST)?)?.as_ref()
    }

    /// The result of an overload for these arguments; `None` if it does not accept them.
    pub(crate) fn apply(&mut self, overload: &Overload, args: &[Type]) -> Option<Type> {
        let (count, learned) = (self.known.len(), self.learned.len());
        let params = [self.fresh(), self.fresh()];
        let taken = overload.args.iter().zip(args).all(|(param, arg)| self.assign(&renamed(param, &params), arg));
        if !taken {
            for place in self.learned.drain(learned..) {
                self.known[place] = None;
            }
            self.known.truncate(count);
            return None;
        }
        Some(self.resolve(&renamed(&overload.result, &params)))
    }

    /// Whether a value of the second type can be used where the first is expected; infers unknown types
    /// from that.
    pub(crate) fn assign(&mut self, expected: &Type, found: &Type) -> bool {
        self.step();
        if self.is_exhausted() {
            return true;
        }
        let (expected, found) = (self.shallow(expected), self.shallow(found));
        match (&expected, &found) {
            (Type::Param(a), Type::Param(b)) if a == b => true,
            // The later type refers to the earlier one, so that chains stay short.
            (Type::Param(a), Type::Param(b)) => self.learn(*a.max(b), &Type::Param(*a.min(b))),
            (Type::Param(param), other) | (other, Type::Param(param)) => self.learn(*param, other),
            (Type::Dyn, _) | (_, Type::Dyn) => true,
            (Type::Null, other) | (other, Type::Null) => {
                matches!(
                    other,
                    Type::Null
                        | Type::Object(_)
                        | Type::Opaque(_)
                        | Type::Optional(_)
                        | Type::Timestamp
                        | Type::Duration
                )
            }
            (Type::List(a), Type::List(b)) => self.assign(&a.item, &b.item),
            (Type::Map(a), Type::Map(b)) => self.assign(&a.0, &b.0) && self.assign(&a.1, &b.1),
            (Type::Optional(a), Type::Optional(b)) => self.assign(a, b),
            (Type::Kind(_), Type::Kind(_)) => true,
            (a, b) => a == b,
        }
    }

    /// Records the type of an unknown type. A type that is `dyn` stays `dyn`.
    fn learn(&mut self, param: usize, of: &Type) -> bool {
        if occurs(param, &self.resolve(of)) {
            return false;
        }
        if let Some(place) = param.checked_sub(FIRST).and_then(|at| self.known.get_mut(at)) {
            *place = Some(of.clone());
            self.learned.push(param - FIRST);
        }
        true
    }

    fn shallow(&self, of: &Type) -> Type {
        let mut at = of;
        while let Type::Param(param) = at
            && let Some(known) = self.known(*param)
        {
            self.step();
            at = known;
        }
        at.clone()
    }

    /// A type with all inferred types filled in.
    pub(crate) fn resolve(&self, of: &Type) -> Type {
        self.step();
        if self.is_exhausted() {
            return Type::Dyn;
        }
        match self.shallow(of) {
            Type::List(list) => list_of(self.resolve(&list.item), list.merge.clone()),
            Type::Map(map) => Type::map(self.resolve(&map.0), self.resolve(&map.1)),
            Type::Optional(inner) => Type::optional(self.resolve(&inner)),
            Type::Kind(inner) => Type::Kind(Arc::new(self.resolve(&inner))),
            Type::Param(_) => Type::Dyn,
            other => other,
        }
    }
}

fn occurs(param: usize, of: &Type) -> bool {
    match of {
        Type::Param(other) => *other == param,
        Type::List(list) => occurs(param, &list.item),
        Type::Map(map) => occurs(param, &map.0) || occurs(param, &map.1),
        Type::Optional(inner) | Type::Kind(inner) => occurs(param, inner),
        _ => false,
    }
}

/// A type of a declaration with the parameters of one call.
fn renamed(of: &Type, params: &[Type; 2]) -> Type {
    match of {
        Type::Param(at) => params.get(*at).cloned().unwrap_or(Type::Dyn),
        Type::List(list) => Type::list(renamed(&list.item, params)),
        Type::Map(map) => Type::map(renamed(&map.0, params), renamed(&map.1, params)),
        Type::Optional(inner) => Type::optional(renamed(inner, params)),
        Type::Kind(inner) => Type::Kind(Arc::new(renamed(inner, params))),
        other => other.clone(),
    }
}

/// A list type with merge semantics.
pub(crate) fn list_of(item: Type, merge: Merge) -> Type {
    Type::List(Arc::new(ElementType { item, merge }))
}
