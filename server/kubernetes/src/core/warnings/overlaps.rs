//! Warnings about overlapping paths of a volume's files (`warningsForOverlappingVirtualPaths`).

use std::fmt;

use machinery::scalar::go_text::quote;

use super::pairs::Pairs;
use generated::core::v1::{DownwardAPIVolumeFile, KeyToPath, Volume, VolumeProjection};

/// A file, with its source in projected volumes.
struct File<'f> {
    path: &'f str,
    source: String,
}

impl fmt::Display for File<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.source.as_str() {
            "" => f.write_str(&quote(self.path)),
            source => write!(f, "{} ({source})", quote(self.path)),
        }
    }
}

impl<'f> File<'f> {
    fn new(path: &'f str, source: impl Into<String>) -> Self {
        File { path: path.trim_end_matches('/'), source: source.into() }
    }
}

/// The files of a volume sorted by path, a directory directly before everything below it.
struct Tree<'f> {
    /// Nodes with distinct paths.
    nodes: Vec<Node<'f>>,
    /// The node of each file; `None` for files without a path.
    node_of: Vec<Option<usize>>,
}

struct Node<'f> {
    path: &'f str,
    /// Indexes of the files with this path, in ascending order.
    files: Vec<usize>,
    /// The node of the closest parent path.
    above: Option<usize>,
    /// The first node after this one that is not below it.
    end: usize,
}

impl<'f> Tree<'f> {
    /// Sorts the paths; the cost is n log n in their bytes.
    fn of(files: &[File<'f>]) -> Self {
        let mut order: Vec<usize> = (0..files.len()).filter(|&index| !files[index].path.is_empty()).collect();
        let compare = |a: &usize, b: &usize| in_order(files[*a].path).cmp(in_order(files[*b].path));
        order.sort_by(compare);
        let mut tree = Tree { nodes: Vec::new(), node_of: vec![None; files.len()] };
        let mut open: Vec<usize> = Vec::new();
        for index in order {
            let path = files[index].path;
            if tree.nodes.last().is_none_or(|last| last.path != path) {
                tree.add(path, &mut open);
            }
            let node = tree.nodes.len() - 1;
            tree.nodes[node].files.push(index);
            tree.node_of[index] = Some(node);
        }
        tree.close(&mut open, |_| false);
        tree
    }

    fn add(&mut self, path: &'f str, open: &mut Vec<usize>) {
        self.close(open, |above| path.strip_prefix(above).is_some_and(|rest| rest.starts_with('/')));
        open.push(self.nodes.len());
        let above = open.len().checked_sub(2).map(|at| open[at]);
        self.nodes.push(Node { path, files: Vec::new(), above, end: 0 });
    }

    /// Closes nodes that are not parents of the next path.
    fn close(&mut self, open: &mut Vec<usize>, is_above: impl Fn(&str) -> bool) {
        while let Some(node) = open.pop_if(|node| !is_above(self.nodes[*node].path)) {
            self.nodes[node].end = self.nodes.len();
        }
    }

    /// Earlier files with the same path, a parent path or a child path.
    fn overlapping_before(&self, index: usize) -> Vec<usize> {
        let Some(node) = self.node_of[index] else { return Vec::new() };
        let above = std::iter::successors(self.nodes[node].above, |above| self.nodes[*above].above);
        let nodes = above.chain(node..self.nodes[node].end);
        let files = nodes.flat_map(|node| self.nodes[node].files.iter().copied());
        let mut files: Vec<usize> = files.filter(|other| *other < index).collect();
        files.sort_unstable();
        files
    }
}

/// The bytes of a path as a sort key: a directory sorts directly before its content.
fn in_order(path: &str) -> impl Iterator<Item = u8> {
    path.bytes().map(|byte| if byte == b'/' { 0 } else { byte })
}

/// Warnings about overlapping paths in each of the volumes.
pub(super) fn warn(volumes: &[Volume], out: &mut Vec<String>) {
    for volume in volumes {
        let (name, source) = (quote(&volume.name), &volume.volume_source);
        if let Some(map) = source.config_map.as_deref() {
            let of = format!("ConfigMap {}", quote(&map.local_object_reference.name));
            warn_of(&name, &of, of_items(&map.items, ""), out);
        }
        if let Some(secret) = source.secret.as_deref() {
            warn_of(&name, &format!("Secret {}", quote(&secret.secret_name)), of_items(&secret.items, ""), out);
        }
        if let Some(fields) = source.downward_api.as_deref() {
            warn_of(&name, "DownwardAPI", of_fields(&fields.items, ""), out);
        }
        if let Some(projected) = source.projected.as_deref() {
            let empty = projected.sources.iter().filter(|source| **source == VolumeProjection::default());
            out.extend(empty.map(|_| format!("volume {name} (Projected) has no sources provided")));
            warn_of(&name, "Projected", projected.sources.iter().flat_map(of_projection).collect(), out);
        }
    }
}

fn warn_of(volume: &str, of: &str, files: Vec<File<'_>>, out: &mut Vec<String>) {
    let tree = Tree::of(&files);
    let mut pairs = Pairs::new(out);
    for (index, file) in files.iter().enumerate() {
        for other in tree.overlapping_before(index) {
            let other = &files[other];
            if !pairs.add(format!("volume {volume} ({of}): overlapping paths: {file} with {other}")) {
                return;
            }
        }
    }
}

fn of_items<'f>(items: &'f [KeyToPath], source: &str) -> Vec<File<'f>> {
    items.iter().map(|item| File::new(&item.path, source)).collect()
}

