//! Parses the tokens of a label selector to requirements (upstream: `labels.Parser`), with
//! upstream's messages.

use super::lexer::{Lexer, Token};
use super::{LabelRequirement, LabelSelector, Operator, check_key};
use crate::Error;
use status::field_path::Path;
use std::collections::BTreeSet;

impl LabelSelector {
    /// Parses the text form of the query parameter `labelSelector` (upstream `labels.Parse`).
    ///
    /// # Errors
    /// [`Error`] when the text is malformed, or a requirement is invalid.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::parse_at(text, &Path::NONE)
    }

    /// As [`Self::parse`]; `path` precedes the fields in errors.
    fn parse_at(text: &str, path: &Path<'_>) -> Result<Self, Error> {
        Ok(Self::from_requirements(parse(text, path)?))
    }
}

fn parse(text: &str, path: &Path<'_>) -> Result<Vec<LabelRequirement>, Error> {
    let mut lexer = Lexer::new(text);
    let ahead = lexer.next();
    Parser { lexer, ahead, path }.selector()
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    ahead: (Token, &'a str),
    path: &'a Path<'a>,
}

impl<'a> Parser<'a> {
    fn selector(mut self) -> Result<Vec<LabelRequirement>, Error> {
        let mut requirements = Vec::new();
        match self.peek_value() {
            Token::End => return Ok(requirements),
            Token::Identifier | Token::Not => {}
            _ => return Err(self.unexpected(", expected: !, identifier, or 'end of string'")),
        }
        loop {
            let requirement = self.requirement().map_err(|error| Error::Requirement(Box::new(error)))?;
            requirements.push(requirement);
            match self.ahead.0 {
                Token::End => return Ok(requirements),
                Token::Comma => {}
                _ => return Err(self.unexpected(", expected: ',' or 'end of string'")),
            }
            self.advance();
            if !matches!(self.peek_value(), Token::Identifier | Token::Not) {
                return Err(self.unexpected(", expected: identifier after ','"));
            }
        }
    }

    fn requirement(&mut self) -> Result<LabelRequirement, Error> {
        let negated = self.ahead.0 == Token::Not;
        if negated {
            self.advance();
        }
        if self.peek_value() != Token::Identifier {
            return Err(self.unexpected(", expected: identifier"));
        }
        let key = self.advance();
        if let Some(error) = check_key(key, self.path) {
            return Err(Error::Fields(vec![error]));
        }
        if negated {
            return LabelRequirement::new(self.path, key, Operator::DoesNotExist, Vec::new());
        }
        if matches!(self.ahead.0, Token::End | Token::Comma) {
            return LabelRequirement::new(self.path, key, Operator::Exists, Vec::new());
        }
        let operator = self.operator()?;
        let values = match operator {
            Operator::In | Operator::NotIn => self.values()?,
            _ => BTreeSet::from([self.exact_value()?]),
        };
        LabelRequirement::new(self.path, key, operator, values.into_iter().map(str::to_owned).collect())
    }

    fn operator(&mut self) -> Result<Operator, Error> {
        let operator = match self.ahead.0 {
            Token::In => Operator::In,
            Token::NotIn => Operator::NotIn,
            Token::Equals => Operator::Equals,
            Token::DoubleEquals => Operator::DoubleEquals,
            Token::NotEquals => Operator::NotEquals,
            Token::Greater => Operator::GreaterThan,
            Token::Less => Operator::LessThan,
            _ => return Err(self.unexpected(", expected: in, notin, =, ==, !=, gt, lt")),
        };
        self.advance();
        Ok(operator)
    }

    /// Parses a list in brackets; an omitted value is the empty string.
    fn values(&mut self) -> Result<BTreeSet<&'a str>, Error> {
        if self.ahead.0 != Token::Open {
            return Err(self.unexpected(" expected: '('"));
        }
        self.advance();
        match self.peek_value() {
            Token::Identifier | Token::Comma => {}
            Token::Close => {
                self.advance();
                return Ok(BTreeSet::from([""]));
            }
            _ => return Err(self.unexpected(", expected: ',', ')' or identifier")),
        }
        let values = self.value_list()?;
        self.advance();
        Ok(values)
    }

    /// Parses values up to the closing bracket, which is not consumed.
    fn value_list(&mut self) -> Result<BTreeSet<&'a str>, Error> {
        let mut values = BTreeSet::new();
        loop {
            match self.peek_value() {
                Token::Identifier => {
                    values.insert(self.advance());
                    match self.ahead.0 {
                        Token::Comma => {}
                        Token::Close => return Ok(values),
                        _ => return Err(self.unexpected(", expected: ',' or ')'")),
                    }
                }
                Token::Comma => {
                    self.advance();
                    if values.is_empty() || matches!(self.ahead.0, Token::Comma | Token::Close) {
                        values.insert("");
                    }
                    if self.ahead.0 == Token::Close {
                        return Ok(values);
                    }
                }
                _ => return Err(self.unexpected(", expected: ',', or identifier")),
            }
        }
    }

    fn exact_value(&mut self) -> Result<&'a str, Error> {
        match self.peek_value() {
            Token::End | Token::Comma => Ok(""),
            Token::Identifier => Ok(self.advance()),
            _ => Err(self.unexpected(", expected: identifier")),
        }
    }

    /// The next token where a key or a value is expected: `in` and `notin` are identifiers there.
    fn peek_value(&self) -> Token {
        match self.ahead.0 {
            Token::In | Token::NotIn => Token::Identifier,
            other => other,
        }
    }

    /// Consumes the next token and returns its text.
    fn advance(&mut self) -> &'a str {
        std::mem::replace(&mut self.ahead, self.lexer.next()).1
    }

    fn unexpected(&self, expectation: &str) -> Error {
        Error::LabelSelector(format!("found '{}'{expectation}", self.ahead.1))
    }
}
