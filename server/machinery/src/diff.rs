//! Unified diffs, as upstream's messages about changed objects show them
//! (`apimachinery/pkg/util/diff`).
//!
//! Clients see the text, so the unchanged lines must be those that Python's `difflib` finds, which
//! upstream's library follows: the longest common run first, then the same to its left and right.

use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;
/// With at least this many lines, lines that repeat too often do not anchor a match.
const POPULAR_FROM: usize = 200;

/// Limit on the lines of both texts together: the time to compute a diff is quadratic in their
/// number.
const MAX_LINES: usize = 6000;

/// The unified diff of two texts, without file names; empty if they are equal. For very long texts,
/// only the sizes.
pub fn unified(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    if old.len() + new.len() > MAX_LINES {
        return format!("the difference between {} and {} lines is too long to be shown\n", old.len(), new.len());
    }
    let mut out = String::new();
    for hunk in hunks(changes(&matches(&old, &new), old.len(), new.len())) {
        write_hunk(&hunk, &old, &new, &mut out);
    }
    out
}

/// Corresponding lines of both texts: equal lines if `same`, otherwise old lines replaced by new
/// ones.
#[derive(Clone, Debug)]
struct Span {
    same: bool,
    old: Range<usize>,
    new: Range<usize>,
}

fn write_hunk(hunk: &[Span], old: &[&str], new: &[&str], out: &mut String) {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return };
    let (olds, news) = (first.old.start..last.old.end, first.new.start..last.new.end);
    let written = writeln!(out, "@@ -{} +{} @@", line_numbers(&olds), line_numbers(&news));
    debug_assert!(written.is_ok(), "writing to a String cannot fail");
    for span in hunk {
        let (removed, added) = if span.same { (' ', None) } else { ('-', Some(&new[span.new.clone()])) };
        let removed = old[span.old.clone()].iter().map(|line| (removed, line));
        for (mark, line) in removed.chain(added.into_iter().flatten().map(|line| ('+', line))) {
            out.extend([mark]);
            out.push_str(line);
            out.push('\n');
        }
    }
}

/// A range as diffs show it: its start, and its length unless it is a single line.
fn line_numbers(lines: &Range<usize>) -> String {
    match lines.len() {
        1 => (lines.start + 1).to_string(),
        0 => format!("{},0", lines.start),
        many => format!("{},{many}", lines.start + 1),
    }
}

/// Common runs as (start in old, start in new, length), in order.
fn matches(old: &[&str], new: &[&str]) -> Vec<(usize, usize, usize)> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    new.iter().enumerate().for_each(|(at, line)| places.entry(line).or_default().push(at));
    if new.len() >= POPULAR_FROM {
        places.retain(|_, at| at.len() <= new.len() / 100 + 1);
    }
    let mut found = Vec::new();
    let mut open = vec![(0..old.len(), 0..new.len())];
    while let Some((olds, news)) = open.pop() {
        let (i, j, length) = longest_match(old, new, &places, &olds, &news);
        if length > 0 {
            found.push((i, j, length));
            open.push((olds.start..i, news.start..j));
            open.push((i + length..olds.end, j + length..news.end));
        }
    }
    found.sort_unstable();
    found
}

/// The longest common run in both ranges; the first one of several.
fn longest_match(
    old: &[&str],
    new: &[&str],
    places: &HashMap<&str, Vec<usize>>,
    olds: &Range<usize>,
    news: &Range<usize>,
) -> (usize, usize, usize) {
    let (mut i, mut j, mut length) = (olds.start, news.start, 0);
    let mut lengths: HashMap<usize, usize> = HashMap::new();
    for at in olds.clone() {
        let mut next = HashMap::new();
        for &place in places.get(old[at]).into_iter().flatten().filter(|place| news.contains(place)) {
            let run = 1 + place.checked_sub(1).and_then(|before| lengths.get(&before)).copied().unwrap_or(0);
            next.insert(place, run);
            if run > length {
                (i, j, length) = (at + 1 - run, place + 1 - run, run);
            }
        }
        lengths = next;
    }
    while i > olds.start && j > news.start && old[i - 1] == new[j - 1] {
        (i, j, length) = (i - 1, j - 1, length + 1);
    }
    while i + length < olds.end && j + length < news.end && old[i + length] == new[j + length] {
        length += 1;
    }
    (i, j, length)
}

