//! A JSON text as Python values: those that `json.loads` makes of it.

use std::sync::MutexGuard;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::json_texts::{Key, Texts, texts};
use crate::words::{BYTES, plain_bytes, word};

/// Deeper values are left to `json`, which knows how deep the stack of Python may become.
const MAX_DEPTH: usize = 32;

/// The value of a text in UTF-8. None: it is left to `json`, which raises its own error or knows more: NaN, large
/// integers, halves of surrogate pairs.
pub(crate) fn value<'py>(py: Python<'py>, text: &[u8]) -> Option<Bound<'py, PyAny>> {
    let mut reader = Reader { py, text, at: 0, texts: texts() };
    reader.skip_space();
    let value = reader.value(0)?;
    reader.skip_space();
    (reader.at == text.len()).then_some(value)
}

struct Reader<'a, 'py> {
    py: Python<'py>,
    text: &'a [u8],
    at: usize,
    texts: Option<MutexGuard<'static, Texts>>,
}

impl<'py> Reader<'_, 'py> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
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
            b't' => self.word(b"true", PyBool::new(self.py, true).to_owned().into_any()),
            b'f' => self.word(b"false", PyBool::new(self.py, false).to_owned().into_any()),
            b'n' => self.word(b"null", self.py.None().into_bound(self.py)),
            b'-' | b'0'..=b'9' => self.number(),
            _ => None,
        }
    }

    fn word(&mut self, word: &[u8], value: Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
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
            let name = self.string()?;
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

    fn string(&mut self) -> Option<Bound<'py, PyString>> {
        if !self.takes(b'"') {
            return None;
        }
        let mut key = Key::default();
        for (index, part) in key.iter_mut().enumerate() {
            let word = word(self.text, self.at + BYTES * index);
            let length = plain_bytes(word);
            if length == BYTES {
                *part = word;
                continue;
            }
            *part = word & !(u64::MAX << (8 * length));
            let end = self.at + BYTES * index + length;
            if let Some(texts) = &mut self.texts
                && self.text.get(end) == Some(&b'"')
            {
                let bytes = &self.text[self.at..end];
                self.at = end + 1;
                return texts.get(self.py, &key, bytes);
            }
            break;
        }
        self.other_string()
    }

    /// A string that is long, or has an escape sequence; after its first quote.
    #[inline(never)]
    fn other_string(&mut self) -> Option<Bound<'py, PyString>> {
        let mut text = self.plain()?.to_owned();
        while !self.takes(b'"') {
            self.at += 1;
            text.push(self.escaped()?);
            text.push_str(self.plain()?);
        }
        Some(PyString::new(self.py, &text))
    }

    /// What comes before the next quote or backslash. None: there is none, a control character stands before it, or it
    /// is not UTF-8.
    fn plain(&mut self) -> Option<&str> {
        let start = self.at;
        while plain_bytes(word(self.text, self.at)) == BYTES {
            self.at += BYTES;
        }
        self.at += plain_bytes(word(self.text, self.at));
        (self.peek()? > 0x1f).then_some(())?;
        str::from_utf8(&self.text[start..self.at]).ok()
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
        digits.iter().try_fold(0, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)? as u16))
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
        let text = str::from_utf8(&self.text[start..self.at]).ok()?;
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
