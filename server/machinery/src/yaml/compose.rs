//! From text to nodes: aliases found, nothing interpreted.

use std::borrow::Cow;

use libyaml_safer::{ErrorKind, Event, EventData, Mark, Parser, ScalarStyle};

use super::error;
use crate::json::{Error, MAX_TREE_DEPTH};

/// The nodes of one document. The root is the last one; none when the stream is empty.
pub(super) struct Nodes {
    pub(super) all: Vec<Node>,
    pub(super) root: Option<usize>,
}

pub(super) struct Node {
    /// Counted from 1.
    pub(super) line: usize,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    /// `plain`: without quotes, so that its text may be more than a string. A tag is in its long form.
    Scalar {
        value: String,
        tag: Option<String>,
        plain: bool,
    },
    Sequence(Vec<usize>),
    Mapping(Vec<(usize, usize)>),
    Alias {
        name: String,
        target: usize,
    },
}

/// Reads the first document of a stream.
///
/// libyaml_safer panics on a few malformed texts, such as `[!a,`; here that is an error like others.
pub(super) fn compose(document: &[u8]) -> Result<Nodes, Error> {
    if let Some(problem) = reader_error(document) {
        return Err(error(format_args!("{problem}")));
    }
    let unknown = |_| Err(error(format_args!("unknown problem parsing YAML content")));
    std::panic::catch_unwind(|| read_document(document)).unwrap_or_else(unknown)
}

fn read_document(document: &[u8]) -> Result<Nodes, Error> {
    let document = document.strip_prefix("\u{feff}".as_bytes()).unwrap_or(document);
    let mut text = Cow::Borrowed(document);
    if document.is_empty() || !document.ends_with(b"\n") && document.iter().any(|b| matches!(b, b'|' | b'>' | b'\\')) {
        text.to_mut().push(b'\n');
    }
    let mut parser = Parser::new();
    parser.set_input(&*text);
    let last_line = document.rsplit(|&b| b == b'\n').next().unwrap_or_default();
    let open_end = (text.len() > document.len()).then_some((text.len(), last_line));
    let mut composer = Composer { parser, document, open_end, nodes: Vec::new(), anchors: Vec::new(), depth: 0 };
    composer.next()?;
    let root = match composer.next()?.data {
        EventData::DocumentStart { .. } => {
            let first = composer.next()?;
            let root = composer.node(first)?;
            // The end of the document, which shows whether anything is wrong behind its root.
            composer.next()?;
            Some(root)
        }
        _ => None,
    };
    Ok(Nodes { all: composer.nodes, root })
}

struct Composer<'t> {
    parser: Parser<&'t [u8]>,
    document: &'t [u8],
    /// The text, which may end in a block scalar or a backslash, came without a line break at its end and got one, because libyaml_safer would
    /// panic: its length and last line.
    open_end: Option<(usize, &'t [u8])>,
    nodes: Vec<Node>,
    /// The last of a name counts.
    anchors: Vec<(String, usize)>,
    depth: usize,
}

