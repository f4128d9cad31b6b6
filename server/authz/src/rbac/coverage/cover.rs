//! The search for parts of rules that no rule of the owner covers.

use std::collections::HashMap;

use machinery::budget::Meter;

use super::dimension::{Class, Dimension, DimensionBuilder};
use super::incomparable::Incomparable;
use crate::policy_rule::PolicyRule;

/// The maximum number of steps of a comparison; a step checks one rule against one value or one class.
const MAX_STEPS: usize = 10_000_000;

/// The maximum memory of a comparison, in bytes.
const MAX_MEMORY: u64 = (MAX_STEPS * BYTES_PER_STEP) as u64;

/// The maximum size of the listed missing parts, in bytes.
const MAX_LISTED: usize = 1 << 20;

/// The maximum allocation of a step, in bytes: a rule index in the list of a value.
const BYTES_PER_STEP: usize = 8;

/// The size of a listed part without its texts, in bytes.
const PART_OVERHEAD: usize = 256;

pub(super) struct Search<'o> {
    owner: &'o [&'o PolicyRule],
    /// The remaining steps.
    steps: usize,
    missing: Vec<PolicyRule>,
    /// The remaining size of the list of missing parts, in bytes.
    bytes_left: usize,
    /// Charges the memory budget of the request.
    memory: Meter,
}

/// Indices of values, one for each dimension.
type Indices = Vec<usize>;

