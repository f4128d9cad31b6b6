//! Composes YAML text to nodes: resolves anchors and aliases, does not interpret scalars.

use std::borrow::Cow;
use std::collections::HashMap;

use libyaml_safer::{ErrorKind, Event, EventData, MappingStyle, Mark, Parser, ScalarStyle, SequenceStyle};

use super::error;
use super::scan::{check_directives, reader_error};
use crate::budget::Meter;
use crate::json::Error;
use crate::limits::MAX_DEPTH;

/// The nodes of one document; no root if the stream has no document.
pub(super) struct Nodes {
    pub(super) all: Vec<Node>,
    pub(super) root: Option<usize>,
}

/// A node; other nodes are referred to by index.
pub(super) struct Node {
    /// Starts at 1.
    pub(super) line: usize,
    pub(super) kind: NodeKind,
}

pub(super) enum NodeKind {
    /// `plain`: without quotes, so that the type depends on the text.
    Scalar {
        value: String,
        tag: Option<Tag>,
        plain: bool,
    },
    Sequence(Vec<usize>),
    /// Alternating keys and values.
    Mapping(Vec<usize>),
    Alias {
        name: String,
        target: usize,
    },
}

/// A tag that determines the type of a scalar.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    /// A type of YAML 1.1 by its short name.
    Standard(&'static str),
    /// Any other tag; the scalar is a string.
    Other,
}

impl Tag {
    fn of(tag: &str) -> Tag {
        const STANDARD: [&str; 8] = ["str", "binary", "bool", "int", "float", "null", "timestamp", "merge"];
        let short = tag.strip_prefix("tag:yaml.org,2002:").unwrap_or(tag);
        STANDARD.into_iter().find(|name| *name == short).map_or(Tag::Other, Tag::Standard)
    }
}

/// Composes the first document of a stream.
///
/// libyaml_safer panics on a few malformed texts, such as `[!a,`; the panic is converted to an
/// error.
pub(super) fn compose(document: &[u8], meter: &mut Meter) -> Result<Nodes, Error> {
    if let Some(problem) = reader_error(document) {
        return Err(error(format_args!("{problem}")));
    }
    check_directives(document)?;
    let unknown = |_| Err(error(format_args!("unknown problem parsing YAML content")));
    let read = std::panic::AssertUnwindSafe(|| read_document(document, meter));
    std::panic::catch_unwind(read).unwrap_or_else(unknown)
}

fn read_document(document: &[u8], meter: &mut Meter) -> Result<Nodes, Error> {
    let document = document.strip_prefix("\u{feff}".as_bytes()).unwrap_or(document);
    let mut text = Cow::Borrowed(document);
    if document.is_empty() || !document.ends_with(b"\n") && document.iter().any(|b| matches!(b, b'|' | b'>' | b'\\')) {
        text.to_mut().push(b'\n');
    }
    // The parser reads the whole text ahead, as characters.
    meter.charge(text.len() * size_of::<char>())?;
    let mut parser = Parser::new();
    parser.set_input(&*text);
    let last_line = document.rsplit(|&b| b == b'\n').next().unwrap_or_default();
    let open_end = (text.len() > document.len()).then_some((text.len(), last_line));
    let mut composer = Composer {
        parser,
        document,
        open_end,
        meter,
        nodes: Vec::new(),
        anchors: HashMap::new(),
        open: Vec::new(),
        flow_depth: 0,
        flow_steps: 0,
    };
    composer.next()?;
    let root = match composer.next()?.data {
        EventData::DocumentStart { .. } => {
            let root = composer.root()?;
            // Parses the end of the document, which detects errors after its root.
            composer.next()?;
            Some(root)
        }
        _ => None,
    };
    Ok(Nodes { all: composer.nodes, root })
}

struct Composer<'t, 'm> {
    parser: Parser<&'t [u8]>,
    document: &'t [u8],
    /// The length and the last line of a text to which a line break was appended.
    ///
    /// libyaml_safer panics without it on a text that may end in a block scalar or a backslash.
    open_end: Option<(usize, &'t [u8])>,
    meter: &'m mut Meter,
    nodes: Vec<Node>,
    /// Of several anchors with the same name, the last one counts.
    anchors: HashMap<String, usize>,
    /// The open collections, the outermost first.
    open: Vec<Collection>,
    /// The number of open collections in flow style, and its sum over all events.
    flow_depth: u64,
    flow_steps: u64,
}

/// A collection that is being composed.
struct Collection {
    index: usize,
    is_mapping: bool,
    is_flow: bool,
    children: Vec<usize>,
}

impl Composer<'_, '_> {
    fn next(&mut self) -> Result<Event, Error> {
        self.parser.parse().map_err(|problem| match problem.kind() {
            ErrorKind::Scanner => self.scanner_error(&problem),
            _ => parser_error(&problem),
        })
    }

