//! Unions.

use crate::meta::ObjectMeta;

/// Unions.
#[kind(plural = "choices", scope = Cluster)]
#[versions(v1)]
pub struct Choice {
    /// Standard object metadata.
    #[field(1)]
    pub metadata: ObjectMeta,

    /// Desired state.
    #[field(2)]
    pub spec: Option<ChoiceSpec>,
}

/// Unions.
pub struct ChoiceSpec {
    /// Where it comes from.
    #[field(1)]
    pub source: Option<ChoiceSource>,

    /// One of several.
    #[field(2)]
    pub target: Option<ChoiceTarget>,

    /// One of several, or none.
    #[field(3)]
    pub probe: Option<ChoiceProbe>,

    /// Sources by name.
    #[field(4, list = map(name))]
    pub others: Vec<ChoiceOther>,
}

/// Where something comes from.
#[union(discriminator = type, members(Git = git, Image = image), without(Empty))]
pub struct ChoiceSource {
    /// Which member is set.
    #[field(1, required)]
    pub r#type: ChoiceType,

    /// A repository.
    #[field(2)]
    pub git: Option<ChoiceGit>,

    /// An image.
    #[field(3)]
    pub image: Option<ChoiceImage>,
}

/// Type of a source.
pub enum ChoiceType {
    Git,
    Image,
    Empty,
}

/// A repository.
pub struct ChoiceGit {
    /// Where it is.
    #[field(1, required, min_length = 3)]
    pub url: String,
}

/// An image.
pub struct ChoiceImage {
    /// Name of the entry.
    #[field(1)]
    pub name: String,
}

/// One of several.
#[union(members(file, host, import))]
pub struct ChoiceTarget {
    /// A file.
    #[field(1, max_length = 4)]
    pub file: Option<String>,

    /// A host.
    #[field(2)]
    pub host: Option<ChoiceImage>,

    /// Something else. Its name is a reserved word of CEL.
    #[field(3, list = atomic)]
    pub import: Vec<String>,
}

/// One of several, or none.
#[union(members(exec, tcpPort), zero_allowed)]
pub struct ChoiceProbe {
    /// A command.
    #[field(1, list = atomic)]
    pub exec: Vec<String>,

    /// A port.
    #[field(2, min = 1, max = 65535)]
    pub tcp_port: Option<i32>,
}

/// A source by name.
#[union(discriminator = type, members(Git = git, Image = image), without(Empty))]
pub struct ChoiceOther {
    /// Name of the entry.
    #[field(1, required)]
    pub name: String,

    /// Which member is set.
    #[field(2, default = Empty)]
    pub r#type: ChoiceType,

    /// A repository.
    #[field(3)]
    pub git: Option<ChoiceGit>,

    /// An image.
    #[field(4)]
    pub image: Option<ChoiceImage>,
}