impl<'o> Search<'o> {
    pub fn new(owner: &'o [&'o PolicyRule]) -> Self {
        Search {
            owner,
            steps: MAX_STEPS,
            missing: Vec::new(),
            bytes_left: MAX_LISTED,
            memory: Meter::of_bytes(MAX_MEMORY),
        }
    }

    /// Returns the missing parts, in the order of the wanted rules.
    pub fn into_missing(self) -> Vec<PolicyRule> {
        self.missing
    }

    /// Finds the parts of a wanted rule that no rule covers.
    pub fn rule(&mut self, wanted: &PolicyRule) -> Result<(), Incomparable> {
        if !wanted.verbs.is_empty() && !wanted.api_groups.is_empty() && !wanted.resources.is_empty() {
            self.resources(wanted)?;
        }
        if !wanted.verbs.is_empty() && !wanted.non_resource_urls.is_empty() {
            self.urls(wanted)?;
        }
        Ok(())
    }

    fn resources(&mut self, wanted: &PolicyRule) -> Result<(), Incomparable> {
        let any_name = [String::new()];
        let names = if wanted.resource_names.is_empty() { &any_name } else { wanted.resource_names.as_slice() };
        let dimensions = [
            self.values(&wanted.api_groups, |rule| &rule.api_groups)?,
            self.resource_names_of_types(&wanted.resources)?,
            self.values(&wanted.verbs, |rule| &rule.verbs)?,
            self.object_names(names, !wanted.resource_names.is_empty())?,
        ];
        let one =
            |dimension: usize, indices: &Indices| vec![dimensions[dimension].values[indices[dimension]].to_owned()];
        let found = self.search(&dimensions)?;
        let texts = [&*wanted.api_groups, &*wanted.resources, &*wanted.verbs, names];
        for indices in self.repeated(found, &dimensions, &texts) {
            self.missing.push(PolicyRule {
                api_groups: one(0, &indices),
                resources: one(1, &indices),
                verbs: one(2, &indices),
                resource_names: if wanted.resource_names.is_empty() { Vec::new() } else { one(3, &indices) },
                non_resource_urls: Vec::new(),
            });
        }
        Ok(())
    }

    fn urls(&mut self, wanted: &PolicyRule) -> Result<(), Incomparable> {
        let dimensions =
            [self.url_dimension(&wanted.non_resource_urls)?, self.values(&wanted.verbs, |rule| &rule.verbs)?];
        let one =
            |dimension: usize, indices: &Indices| vec![dimensions[dimension].values[indices[dimension]].to_owned()];
        for indices in self.search(&dimensions)? {
            let (non_resource_urls, verbs) = (one(0, &indices), one(1, &indices));
            self.missing.push(PolicyRule { verbs, non_resource_urls, ..PolicyRule::default() });
        }
        Ok(())
    }

    /// The dimension of verbs or groups, where `*` stands for all.
    fn values<'w>(
        &mut self,
        wanted: &'w [String],
        of: fn(&PolicyRule) -> &[String],
    ) -> Result<Dimension<'w>, Incomparable> {
        let mut builder = DimensionBuilder::new(wanted, self.owner.len());
        for (index, rule) in self.owner.iter().enumerate() {
            let own = of(rule);
            self.spend(own.len())?;
            if own.iter().any(|value| value == "*") {
                builder.cover_all(index);
            } else {
                own.iter().for_each(|value| builder.cover_value(index, value));
            }
        }
        Ok(builder.build())
    }

    /// The dimension of resources, where `*/scale` stands for this subresource of all resources.
    fn resource_names_of_types<'w>(&mut self, wanted: &'w [String]) -> Result<Dimension<'w>, Incomparable> {
        let mut builder = DimensionBuilder::new(wanted, self.owner.len());
        let mut by_subresource: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, resource) in builder.values.iter().enumerate() {
            if let Some((_, subresource)) = resource.split_once('/') {
                by_subresource.entry(subresource).or_default().push(index);
            }
        }
        for (index, rule) in self.owner.iter().enumerate() {
            self.spend(rule.resources.len())?;
            if rule.resources.iter().any(|resource| resource == "*") {
                builder.cover_all(index);
                continue;
            }
            for resource in &rule.resources {
                builder.cover_value(index, resource);
                let of_any = resource.strip_prefix("*/").and_then(|subresource| by_subresource.get(subresource));
                for &value in of_any.into_iter().flatten() {
                    self.spend(1)?;
                    builder.cover(index, value);
                }
            }
        }
        Ok(builder.build())
    }

    /// The dimension of object names. A rule without names covers all names.
    ///
    /// Unless `are_named`, all objects are wanted, and only a rule without names covers them.
    fn object_names<'w>(&mut self, wanted: &'w [String], are_named: bool) -> Result<Dimension<'w>, Incomparable> {
        let mut builder = DimensionBuilder::new(wanted, self.owner.len());
        for (index, rule) in self.owner.iter().enumerate() {
            self.spend(rule.resource_names.len())?;
            if rule.resource_names.is_empty() {
                builder.cover_all(index);
            } else if are_named {
                rule.resource_names.iter().for_each(|name| builder.cover_value(index, name));
            }
        }
        Ok(builder.build())
    }

    /// The dimension of non-resource URLs, where a trailing `*` matches any suffix.
    fn url_dimension<'w>(&mut self, wanted: &'w [String]) -> Result<Dimension<'w>, Incomparable> {
        let mut builder = DimensionBuilder::new(wanted, self.owner.len());
        let mut sorted: Vec<(&str, usize)> = builder.values.iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        for (index, rule) in self.owner.iter().enumerate().filter(|(_, rule)| rule.resource_names.is_empty()) {
            for url in &rule.non_resource_urls {
                self.spend(1)?;
                let Some(prefix) = url.strip_suffix('*').map(|prefix| prefix.trim_end_matches('*')) else {
                    builder.cover_value(index, url);
                    continue;
                };
                if prefix.is_empty() {
                    builder.cover_all(index);
                    continue;
                }
                let first = sorted.partition_point(|(url, _)| *url < prefix);
                for &(_, value) in sorted[first..].iter().take_while(|(url, _)| url.starts_with(prefix)) {
                    self.spend(1)?;
                    builder.cover(index, value);
                }
            }
        }
        Ok(builder.build())
    }

    fn spend(&mut self, steps: usize) -> Result<(), Incomparable> {
        self.steps = self.steps.checked_sub(steps).ok_or(Incomparable::TooComplex)?;
        self.memory.charge(steps * BYTES_PER_STEP)?;
        Ok(())
    }

    /// Returns the combinations of values that no rule covers, in the order of the values.
    fn search(&mut self, dimensions: &[Dimension<'_>]) -> Result<Vec<Indices>, Incomparable> {
        self.spend(self.owner.len())?;
        let relevant = |rule: &usize| dimensions.iter().all(|dimension| dimension.is_any(*rule));
        let selected: Vec<usize> = (0..self.owner.len()).filter(relevant).collect();
        let mut found = Vec::new();
        self.descend(dimensions, &mut Vec::new(), &selected, &mut found)?;
        found.sort_unstable();
        Ok(found)
    }

    /// Descends into the classes of the next dimension, with the rules that cover the classes chosen so far.
    fn descend<'d>(
        &mut self,
        dimensions: &'d [Dimension<'_>],
        chosen: &mut Vec<&'d Class>,
        selected: &[usize],
        found: &mut Vec<Indices>,
    ) -> Result<(), Incomparable> {
        let rest = &dimensions[chosen.len()..];
        self.spend(1 + selected.len() * rest.len())?;
        if selected.iter().any(|rule| rest.iter().all(|dimension| dimension.is_full(*rule))) {
            return Ok(());
        }
        if selected.is_empty() {
            self.list(dimensions, chosen, &mut Vec::new(), found);
            return Ok(());
        }
        let Some(next) = rest.first() else { return Ok(()) };
        for class in &next.classes {
            self.spend(selected.len())?;
            chosen.push(class);
            self.descend(dimensions, chosen, &next.select(class, selected), found)?;
            chosen.pop();
        }
        Ok(())
    }

    /// Lists the combinations of the values of the chosen classes, and of all values of other dimensions.
    fn list(
        &mut self,
        dimensions: &[Dimension<'_>],
        chosen: &[&Class],
        indices: &mut Indices,
        found: &mut Vec<Indices>,
    ) {
        let Some(dimension) = dimensions.get(indices.len()) else {
            let size = size_of_part(dimensions, indices);
            // The first part is always listed, because an empty list means that everything is covered.
            let is_first = self.missing.is_empty() && found.is_empty();
            self.bytes_left = self.bytes_left.saturating_sub(size);
            if self.bytes_left > 0 || is_first {
                found.push(indices.clone());
            }
            return;
        };
        let all: Vec<usize> = match chosen.get(indices.len()) {
            Some(class) => class.values.clone(),
            None => (0..dimension.values.len()).collect(),
        };
        for value in all {
            indices.push(value);
            self.list(dimensions, chosen, indices, found);
            indices.pop();
            if self.bytes_left == 0 {
                return;
            }
        }
    }

    /// Repeats each part as often as the wanted rule repeats its values, up to the size limit, in the order of
    /// upstream's `BreakdownRule`.
    fn repeated(&mut self, found: Vec<Indices>, dimensions: &[Dimension<'_>], wanted: &[&[String]]) -> Vec<Indices> {
        if dimensions.iter().zip(wanted).all(|(dimension, texts)| dimension.values.len() == texts.len()) {
            return found;
        }
        let positions: Vec<_> = dimensions.iter().zip(wanted).map(|(one, texts)| positions(one, texts)).collect();
        let mut all: Vec<(Indices, Indices)> = Vec::new();
        for indices in found {
            let size = size_of_part(dimensions, &indices);
            // The size of the part itself is already accounted for.
            let most = 1 + self.bytes_left / size;
            let mut taken = vec![Indices::new()];
            for (value, positions) in indices.iter().zip(&positions) {
                let longer = |taken: Indices| positions[*value].iter().map(move |at| [&*taken, &[*at]].concat());
                taken = taken.into_iter().flat_map(longer).take(most).collect();
            }
            self.bytes_left = self.bytes_left.saturating_sub((taken.len() - 1) * size);
            all.extend(taken.into_iter().map(|taken| (taken, indices.clone())));
        }
        all.sort_unstable();
        all.into_iter().map(|(_, indices)| indices).collect()
    }
}

/// Returns the size of a listed part, in bytes.
fn size_of_part(dimensions: &[Dimension<'_>], indices: &[usize]) -> usize {
    PART_OVERHEAD
        + dimensions.iter().zip(indices).map(|(dimension, value)| dimension.values[*value].len()).sum::<usize>()
}

/// Returns the positions of each value of a field in the wanted rule.
fn positions(dimension: &Dimension<'_>, wanted: &[String]) -> Vec<Vec<usize>> {
    let mut by_text: HashMap<&str, Vec<usize>> = HashMap::new();
    wanted.iter().enumerate().for_each(|(at, text)| by_text.entry(text).or_default().push(at));
    dimension.values.iter().map(|value| by_text.remove(value).unwrap_or_default()).collect()
}
