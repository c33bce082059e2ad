//! Texts with variables: `/todos/${accounts.id}`, and `$${` for a literal `${`.

use std::fmt::{Display, Write};

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::de::IgnoredAny;

use crate::cookies::directory_of;
use crate::date::{Clock, iso};
use crate::feeder::Feeder;
use crate::functions::Function;
use crate::names::Source;
use crate::random::Random;
use crate::scope::Scope;
use crate::session::Session;

#[cfg(test)]
mod tests;
mod token;

use token::Token;

/// All but the unreserved characters of RFC 3986, so that a value never adds a segment or a parameter to a path.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// Characters that are not allowed in a request line. The author's own text is otherwise unchanged.
const INVISIBLE: &AsciiSet = &CONTROLS.add(b' ');

/// Maximum functions in each other, as for those who read a plan (`load/bodies.py`).
const DEEPEST: u8 = 4;

/// A compiled text, for one kind of position.
#[derive(Debug, Default)]
pub(crate) struct Template {
    pieces: Box<[Piece]>,
}

#[derive(Debug)]
enum Piece {
    Literal(String),
    Variable(Source, Escape),
    /// A function of a text with variables, and of its key.
    Made(Box<Made>, Escape),
    /// A token that is signed here. It needs no escaping.
    Token(Box<Token>),
}

#[derive(Debug)]
struct Made {
    function: Function,
    /// Empty for functions without one.
    key: Template,
    text: Template,
}

/// How to escape a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escape {
    /// Not at all.
    Raw,
    Percent,
    /// For a JSON string.
    Json,
}

/// The sources of values.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) feeders: &'a [Feeder],
    pub(crate) session: &'a Session,
    pub(crate) random: &'a mut Random,
    pub(crate) clock: Clock,
}

/// The number of a variable without a value in this iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Missing(pub(crate) u32);

impl Template {
    /// For values without escaping. The error says what is wrong with the text.
    pub(crate) fn raw(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        Self::new(text, scope, |_| Escape::Raw)
    }

    /// For values that something must be equal to, without escaping.
    pub(crate) fn fixed(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let template = Self::raw(text, scope)?;
        let name = template.sources().into_iter().find_map(Source::new_each_time);
        match name {
            None => Ok(template),
            Some(name) => Err(format!("${{{name}}} is a new value at each place, so nothing can be equal to it")),
        }
    }

    /// For a request target. Values are percent-encoded completely; in the rest, only forbidden characters are.
    pub(crate) fn path(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        if text.contains(|letter: char| letter.is_control()) {
            return Err("it has a control character (a line break, perhaps)".into());
        }
        let mut template = Self::new(text, scope, |_| Escape::Percent)?;
        for piece in &mut template.pieces {
            if let Piece::Literal(literal) = piece {
                *literal = utf8_percent_encode(literal, INVISIBLE).to_string();
            }
        }
        Ok(template)
    }

    /// For an encoded form. Values are percent-encoded.
    pub(crate) fn form(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        Self::new(text, scope, |_| Escape::Percent)
    }

    /// For JSON. Values are escaped in strings, and unchanged elsewhere.
    pub(crate) fn json(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let mut strings = Strings::default();
        let template = Self::new(text, scope, |literal| {
            strings.read(literal);
            if strings.inside { Escape::Json } else { Escape::Raw }
        })?;
        // An unescaped value may be any part of a document, so the text cannot be checked without it.
        let is_raw = |piece: &Piece| matches!(piece, Piece::Variable(_, Escape::Raw) | Piece::Made(_, Escape::Raw));
        if !template.pieces.iter().any(is_raw) {
            let example: String = template.pieces.iter().map(Piece::example).collect();
            serde_json::from_str::<IgnoredAny>(&example).map_err(|error| format!("it is not JSON: {error}"))?;
        }
        Ok(template)
    }

