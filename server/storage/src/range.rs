//! Ranges of keys.

use bytes::Bytes;

/// A half-open range of keys, as in an etcd `RangeRequest`.
///
/// ```
/// use storage::KeyRange;
///
/// let things = KeyRange::prefix("/registry/things/");
/// assert!(things.contains(b"/registry/things/a") && !things.contains(b"/registry/thingsets/a"));
/// assert_eq!(things.end().map(|end| &end[..]), Some(&b"/registry/things0"[..]));
/// assert!(!things.after(b"/registry/things/a").contains(b"/registry/things/a"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    start: Bytes,
    end: Option<Bytes>,
}

impl KeyRange {
    /// Returns the keys from `start` up to, but not including, `end`.
    ///
    /// An `end` of `None` is the end of the key space.
    pub fn new(start: impl Into<Bytes>, end: Option<Bytes>) -> Self {
        Self { start: start.into(), end }
    }

    /// Returns the keys that begin with `prefix` (etcd's `WithPrefix`).
    ///
    /// An empty prefix selects every key.
    pub fn prefix(prefix: impl Into<Bytes>) -> Self {
        let start = prefix.into();
        let end = end_of_prefix(&start);
        Self { start, end }
    }

    /// Returns the range of one key.
    pub fn key(key: impl Into<Bytes>) -> Self {
        let start = key.into();
        let end = Some(successor(&start));
        Self { start, end }
    }

    /// Returns the part of this range from `key` on, `key` included.
    #[must_use]
    pub fn starting_at(mut self, key: impl Into<Bytes>) -> Self {
        self.start = self.start.max(key.into());
        self
    }

    /// Returns the part of this range after `key`, to continue a list.
    #[must_use]
    pub fn after(self, key: &[u8]) -> Self {
        self.starting_at(successor(key))
    }

    /// Returns the smallest key that the range can contain.
    pub fn start(&self) -> &Bytes {
        &self.start
    }

    /// Returns the first key after the range; `None` for the end of the key space.
    pub fn end(&self) -> Option<&Bytes> {
        self.end.as_ref()
    }

    /// Returns the key if the range is that of one key ([`KeyRange::key`]).
    pub fn single(&self) -> Option<&Bytes> {
        let end = self.end.as_ref()?;
        (end.len() == self.start.len() + 1 && end.last() == Some(&0) && end.starts_with(&self.start))
            .then_some(&self.start)
    }

    /// Returns whether the range contains `key`.
    pub fn contains(&self, key: &[u8]) -> bool {
        key >= &self.start[..] && self.end.as_ref().is_none_or(|end| key < &end[..])
    }
}

/// Returns the smallest key after all keys with the prefix; `None` when the prefix is empty or all `0xff`.
fn end_of_prefix(prefix: &[u8]) -> Option<Bytes> {
    let last = prefix.iter().rposition(|&byte| byte != 0xff)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end.into())
}

/// Returns the smallest key after `key`.
fn successor(key: &[u8]) -> Bytes {
    [key, b"\0"].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_before_its_successor() {
        let check = |prefix: &'static [u8], end: Option<&'static [u8]>| {
            assert_eq!(KeyRange::prefix(prefix).end().map(|end| &end[..]), end, "{prefix:?}");
        };
        check(b"/registry/pods/", Some(b"/registry/pods0"));
        check(b"a\xff", Some(b"b"));
        check(b"\xff\xff", None);
        check(b"", None);
    }

    #[test]
    fn ranges_narrow_to_continue() {
        let range = KeyRange::prefix("/a/");
        assert!(range.contains(b"/a/1") && !range.contains(b"/a") && !range.contains(b"/a0"));
        let rest = range.clone().after(b"/a/1");
        assert!(!rest.contains(b"/a/1") && rest.contains(b"/a/1x") && rest.contains(b"/a/2"));
        assert_eq!(range.clone().starting_at("/"), range);
        assert!(KeyRange::key("/a").contains(b"/a") && !KeyRange::key("/a").contains(b"/a/1"));
    }
}