/// All lines, as alternating spans of equal and different lines.
fn changes(matches: &[(usize, usize, usize)], old_len: usize, new_len: usize) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let (mut i, mut j) = (0, 0);
    for &(old, new, length) in matches.iter().chain(&[(old_len, new_len, 0)]) {
        if i < old || j < new {
            spans.push(Span { same: false, old: i..old, new: j..new });
        }
        (i, j) = (old + length, new + length);
        match spans.last_mut() {
            _ if length == 0 => {}
            Some(last) if last.same => (last.old.end, last.new.end) = (i, j),
            _ => spans.push(Span { same: true, old: old..i, new: new..j }),
        }
    }
    spans
}

/// Groups changes with their context; long unchanged spans separate groups.
fn hunks(mut spans: Vec<Span>) -> Vec<Vec<Span>> {
    if let Some(first) = spans.first_mut().filter(|span| span.same) {
        keep_last(first, CONTEXT);
    }
    if let Some(last) = spans.last_mut().filter(|span| span.same) {
        keep_first(last, CONTEXT);
    }
    let mut hunks = vec![Vec::new()];
    for mut span in spans {
        if span.same && span.old.len() > 2 * CONTEXT {
            let mut before = span.clone();
            keep_first(&mut before, CONTEXT);
            keep_last(&mut span, CONTEXT);
            if let Some(hunk) = hunks.last_mut() {
                hunk.push(before);
            }
            hunks.push(Vec::new());
        }
        if let Some(hunk) = hunks.last_mut() {
            hunk.push(span);
        }
    }
    hunks.retain(|hunk| hunk.iter().any(|span| !span.same));
    hunks
}

fn keep_first(span: &mut Span, lines: usize) {
    span.old.end = span.old.end.min(span.old.start + lines);
    span.new.end = span.new.end.min(span.new.start + lines);
}

fn keep_last(span: &mut Span, lines: usize) {
    span.old.start = span.old.start.max(span.old.end.saturating_sub(lines));
    span.new.start = span.new.start.max(span.new.end.saturating_sub(lines));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn very_long_texts_are_not_compared() {
        let text = |numbers: &mut dyn Iterator<Item = u32>| numbers.map(|n| format!("{n}\n")).collect::<String>();
        let (old, new) = (text(&mut (0..50_000)), text(&mut (0..50_000).rev()));
        let expect = "the difference between 50001 and 50001 lines is too long to be shown\n";
        assert_eq!(unified(&old, &new), expect);
    }

    #[test]
    fn shows_differences() {
        for (old, new, expect) in [
            ("a\nb", "a\nb", ""),
            ("a", "b", "@@ -1 +1 @@\n-a\n+b\n"),
            ("1\n2\n3\n4\n5\n6", "1\n2\n3\n4\n6", "@@ -2,5 +2,4 @@\n 2\n 3\n 4\n-5\n 6\n"),
            ("x\n1\n2\n3\n4", "y\nz\n1\n2\n3\n4", "@@ -1,4 +1,5 @@\n-x\n+y\n+z\n 1\n 2\n 3\n"),
            (
                "a\n1\n2\n3\n4\n5\n6\n7\nb",
                "c\n1\n2\n3\n4\n5\n6\n7\nd",
                "@@ -1,4 +1,4 @@\n-a\n+c\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+d\n",
            ),
            ("a\n1\n2\nb", "c\n1\n2\nd", "@@ -1,4 +1,4 @@\n-a\n+c\n 1\n 2\n-b\n+d\n"),
            ("a", "a\nb", "@@ -1 +1,2 @@\n a\n+b\n"),
        ] {
            assert_eq!(unified(old, new), expect, "{old:?} {new:?}");
        }
    }
}
