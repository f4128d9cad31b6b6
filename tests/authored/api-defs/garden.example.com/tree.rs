//! Trees, which use the words about resources, columns, selectable fields and strategies.

use crate::meta::{LabelSelector, ObjectMeta};

/// A tree in a garden.
#[kind(
    plural = "trees",
    singular = "woodling",
    short = ("tr", "wd"),
    category = "green",
    scope = Namespaced,
    name = dns1035_label,
    label_error = "{kind} cannot be selected by {label}",
    resets(spec.planted, status)
)]
#[versions(
    v1,
    v1beta1(
        introduced = "1.3",
        deprecated = "1.5",
        removed = "1.90",
        replacement = "garden.example.com/v1 Tree",
        verbs(get, list, update),
        subresources(status)
    ),
    v1alpha1,
    v1alpha2
)]
#[subresource(status)]
#[subresource(scale, kind = autoscaling::v1::Scale, replicas = spec.branches, observed = status.branches, selector = status.selector)]
#[subresource(roots, verbs(get, update), resets(spec.owner), without_tables)]
#[column("Owner", spec.owner or "nobody", "Who waters it.")]
#[column("Branches", integer, spec.branches, format = int32)]
#[column("Birds", integer, len(spec.birds))]
#[column("Names of Birds", join(spec.birds.name) or "none", priority = 1)]
#[column("Tags", labels(spec.tags))]
#[column("Neighbours", selector(spec.neighbours))]
#[column("Size", by_hand = size_of_tree, reads(spec.branches), "What it looks like.")]
#[column("Planted", date, age(spec.planted) or "unknown")]
#[column("Age", age)]
#[selectable(spec.owner, alias = "spec.gardener")]
#[selectable("size", by_hand = size_label, reads(spec.branches))]
#[selectable(spec.fruit, versions(v1))]
#[normalize(by_hand = normalize_tree)]
#[strategy(
    create = create_tree,
    update = update_tree,
    warnings = warn_tree,
    delete = delete_tree,
    holds = holds_tree,
    rows = rows_of_tree,
    order = order_of_trees
)]
pub struct Tree {
    #[field(1)]
    pub metadata: ObjectMeta,

    /// What its owner asks for.
    #[field(2)]
    pub spec: TreeSpec,

    /// What was seen of it last.
    #[field(3)]
    pub status: TreeStatus,
}

/// What the owner of a tree asks for.
#[default(by_hand = default_tree)]
pub struct TreeSpec {
    /// The person who waters it.
    #[field(1)]
    pub owner: String,

    /// How many branches it is to have.
    #[field(2)]
    pub branches: i32,

    /// What lives in it.
    #[field(3, list = map(name), patch = merge)]
    pub birds: Vec<Bird>,

    /// Words about it.
    #[field(4)]
    pub tags: Map<String, String>,

    /// The trees beside it.
    #[field(5)]
    pub neighbours: Option<LabelSelector>,

    /// When it was planted.
    #[field(6)]
    pub planted: Option<Time>,

    /// What grows on it.
    #[field(7)]
    pub fruit: String,

    /// How much light gets through.
    #[field(8)]
    pub shade: Shade,
}

/// How much light gets through a tree.
#[open]
pub enum Shade {
    /// Much.
    Light,
    /// Little.
    #[value("DarkGreen")]
    Dark,
}

/// A bird that lives in a tree.
pub struct Bird {
    /// How the bird is called.
    #[field(1, required)]
    pub name: String,
}

/// What was seen of a tree last.
pub struct TreeStatus {
    /// How many branches it has.
    #[field(1)]
    pub branches: i32,

    /// What selects its leaves.
    #[field(2)]
    pub selector: String,

    /// Whether it may not be felled yet.
    #[field(3)]
    pub protected: bool,
}