fn of_fields<'f>(fields: &'f [DownwardAPIVolumeFile], source: &str) -> Vec<File<'f>> {
    fields.iter().map(|field| File::new(&field.path, source)).collect()
}

fn of_projection(source: &VolumeProjection) -> Vec<File<'_>> {
    if let Some(map) = source.config_map.as_deref().filter(|map| !map.items.is_empty()) {
        of_items(&map.items, &format!("ConfigMap {}", quote(&map.local_object_reference.name)))
    } else if let Some(secret) = source.secret.as_deref().filter(|secret| !secret.items.is_empty()) {
        of_items(&secret.items, &format!("Secret {}", quote(&secret.local_object_reference.name)))
    } else if let Some(fields) = source.downward_api.as_deref().filter(|fields| !fields.items.is_empty()) {
        of_fields(&fields.items, "DownwardAPI")
    } else if let Some(token) = source.service_account_token.as_deref() {
        vec![File::new(&token.path, "ServiceAccountToken")]
    } else if let Some(bundle) = source.cluster_trust_bundle.as_deref() {
        let name = bundle.name.as_ref().or(bundle.signer_name.as_ref()).map_or("", String::as_str);
        vec![File::new(&bundle.path, format!("ClusterTrustBundle {}", quote(name)))]
    } else if let Some(certificate) = source.pod_certificate.as_deref() {
        let files = [
            (&certificate.certificate_chain_path, "PodCertificate chain"),
            (&certificate.key_path, "PodCertificate key"),
            (&certificate.credential_bundle_path, "PodCertificate credential bundle"),
        ];
        files.into_iter().filter(|(path, _)| !path.is_empty()).map(|(path, of)| File::new(path, of)).collect()
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(paths: &[String]) -> Vec<String> {
        let mut out = Vec::new();
        warn_of("\"v\"", "ConfigMap", paths.iter().map(|path| File::new(path, "")).collect(), &mut out);
        out
    }

    fn pairs(paths: &[&str]) -> Vec<String> {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        let text = |warning: String| warning.split_once("paths: ").unwrap_or_default().1.replace('"', "");
        warnings(&paths).into_iter().map(text).collect()
    }

    #[test]
    fn warns_of_equal_and_nested_paths() {
        let paths = ["a/b/c", "a-b", "a/b", "", "a/bc", "a/b/", "a", "x/y"];
        let expect = ["a/b with a/b/c", "a/b with a/b", "a with a/b/c", "a with a/b", "a with a/bc"];
        // Equal texts are one warning.
        assert_eq!(pairs(&paths), expect);
    }

    #[test]
    fn many_paths_take_bounded_time_and_memory() {
        let distinct: Vec<String> = (0..50_000).map(|index| format!("d{index}/e")).collect();
        assert!(warnings(&distinct).is_empty());
        let equal = vec!["a".to_owned(); 50_000];
        assert_eq!(warnings(&equal).len(), 1);
        let nested: Vec<String> = (0..1_000).map(|depth| "a/".repeat(depth)).collect();
        assert!((16..5_000).contains(&warnings(&nested).len()));
    }
}
