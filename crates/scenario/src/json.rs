//! JSON of a target, read from its bytes without a tree: a text of 60 MB may become a tree of 5 GB.
//!
//! The whole text is checked. Two things are more lenient than in other readers, because clients in other languages
//! accept them: half of a surrogate pair becomes U+FFFD, and a number may be larger than a `f64`.

pub(crate) mod pointers;
pub(crate) mod values;

use std::borrow::Cow;

/// How deep lists and objects may be in each other.
const MOST_DEPTH: u32 = 128;

/// Why a text is not the JSON that was wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mistake(pub(crate) String);

pub(crate) type Read<T> = Result<T, Mistake>;

/// Reads a JSON text from its start to its end, value by value.
#[derive(Debug)]
pub(crate) struct Walker<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
}

/// A string as it is written, without its quotes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) raw: &'a str,
    has_escapes: bool,
}

impl<'a> Walker<'a> {
    /// The error says that the bytes are not UTF-8.
    pub(crate) fn new(bytes: &'a [u8]) -> Read<Walker<'a>> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Walker::of(text)),
            Err(error) => Err(Mistake(error.to_string())),
        }
    }

    pub(crate) fn of(text: &'a str) -> Walker<'a> {
        Walker { text, at: 0, depth: 0 }
    }

    /// The first byte of the next value, or the next separator; 0 at the end of the text.
    #[inline]
    pub(crate) fn peek(&mut self) -> u8 {
        loop {
            match self.byte() {
                b' ' | b'\n' | b'\t' | b'\r' => self.at += 1,
                byte => return byte,
            }
        }
    }

    /// Nothing but white space follows.
    pub(crate) fn end(&mut self) -> Read<()> {
        self.peek();
        if self.at == self.text.len() { Ok(()) } else { Err(self.mistake("end of the text")) }
    }

    /// Skips a value.
    pub(crate) fn skip(&mut self) -> Read<()> {
        match self.peek() {
            b'"' => self.string().map(drop),
            b'{' => self.object(|walker, _| walker.skip()),
            b'[' => self.array(|walker, _| walker.skip()),
            b'-' | b'0'..=b'9' => self.number().map(drop),
            _ => self.word().map(drop),
        }
    }

    /// Whether the next value is null, or nothing that a value begins with.
    pub(crate) fn is_null(&mut self) -> bool {
        self.peek() == b'n'
    }

    /// Skips a value, and returns how it is written.
    pub(crate) fn raw(&mut self) -> Read<&'a str> {
        self.peek();
        let start = self.at;
        self.skip()?;
        Ok(&self.text[start..self.at])
    }

    /// Reads an object. `each` gets the name of a member, and reads its value.
    pub(crate) fn object(&mut self, mut each: impl FnMut(&mut Self, Text<'a>) -> Read<()>) -> Read<()> {
        self.enter(b'{', "object")?;
        if self.peek() != b'}' {
            loop {
                self.peek();
                let name = self.string()?;
                if self.peek() != b':' {
                    return Err(self.mistake("`:`"));
                }
                self.at += 1;
                each(self, name)?;
                match self.peek() {
                    b',' => self.at += 1,
                    b'}' => break,
                    _ => return Err(self.mistake("`,` or `}`")),
                }
            }
        }
        self.leave();
        Ok(())
    }

    /// Reads a list. `each` gets the index of an item, and reads it.
    pub(crate) fn array(&mut self, mut each: impl FnMut(&mut Self, usize) -> Read<()>) -> Read<()> {
        self.enter(b'[', "list")?;
        if self.peek() != b']' {
            for index in 0.. {
                each(self, index)?;
                match self.peek() {
                    b',' => self.at += 1,
                    b']' => break,
                    _ => return Err(self.mistake("`,` or `]`")),
                }
            }
        }
        self.leave();
        Ok(())
    }

    /// Reads a string. It begins here.
    pub(crate) fn string(&mut self) -> Read<Text<'a>> {
        if self.byte() != b'"' {
            return Err(self.mistake("string"));
        }
        self.at += 1;
        let (start, mut has_escapes) = (self.at, false);
        loop {
            self.at = plain_end(self.text.as_bytes(), self.at);
            match self.text.as_bytes().get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                _ => return Err(self.mistake("end of string")),
            }
            has_escapes = true;
        }
        self.at += 1;
        Ok(Text { raw: &self.text[start..self.at - 1], has_escapes })
    }

    /// Reads a number as it is written. It begins here.
    pub(crate) fn number(&mut self) -> Read<&'a str> {
        let start = self.at;
        self.at += usize::from(self.byte() == b'-');
        if self.byte() == b'0' {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.byte() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.byte(), b'e' | b'E') {
            self.at += 1;
            self.at += usize::from(matches!(self.byte(), b'+' | b'-'));
            self.digits()?;
        }
        Ok(&self.text[start..self.at])
    }

    /// Reads true, false or null. It begins here.
    pub(crate) fn word(&mut self) -> Read<&'static str> {
        let word = match self.byte() {
            b't' => "true",
            b'f' => "false",
            b'n' => "null",
            _ => return Err(self.mistake("value")),
        };
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(self.mistake(word));
        }
        self.at += word.len();
        Ok(word)
    }

    /// Skips one byte, which [`peek`](Walker::peek) has shown.
    fn step(&mut self) {
        self.at += 1;
    }

    #[inline]
    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn enter(&mut self, opening: u8, name: &str) -> Read<()> {
        match self.peek() {
            found if found == opening => {}
            b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => return Err(self.mistake(name)),
            _ => return Err(self.mistake("value")),
        }
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(Mistake(format!("it has more than {MOST_DEPTH} lists and objects in each other")));
        }
        self.at += 1;
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
        self.at += 1;
    }

    fn digits(&mut self) -> Read<()> {
        let start = self.at;
        while self.byte().is_ascii_digit() {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(self.mistake("digit")) }
    }

    fn escape(&mut self) -> Read<()> {
        let bytes = &self.text.as_bytes()[self.at + 1..];
        match bytes.first() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') if bytes.get(1..5).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) => {
                self.at += 6;
            }
            _ => return Err(self.mistake("escape of JSON")),
        }
        Ok(())
    }

    /// What was expected here.
    #[cold]
    pub(crate) fn mistake(&self, expected: &str) -> Mistake {
        let before = &self.text[..self.text.floor_char_boundary(self.at)];
        let line = 1 + before.matches('\n').count();
        let column = 1 + before.len() - before.rfind('\n').map_or(0, |end| end + 1);
        let found = if self.at < self.text.len() { "" } else { " and not the end" };
        Mistake(format!("expected {expected}{found} at line {line} column {column}"))
    }
}

