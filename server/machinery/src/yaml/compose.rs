//! From text to nodes: aliases found, nothing interpreted.

use libyaml_safer::{ErrorKind, Event, EventData, Parser};

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
    Scalar { value: String, tag: Option<String>, plain: bool },
    Sequence(Vec<usize>),
    Mapping(Vec<(usize, usize)>),
    Alias { name: String, target: usize },
}

/// Reads the first document of a stream.
pub(super) fn compose(document: &[u8]) -> Result<Nodes, Error> {
    let text = if document.is_empty() { b"\n" } else { document };
    let mut parser = Parser::new();
    parser.set_input(text);
    let mut composer = Composer { parser, nodes: Vec::new(), anchors: Vec::new(), depth: 0 };
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
    nodes: Vec<Node>,
    /// The last of a name counts.
    anchors: Vec<(String, usize)>,
    depth: usize,
}

impl Composer<'_> {
    fn next(&mut self) -> Result<Event, Error> {
        self.parser.parse().map_err(|problem| syntax_error(&problem))
    }

    fn node(&mut self, event: Event) -> Result<usize, Error> {
        let line = event.start_mark.line as usize + 1;
        let index = self.nodes.len();
        self.nodes.push(Node { line, kind: Kind::Sequence(Vec::new()) });
        let kind = match event.data {
            EventData::Scalar { anchor, tag, value, plain_implicit, .. } => {
                self.remember(anchor, index);
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

/// Words and counts lines as goyaml does, which is off by one for errors of its parser.
fn syntax_error(problem: &libyaml_safer::Error) -> Error {
    let line = |mark: Option<libyaml_safer::Mark>| mark.map(|mark| mark.line).filter(|line| *line != 0);
    let text = problem.problem();
    match (line(problem.problem_mark()), line(problem.context_mark())) {
        (Some(line), _) if problem.kind() == ErrorKind::Scanner => error(format_args!("line {}: {text}", line + 1)),
        (Some(line), _) | (None, Some(line)) => error(format_args!("line {line}: {text}")),
        (None, None) => error(format_args!("{text}")),
    }
}