    /// `escape` is called with each literal, even an empty one, and returns how to escape the variable after it.
    fn new(text: &str, scope: Scope<'_>, mut escape: impl FnMut(&str) -> Escape) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let (mut literal, mut rest) = (String::new(), text);
        while let Some(at) = rest.find("${") {
            let (before, inside) = (&rest[..at], &rest[at + 2..]);
            if let Some(before) = before.strip_suffix('$') {
                literal.push_str(before);
                literal.push_str("${");
                rest = inside;
                continue;
            }
            literal.push_str(before);
            let unended = "${ without } (write $${ for a literal ${)";
            let (variable, after) = if let Some((function, text)) = Function::at(inside) {
                let end = end_of(text, b'}').ok_or(unended)?;
                let escape = escape(&literal);
                (Piece::Made(Box::new(Made::new(function, &text[..end], scope)?), escape), &text[end + 1..])
            } else {
                let (name, after) = inside.split_once('}').ok_or(unended)?;
                let escape = escape(&literal);
                let piece = match scope.token(name) {
                    Some(kind) => Piece::Token(Box::new(Token::new(kind, scope)?)),
                    None => Piece::Variable(scope.resolve(name)?, escape),
                };
                (piece, after)
            };
            if !literal.is_empty() {
                pieces.push(Piece::Literal(std::mem::take(&mut literal)));
            }
            pieces.push(variable);
            rest = after;
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        Ok(Self { pieces: pieces.into() })
    }

    /// The text, if it has no variables.
    pub(crate) fn constant(&self) -> Option<&str> {
        match &*self.pieces {
            [] => Some(""),
            [Piece::Literal(literal)] => Some(literal),
            _ => None,
        }
    }

    /// The constant start of the text.
    pub(crate) fn start(&self) -> &str {
        if let Some(Piece::Literal(literal)) = self.pieces.first() { literal } else { "" }
    }

    /// The directory of a path, if it is the same for all values. No value has a / of its own: it is encoded.
    pub(crate) fn directory(&self) -> Option<&str> {
        let (mut directory, mut is_varied) = ("/", false);
        for piece in &self.pieces {
            let Piece::Literal(text) = piece else {
                is_varied = true;
                continue;
            };
            let path = text.split('?').next().unwrap_or_default();
            if path.contains('/') {
                if is_varied {
                    return None;
                }
                directory = directory_of(text);
            }
            if path.len() < text.len() {
                break;
            }
        }
        Some(directory)
    }

    /// Puts a constant before the text.
    pub(crate) fn prepend(&mut self, text: &str) {
        let mut pieces = vec![Piece::Literal(text.to_owned())];
        pieces.extend(std::mem::take(&mut self.pieces));
        if let [Piece::Literal(text), Piece::Literal(next), ..] = &mut pieces[..] {
            // One literal, so that a constant stays one.
            text.push_str(next);
            pieces.remove(1);
        }
        self.pieces = pieces.into();
    }

    /// The text with an example value for each variable.
    pub(crate) fn example(&self) -> String {
        self.pieces.iter().map(Piece::example).collect()
    }

    /// The sources of its values.
    pub(crate) fn sources(&self) -> Vec<Source> {
        let sources = |piece: &Piece| match piece {
            Piece::Literal(_) => Vec::new(),
            Piece::Variable(source, _) => vec![*source],
            Piece::Made(made, _) => made.key.sources().into_iter().chain(made.text.sources()).collect(),
            // Its times make it another one at another time.
            Piece::Token(token) => {
                token.templates().flat_map(Template::sources).chain(std::iter::once(Source::Unix)).collect()
            }
        };
        self.pieces.iter().flat_map(sources).collect()
    }

    /// The feeders whose cells it uses.
    pub(crate) fn feeders(&self) -> impl Iterator<Item = u32> {
        let sources = self.sources().into_iter();
        sources.filter_map(|source| if let Source::Cell { feeder, .. } = source { Some(feeder) } else { None })
    }

    /// Appends the text with its values.
    pub(crate) fn render(&self, context: &mut Context<'_>, out: &mut String) -> Result<(), Missing> {
        for piece in &self.pieces {
            match piece {
                Piece::Literal(literal) => out.push_str(literal),
                Piece::Variable(source, escape) => context.push(*source, *escape, out)?,
                Piece::Made(made, escape) => {
                    let (mut key, mut text) = (String::new(), String::new());
                    made.key.render(context, &mut key)?;
                    made.text.render(context, &mut text)?;
                    escape.push(&made.function.apply(&key, &text), out);
                }
                Piece::Token(token) => token.render(context, out)?,
            }
        }
        Ok(())
    }
}

impl Made {
    fn new(function: Function, text: &str, scope: Scope<'_>) -> Result<Self, String> {
        if scope.depth == DEEPEST {
            return Err(format!("more than {DEEPEST} functions are in each other"));
        }
        let scope = Scope { depth: scope.depth + 1, ..scope };
        if !function.is_keyed() {
            return Ok(Self { function, key: Template::default(), text: Template::raw(text, scope)? });
        }
        let end = end_of(text, b':').ok_or("it needs a key and a text, as in ${hmac_sha256:KEY:TEXT}")?;
        let (key, text) = (Template::raw(&text[..end], scope)?, Template::raw(&text[end + 1..], scope)?);
        Ok(Self { function, key, text })
    }
}

/// The end of a text that may have variables: the first such byte that is in none of them.
fn end_of(text: &str, end: u8) -> Option<usize> {
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' if text[..at].ends_with('$') && !text[..at].ends_with("$$") => depth += 1,
            byte if byte == end && depth == 0 => return Some(at),
            b'}' if depth > 0 => depth -= 1,
            _ => {}
        }
    }
    None
}