impl<'a> Text<'a> {
    pub(crate) fn get(&self) -> Cow<'a, str> {
        if self.has_escapes { unescaped(self.raw).into() } else { self.raw.into() }
    }
}

/// Position of the first byte from `at` on that is a quote, a backslash or a control character.
#[inline]
fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    while let Some(eight) = bytes.get(at..at + 8) {
        let word = u64::from_le_bytes(eight.try_into().expect("8 bytes"));
        let is_zero = |word: u64| word.wrapping_sub(ONES) & !word;
        let is_control = word.wrapping_sub(ONES * 0x20) & !word;
        let (quote, backslash) = (word ^ (ONES * u64::from(b'"')), word ^ (ONES * u64::from(b'\\')));
        let found = (is_zero(quote) | is_zero(backslash) | is_control) & HIGH;
        if found != 0 {
            // Only the lowest mark is certain; a borrow may set those above it.
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while bytes.get(at).is_some_and(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20)) {
        at += 1;
    }
    at
}

/// The text of a string with escapes. Those that are cut at its end are left out.
fn unescaped(raw: &str) -> String {
    let (mut text, mut rest) = (String::with_capacity(raw.len()), raw);
    while let Some((before, after)) = rest.split_once('\\') {
        text.push_str(before);
        let mut letters = after.chars();
        let escaped = letters.next();
        rest = letters.as_str();
        text.extend(match escaped {
            Some('b') => Some('\u{8}'),
            Some('f') => Some('\u{c}'),
            Some('n') => Some('\n'),
            Some('r') => Some('\r'),
            Some('t') => Some('\t'),
            Some('u') => Some(character(&mut rest)),
            same => same,
        });
    }
    text.push_str(rest);
    text
}

/// The character of `\u` and its digits, and of the other half of its pair. A lone half is U+FFFD.
fn character(rest: &mut &str) -> char {
    let unit = |digits: Option<&str>| digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let first = unit(rest.get(..4)).unwrap_or(0xd800);
    *rest = rest.get(4..).unwrap_or_default();
    let second = rest.strip_prefix("\\u").and_then(|digits| unit(digits.get(..4)));
    if let (0xd800..0xdc00, Some(second @ 0xdc00..0xe000)) = (first, second) {
        *rest = &rest[6..];
        return char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)).expect("a pair of surrogates");
    }
    char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
pub(crate) mod tests;