impl Composer<'_> {
    fn next(&mut self) -> Result<Event, Error> {
        self.parser.parse().map_err(|problem| match problem.kind() {
            ErrorKind::Scanner => self.scanner_error(&problem),
            _ => parser_error(&problem),
        })
    }

    /// goyaml counts lines from 1 here, unless it is the first one, which it does not name.
    fn scanner_error(&self, problem: &libyaml_safer::Error) -> Error {
        let Some(mut line) = problem.problem_mark().map(|mark| mark.line) else { return parser_error(problem) };
        let lines = self.document.iter().filter(|&&b| b == b'\n').count() as u64;
        if self.open_end.is_some() && line > lines && problem.problem() == "found unexpected end of stream" {
            // An open quote took the line break that was added.
            line -= 1;
        }
        line_error((line != 0).then_some(line + 1), problem.problem())
    }

    fn node(&mut self, event: Event) -> Result<usize, Error> {
        let line = event.start_mark.line as usize + 1;
        let index = self.nodes.len();
        self.nodes.push(Node { line, kind: Kind::Sequence(Vec::new()) });
        let kind = match event.data {
            EventData::Scalar { anchor, tag, mut value, plain_implicit, style, .. } => {
                self.remember(anchor, index);
                if matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) {
                    self.reopen_end(&mut value, event.end_mark.index as usize);
                }
                Kind::Scalar { value, tag, plain: plain_implicit }
            }
            EventData::Alias { anchor } => match self.anchors.iter().rev().find(|(name, _)| *name == anchor) {
                Some(&(_, target)) => Kind::Alias { name: anchor, target },
                None => return Err(error(format_args!("unknown anchor '{anchor}' referenced"))),
            },
            EventData::SequenceStart { anchor, .. } => {
                self.remember(anchor, index);
                self.descend()?;
                Kind::Sequence(self.sequence()?)
            }
            EventData::MappingStart { anchor, .. } => {
                self.remember(anchor, index);
                self.descend()?;
                Kind::Mapping(self.mapping()?)
            }
            _ => return Err(error(format_args!("unknown problem parsing YAML content"))),
        };
        self.nodes[index].kind = kind;
        Ok(index)
    }

    /// Takes back the line break that was added at the end of the text if it became a part of this block scalar.
    fn reopen_end(&self, value: &mut String, end: usize) {
        let Some((length, last_line)) = self.open_end else { return };
        let Some(rest) = value.strip_suffix('\n') else { return };
        let last_is_content = !last_line.iter().all(|&b| b == b' ');
        // Of lines of blanks, those count that are longer than the indentation or that `|+` keeps.
        let last = rest.rsplit('\n').next().unwrap_or_default();
        let blanks_count = last.is_empty() || (last.trim_start().is_empty() && last.len() < last_line.len());
        if end >= length && (last_is_content || blanks_count) {
            value.pop();
        }
    }

    fn remember(&mut self, anchor: Option<String>, index: usize) {
        if let Some(name) = anchor {
            self.anchors.push((name, index));
        }
    }

    fn descend(&mut self) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > MAX_TREE_DEPTH {
            return Err(error(format_args!("exceeded max depth of {MAX_TREE_DEPTH}")));
        }
        Ok(())
    }

    fn sequence(&mut self) -> Result<Vec<usize>, Error> {
        let mut items = Vec::new();
        loop {
            let event = self.next()?;
            if event.data == EventData::SequenceEnd {
                self.depth -= 1;
                return Ok(items);
            }
            items.push(self.node(event)?);
        }
    }

    fn mapping(&mut self) -> Result<Vec<(usize, usize)>, Error> {
        let mut entries = Vec::new();
        loop {
            let event = self.next()?;
            if event.data == EventData::MappingEnd {
                self.depth -= 1;
                return Ok(entries);
            }
            let key = self.node(event)?;
            let event = self.next()?;
            entries.push((key, self.node(event)?));
        }
    }
}

/// Words errors as goyaml does, which counts lines from 0 here.
fn parser_error(problem: &libyaml_safer::Error) -> Error {
    let line = |mark: Option<Mark>| mark.map(|mark| mark.line).filter(|line| *line != 0);
    line_error(line(problem.problem_mark()).or_else(|| line(problem.context_mark())), problem.problem())
}

fn line_error(line: Option<u64>, text: &str) -> Error {
    match line {
        Some(line) => error(format_args!("line {line}: {text}")),
        None => error(format_args!("{text}")),
    }
}

/// What goyaml says about bytes that are not UTF-8.
fn reader_error(document: &[u8]) -> Option<&'static str> {
    let before = document.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    if before.contains(|c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}')) {
        return Some("control characters are not allowed");
    }
    let valid = before.len();
    let (&lead, rest) = document.get(valid..)?.split_first()?;
    let width = match lead {
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        0x80.. => return Some("invalid leading UTF-8 octet"),
        _ => return None,
    };
    let Some(trail) = rest.get(..width - 1) else { return Some("incomplete UTF-8 octet sequence") };
    if trail.iter().any(|b| b & 0xc0 != 0x80) {
        return Some("invalid trailing UTF-8 octet");
    }
    let too_long = match lead {
        0xe0 => trail[0] < 0xa0,
        0xf0 => trail[0] < 0x90,
        _ => lead < 0xc2,
    };
    Some(if too_long { "invalid length of a UTF-8 sequence" } else { "invalid Unicode character" })
}