impl Piece {
    fn example(&self) -> &str {
        if let Piece::Literal(literal) = self { literal } else { "x" }
    }
}

/// Whether a position in a JSON text is inside a string.
#[derive(Debug, Default)]
struct Strings {
    inside: bool,
}

impl Strings {
    /// A variable never follows a single backslash: that would not be JSON.
    fn read(&mut self, literal: &str) {
        let mut bytes = literal.bytes();
        while let Some(byte) = bytes.next() {
            match byte {
                b'"' => self.inside = !self.inside,
                b'\\' if self.inside => drop(bytes.next()),
                _ => {}
            }
        }
    }
}

impl Context<'_> {
    fn push(&mut self, source: Source, escape: Escape, out: &mut String) -> Result<(), Missing> {
        match source {
            Source::Cell { feeder, column } => {
                let row = self.session.row(feeder);
                escape.push(self.feeders[feeder as usize].cell(row, column), out);
            }
            Source::Extracted(number) => escape.push(self.session.value(number).ok_or(Missing(number))?, out),
            Source::Now => {
                let time = iso((self.clock)());
                escape.push(std::str::from_utf8(&time).expect("it is ASCII"), out);
            }
            // The others consist of letters, digits and dashes, which need no escaping.
            Source::Iteration => push_number(self.session.iteration(), out),
            Source::User => push_number(self.session.user(), out),
            Source::Repetition { number, from } => {
                push_number(u64::from(from) + u64::from(self.session.done(number)), out);
            }
            Source::Random => push_number(self.random.below(1 << 31), out),
            Source::Uuid => self.random.push_uuid(out),
            Source::Text(length) => self.random.push_text(length, out),
            Source::Unix => push_number((self.clock)().div_euclid(1000), out),
            Source::UnixMillis => push_number((self.clock)(), out),
        }
        Ok(())
    }
}

fn push_number(number: impl Display, out: &mut String) {
    write!(out, "{number}").expect("writing to a String does not fail");
}

impl Escape {
    fn push(self, value: &str, out: &mut String) {
        match self {
            Escape::Raw => out.push_str(value),
            Escape::Percent => out.extend(utf8_percent_encode(value, RESERVED)),
            Escape::Json => push_json(value, out),
        }
    }
}

/// Appends `value` escaped for a JSON string.
fn push_json(value: &str, out: &mut String) {
    let mut rest = value;
    while let Some(at) = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)) {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            byte @ (b'"' | b'\\') => out.extend(['\\', byte.into()]),
            byte => write!(out, "\\u{byte:04x}").expect("writing to a String does not fail"),
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}