    /// goyaml counts lines from 1 here, and does not show the first one.
    fn scanner_error(&self, problem: &libyaml_safer::Error) -> Error {
        let Some(mut line) = problem.problem_mark().map(|mark| mark.line) else { return parser_error(problem) };
        let lines = self.document.iter().filter(|&&b| b == b'\n').count() as u64;
        if self.open_end.is_some() && line > lines && problem.problem() == "found unexpected end of stream" {
            // An open quote consumed the appended line break.
            line -= 1;
        }
        line_error((line != 0).then_some(line + 1), problem.problem())
    }

    /// Composes the root node with its children. A loop, so that deep nesting uses no stack.
    fn root(&mut self) -> Result<usize, Error> {
        loop {
            let event = self.next()?;
            self.count_flow_steps()?;
            let Some(ended) = self.node(event)? else { continue };
            match self.open.last_mut() {
                Some(collection) => collection.children.push(ended),
                None => return Ok(ended),
            }
        }
    }

    /// Limits the cost of deep flow collections: libyaml visits each open one for each token.
    fn count_flow_steps(&mut self) -> Result<(), Error> {
        const MOST: u64 = 40_000_000;
        self.flow_steps += self.flow_depth;
        if self.flow_steps > MOST {
            return Err(error(format_args!("document contains excessive nesting of flow collections")));
        }
        Ok(())
    }

    /// Processes an event. Returns the node that ends with it.
    fn node(&mut self, event: Event) -> Result<Option<usize>, Error> {
        let line = event.start_mark.line as usize + 1;
        match event.data {
            EventData::Scalar { anchor, tag, mut value, plain_implicit, style, .. } => {
                if matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) {
                    self.reopen_end(&mut value, event.end_mark.index as usize);
                }
                let tag = tag.as_deref().map(Tag::of);
                self.add(line, anchor, NodeKind::Scalar { value, tag, plain: plain_implicit }).map(Some)
            }
            EventData::Alias { anchor: name } => match self.anchors.get(&name) {
                Some(&target) => self.add(line, None, NodeKind::Alias { name, target }).map(Some),
                None => Err(error(format_args!("unknown anchor '{name}' referenced"))),
            },
            EventData::SequenceStart { anchor, style, .. } => {
                let index = self.add(line, anchor, NodeKind::Sequence(Vec::new()))?;
                self.begin(index, false, style == SequenceStyle::Flow)
            }
            EventData::MappingStart { anchor, style, .. } => {
                let index = self.add(line, anchor, NodeKind::Mapping(Vec::new()))?;
                self.begin(index, true, style == MappingStyle::Flow)
            }
            EventData::SequenceEnd | EventData::MappingEnd => Ok(self.end()),
            _ => Err(error(format_args!("unknown problem parsing YAML content"))),
        }
    }

    fn add(&mut self, line: usize, anchor: Option<String>, kind: NodeKind) -> Result<usize, Error> {
        let text = match &kind {
            NodeKind::Scalar { value: text, .. } | NodeKind::Alias { name: text, .. } => text.len(),
            NodeKind::Sequence(_) | NodeKind::Mapping(_) => 0,
        };
        self.meter.charge(size_of::<Node>() + size_of::<usize>() + text)?;
        let index = self.nodes.len();
        self.nodes.push(Node { line, kind });
        if let Some(name) = anchor {
            self.anchors.insert(name, index);
        }
        Ok(index)
    }

    fn begin(&mut self, index: usize, is_mapping: bool, is_flow: bool) -> Result<Option<usize>, Error> {
        if self.open.len() == MAX_DEPTH {
            return Err(too_deep());
        }
        self.flow_depth += u64::from(is_flow);
        self.open.push(Collection { index, is_mapping, is_flow, children: Vec::new() });
        Ok(None)
    }

    fn end(&mut self) -> Option<usize> {
        let Collection { index, is_mapping, is_flow, children } = self.open.pop()?;
        self.flow_depth -= u64::from(is_flow);
        self.nodes[index].kind = if is_mapping { NodeKind::Mapping(children) } else { NodeKind::Sequence(children) };
        Some(index)
    }

    /// Removes the appended line break if it became part of this block scalar.
    fn reopen_end(&self, value: &mut String, end: usize) {
        let Some((length, last_line)) = self.open_end else { return };
        let Some(rest) = value.strip_suffix('\n') else { return };
        let last_is_content = !last_line.iter().all(|&b| b == b' ');
        // Blank lines count if they are longer than the indentation, or if `|+` keeps them.
        let last = rest.rsplit('\n').next().unwrap_or_default();
        let blanks_count = last.is_empty() || (last.trim_start().is_empty() && last.len() < last_line.len());
        if end >= length && (last_is_content || blanks_count) {
            value.pop();
        }
    }
}

/// The error of a document that exceeds [`MAX_DEPTH`].
pub(super) fn too_deep() -> Error {
    error(format_args!("exceeded max depth of {MAX_DEPTH}"))
}

/// Formats an error like goyaml, which counts lines from 0 here.
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
