//! A JSON text as Python values: those that `json.loads` makes of it.

use std::sync::MutexGuard;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::json_names::{Names, names};

/// Deeper values are left to `json`, which knows how deep the stack of Python may become.
const MAX_DEPTH: usize = 32;

/// The value of a text in UTF-8. None: it is left to `json`, which raises its own error or knows more: NaN, large
/// integers, halves of surrogate pairs.
pub(crate) fn value<'py>(py: Python<'py>, text: &[u8]) -> Option<Bound<'py, PyAny>> {
    let text = std::str::from_utf8(text).ok()?;
    let mut reader = Reader { py, text, at: 0, names: names() };
    reader.skip_space();
    let value = reader.value(0)?;
    reader.skip_space();
    (reader.at == text.len()).then_some(value)
}

struct Reader<'a, 'py> {
    py: Python<'py>,
    text: &'a str,
    /// Always at the start of a character.
    at: usize,
    names: Option<MutexGuard<'static, Names>>,
}

impl<'py> Reader<'_, 'py> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn takes(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Option<Bound<'py, PyAny>> {
        match self.peek()? {
            b'"' => Some(self.string()?.into_any()),
            b'{' if depth < MAX_DEPTH => Some(self.object(depth + 1)?.into_any()),
            b'[' if depth < MAX_DEPTH => Some(self.array(depth + 1)?.into_any()),
            b't' => self.word("true", PyBool::new(self.py, true).to_owned().into_any()),
            b'f' => self.word("false", PyBool::new(self.py, false).to_owned().into_any()),
            b'n' => self.word("null", self.py.None().into_bound(self.py)),
            b'-' | b'0'..=b'9' => self.number(),
            _ => None,
        }
    }

    fn word(&mut self, word: &str, value: Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        self.text[self.at..].starts_with(word).then(|| {
            self.at += word.len();
            value
        })
    }

    fn object(&mut self, depth: usize) -> Option<Bound<'py, PyDict>> {
        let object = PyDict::new(self.py);
        self.at += 1;
        self.skip_space();
        if self.takes(b'}') {
            return Some(object);
        }
        loop {
            let name = self.name()?;
            self.skip_space();
            if !self.takes(b':') {
                return None;
            }
            self.skip_space();
            let value = self.value(depth)?;
            object.set_item(name, value).ok()?;
            self.skip_space();
            if self.takes(b'}') {
                return Some(object);
            }
            if !self.takes(b',') {
                return None;
            }
            self.skip_space();
        }
    }

    fn array(&mut self, depth: usize) -> Option<Bound<'py, PyList>> {
        let mut items = Vec::new();
        self.at += 1;
        self.skip_space();
        if !self.takes(b']') {
            loop {
                items.push(self.value(depth)?);
                self.skip_space();
                if self.takes(b']') {
                    break;
                }
                if !self.takes(b',') {
                    return None;
                }
                self.skip_space();
            }
        }
        PyList::new(self.py, items).ok()
    }

    fn name(&mut self) -> Option<Bound<'py, PyString>> {
        let start = self.at;
        if let Some(names) = &mut self.names
            && self.text[start..].starts_with('"')
            && let Some(length) = plain_length(&self.text[start + 1..])
        {
            self.at = start + length + 2;
            return Some(names.get(self.py, &self.text[start + 1..=start + length]));
        }
        self.string()
    }

    fn string(&mut self) -> Option<Bound<'py, PyString>> {
        if !self.takes(b'"') {
            return None;
        }
        let start = self.at;
        self.skip_plain()?;
        if self.takes(b'"') {
            return Some(PyString::new(self.py, &self.text[start..self.at - 1]));
        }
        let mut text = self.text[start..self.at].to_owned();
        while !self.takes(b'"') {
            self.at += 1;
            text.push(self.escaped()?);
            let start = self.at;
            self.skip_plain()?;
            text.push_str(&self.text[start..self.at]);
        }
        Some(PyString::new(self.py, &text))
    }

    /// Goes to the next quote or backslash. None: there is none, or a control character stands before it.
    fn skip_plain(&mut self) -> Option<()> {
        let rest = &self.text.as_bytes()[self.at..];
        let end = rest.iter().position(|&byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))?;
        self.at += end;
        (rest[end] > 0x1f).then_some(())
    }

    /// The character of an escape sequence, after its backslash.
    fn escaped(&mut self) -> Option<char> {
        let kind = self.peek()?;
        self.at += usize::from(kind.is_ascii());
        match kind {
            b'"' | b'\\' | b'/' => Some(kind.into()),
            b'b' => Some('\u{8}'),
            b'f' => Some('\u{c}'),
            b'n' => Some('\n'),
            b'r' => Some('\r'),
            b't' => Some('\t'),
            b'u' => {
                let first = self.unit()?;
                let is_pair = matches!(first, 0xd800..0xdc00) && self.takes(b'\\') && self.takes(b'u');
                let second = if is_pair { Some(self.unit()?) } else { None };
                char::decode_utf16([first].into_iter().chain(second)).next()?.ok()
            }
            _ => None,
        }
    }

    fn unit(&mut self) -> Option<u16> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
    }

    fn number(&mut self) -> Option<Bound<'py, PyAny>> {
        let start = self.at;
        self.takes(b'-');
        if !self.takes(b'0') {
            self.digits()?;
        }
        let whole = self.at;
        if self.takes(b'.') {
            self.digits()?;
        }
        if self.takes(b'e') || self.takes(b'E') {
            let _ = self.takes(b'+') || self.takes(b'-');
            self.digits()?;
        }
        let text = &self.text[start..self.at];
        if self.at == whole {
            return Some(PyInt::new(self.py, text.parse::<i64>().ok()?).into_any());
        }
        Some(PyFloat::new(self.py, text.parse().ok()?).into_any())
    }

    /// Skips digits, of which there must be one.
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }
}

/// Bytes up to the quote that ends a text; None: something else comes before it.
fn plain_length(text: &str) -> Option<usize> {
    let end = text.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))?;
    (text.as_bytes()[end] == b'"').then_some(end)
}
