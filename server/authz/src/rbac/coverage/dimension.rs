//! The values of one field of a wanted rule, grouped by the owner's rules that cover them.

use std::collections::{BTreeMap, HashMap};

/// Indices of the owner's rules, ascending.
pub(super) type RuleIndices = Vec<usize>;

/// The values of one field.
#[derive(Debug)]
pub(super) struct Dimension<'w> {
    pub values: Vec<&'w str>,
    pub classes: Vec<Class>,
    /// By rule index: whether the rule covers every possible value.
    unlimited: Vec<bool>,
    /// By rule index: whether the rule covers every wanted value.
    full: Vec<bool>,
    /// By rule index: whether the rule covers any wanted value.
    any: Vec<bool>,
}

/// Values that the same rules cover.
#[derive(Debug)]
pub(super) struct Class {
    /// Indices of the values.
    pub values: Vec<usize>,
    /// The rules that cover the values, without those that cover every possible value.
    rules: RuleIndices,
}

impl Dimension<'_> {
    /// Whether a rule covers every wanted value.
    pub fn is_full(&self, rule: usize) -> bool {
        self.full[rule]
    }

    /// Whether a rule covers any wanted value.
    pub fn is_any(&self, rule: usize) -> bool {
        self.any[rule]
    }

    /// Returns the selected rules that cover a class.
    pub fn select(&self, class: &Class, selected: &[usize]) -> RuleIndices {
        let covers = |rule: &usize| self.unlimited[*rule] || class.rules.binary_search(rule).is_ok();
        selected.iter().copied().filter(covers).collect()
    }
}

/// Finds which rules cover the values of a field.
pub(super) struct DimensionBuilder<'w> {
    pub values: Vec<&'w str>,
    indices: HashMap<&'w str, usize>,
    /// The rules that cover each value.
    covering: Vec<RuleIndices>,
    unlimited: Vec<bool>,
    /// How many values each rule covers.
    counts: Vec<usize>,
}

impl<'w> DimensionBuilder<'w> {
    /// Deduplicates the values; `rules` is the number of the owner's rules.
    pub fn new(values: &'w [String], rules: usize) -> Self {
        let (mut distinct, mut indices) = (Vec::new(), HashMap::new());
        for value in values {
            indices.entry(value.as_str()).or_insert_with(|| {
                distinct.push(value.as_str());
                distinct.len() - 1
            });
        }
        let covering = vec![RuleIndices::new(); distinct.len()];
        DimensionBuilder { values: distinct, indices, covering, unlimited: vec![false; rules], counts: vec![0; rules] }
    }

    /// Records that the rule covers every possible value.
    pub fn cover_all(&mut self, rule: usize) {
        self.unlimited[rule] = true;
    }

    /// Records that the rule covers a value. Rules have to be added in ascending order.
    pub fn cover_value(&mut self, rule: usize, value: &str) {
        if let Some(&index) = self.indices.get(value) {
            self.cover(rule, index);
        }
    }

    /// Records that the rule covers the value at an index. Rules have to be added in ascending order.
    pub fn cover(&mut self, rule: usize, index: usize) {
        if self.covering[index].last() != Some(&rule) {
            self.covering[index].push(rule);
            self.counts[rule] += 1;
        }
    }

    pub fn build(self) -> Dimension<'w> {
        let mut classes: BTreeMap<RuleIndices, Vec<usize>> = BTreeMap::new();
        for (index, rules) in self.covering.into_iter().enumerate() {
            classes.entry(rules).or_default().push(index);
        }
        let of_rules = |covers: &dyn Fn(usize) -> bool| -> Vec<bool> {
            self.counts.iter().zip(&self.unlimited).map(|(count, unlimited)| *unlimited || covers(*count)).collect()
        };
        Dimension {
            full: of_rules(&|count| count == self.values.len()),
            any: of_rules(&|count| count > 0),
            classes: classes.into_iter().map(|(rules, values)| Class { values, rules }).collect(),
            values: self.values,
            unlimited: self.unlimited,
        }
    }
}
