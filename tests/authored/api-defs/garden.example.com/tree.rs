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
#[column("Owner", spec.owner or "none", "Owner of the tree.")]
#[column("Branches", integer, spec.branches, format = int32)]
#[column("Birds", integer, len(spec.birds))]
#[column("Names of Birds", join(spec.birds.name) or "none", priority = 1)]
#[column("Tags", labels(spec.tags))]
#[column("Neighbours", selector(spec.neighbours))]
#[column("Size", by_hand = size_of_tree, reads(spec.branches), "Size of the tree.")]
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

    /// Desired state of the tree.
    #[field(2)]
    pub spec: TreeSpec,

    /// Observed state of the tree.
    #[field(3)]
    pub status: TreeStatus,
}

/// Desired state of a tree.
#[default(by_hand = default_tree)]
pub struct TreeSpec {
    /// Owner of the tree.
    #[field(1)]
    pub owner: String,

    /// Desired number of branches.
    #[field(2)]
    pub branches: i32,

    /// Birds in the tree.
    #[field(3, list = map(name), patch = merge)]
    pub birds: Vec<Bird>,

    /// Tags of the tree.
    #[field(4)]
    pub tags: Map<String, String>,

    /// Selector of neighbouring trees.
    #[field(5)]
    pub neighbours: Option<LabelSelector>,

    /// Planting time of the tree.
    #[field(6)]
    pub planted: Option<Time>,

    /// Kind of fruit of the tree.
    #[field(7)]
    pub fruit: String,

    /// Density of the shade.
    #[field(8)]
    pub shade: Shade,
}

/// Density of the shade of a tree.
#[open]
pub enum Shade {
    /// Light shade.
    Light,
    /// Dark shade.
    #[value("DarkGreen")]
    Dark,
}

/// A bird that lives in a tree.
pub struct Bird {
    /// Name of the bird.
    #[field(1, required)]
    pub name: String,
}

/// Observed state of a tree.
pub struct TreeStatus {
    /// Current number of branches.
    #[field(1)]
    pub branches: i32,

    /// Label selector of the leaves.
    #[field(2)]
    pub selector: String,

    /// Whether the tree is protected from deletion.
    #[field(3)]
    pub protected: bool,
}
