//! Groups failure messages: replaces the parts that change from request to request by placeholders.
//!
//! | text | placeholder |
//! |---|---|
//! | a duration (a number with a unit of time); a number with four or more digits, or three decimals, or an exponent; a whole segment of a path that is a number | `[number]` |
//! | a UUID; eight or more hexadecimal digits, or sixteen or more letters and digits, that are both letters and digits | `[id]` |
//! | an address in memory; an IP address, with its port | `[address]` |
//! | a date, a time of day | `[time]` |
//!
//! Small numbers stay: they are statuses, error numbers and counts. Numbers of up to five digits also stay right after
//! a word such as `code`, `status` or `…Error`.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Words after which a number is a code; also as the end of a longer word.
const CODES: [&str; 8] = ["code", "status", "errno", "error", "exception", "exit", "signal", "sqlstate"];
const LONGEST_CODE: usize = 5;
const UNITS: [&str; 24] = [
    "s",
    "ms",
    "us",
    "\u{b5}s",
    "\u{3bc}s",
    "ns",
    "sec",
    "secs",
    "second",
    "seconds",
    "msec",
    "msecs",
    "millisecond",
    "milliseconds",
    "microseconds",
    "nanoseconds",
    "min",
    "mins",
    "minute",
    "minutes",
    "h",
    "hour",
    "hours",
    "days",
];
const LONGEST_UNIT: usize = 12;

/// Appends `text` to `into` with placeholders. Returns false, and appends nothing, if nothing changes.
pub(crate) fn group(text: &str, into: &mut String) -> bool {
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let mut scan = Scan { text, bytes: text.as_bytes(), into, copied: 0 };
    scan.run();
    let changed = scan.copied > 0;
    if changed {
        let rest = scan.copied;
        into.push_str(&text[rest..]);
    }
    changed
}

struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    into: &'a mut String,
    /// Offset up to which the text was copied.
    copied: usize,
}

impl Scan<'_> {
    fn run(&mut self) {
        let (mut at, mut in_path) = (0, false);
        while at < self.bytes.len() {
            let byte = self.bytes[at];
            if byte.is_ascii_alphanumeric() {
                at = self.word(at, in_path);
                continue;
            }
            in_path = match byte {
                b'/' => in_path || at == 0 || !self.bytes[at - 1].is_ascii_alphanumeric(),
                b' ' | b'\t' | b'\n' | b'\r' | b'\'' | b'"' | b'`' | b',' | b')' | b'>' | b']' => false,
                _ => in_path,
            };
            at += 1;
        }
    }

    /// Handles the word at `at`, and returns its end.
    fn word(&mut self, at: usize, in_path: bool) -> usize {
        let end = self.end_of_word(at);
        let word = &self.bytes[at..end];
        let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
        let is_hex = word.iter().all(u8::is_ascii_hexdigit);
        if is_hex && let Some((placeholder, end)) = self.id_or_address(at).or_else(|| self.time(at)) {
            return self.replace(at, end, placeholder);
        }
        if digits == 0 {
            return end;
        }
        if word.len() >= 6 && word.starts_with(b"0x") && word[2..].iter().all(u8::is_ascii_hexdigit) {
            return self.replace(at, end, "[address]");
        }
        if word[0].is_ascii_digit()
            && let Some((placeholder, end)) = self.number(at, in_path)
        {
            return if placeholder.is_empty() { end } else { self.replace(at, end, placeholder) };
        }
        let letters = word.len() - digits;
        if (is_hex && word.len() >= 8 && letters > 0) || (word.len() >= 16 && digits >= 3 && letters >= 3) {
            return self.replace(at, end, "[id]");
        }
        self.long_numbers(at, end);
        end
    }

    fn replace(&mut self, from: usize, to: usize, placeholder: &str) -> usize {
        self.into.push_str(&self.text[self.copied..from]);
        self.into.push_str(placeholder);
        self.copied = to;
        to
    }

    fn end_of_word(&self, at: usize) -> usize {
        at + self.bytes[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count()
    }

    fn digits(&self, at: usize) -> usize {
        self.bytes[at.min(self.bytes.len())..].iter().take_while(|byte| byte.is_ascii_digit()).count()
    }

    fn ends_word(&self, at: usize) -> bool {
        self.bytes.get(at).is_none_or(|byte| !byte.is_ascii_alphanumeric())
    }

    fn id_or_address(&self, at: usize) -> Option<(&'static str, usize)> {
        let rest = &self.bytes[at..];
        if rest.len() >= 36 && is_uuid(&rest[..36]) && self.ends_word(at + 36) {
            return Some(("[id]", at + 36));
        }
        let long = rest.iter().take(45).take_while(|byte| byte.is_ascii_hexdigit() || matches!(byte, b'.' | b':'));
        let found = self.text[at..at + long.count()].trim_end_matches(['.', ':']);
        if found.bytes().filter(|byte| *byte == b':').count() >= 2 {
            let is_address = self.ends_word(at + found.len()) && found.parse::<Ipv6Addr>().is_ok();
            return is_address.then_some(("[address]", at + found.len()));
        }
        let (host, port) = found.split_once(':').unwrap_or((found, ""));
        let end = at + found.len();
        let is_address = host.len() >= 7 && self.ends_word(end) && host.parse::<Ipv4Addr>().is_ok();
        (is_address && port.bytes().all(|byte| byte.is_ascii_digit())).then_some(("[address]", end))
    }

    /// A date, a time of day, or both: 2024-01-31T12:00:00.5Z
    fn time(&self, at: usize) -> Option<(&'static str, usize)> {
        let date = self.fields(at, &[4, 2, 2], b"-/");
        let clock_at = match date {
            Some(end) if matches!(self.bytes.get(end), Some(b'T' | b' ')) => end + 1,
            Some(end) => end,
            None => at,
        };
        let Some(mut end) = self.fields(clock_at, &[2, 2, 2], b":") else {
            return date.filter(|end| self.ends_word(*end)).map(|end| ("[time]", end));
        };
        if matches!(self.bytes.get(end), Some(b'.' | b',')) && self.digits(end + 1) > 0 {
            end += 1 + self.digits(end + 1);
        }
        if self.bytes.get(end) == Some(&b'Z') {
            end += 1;
        } else if matches!(self.bytes.get(end), Some(b'+' | b'-')) {
            end = self.fields(end + 1, &[2, 2], b":").or_else(|| self.fields(end + 1, &[4], b"")).unwrap_or(end);
        }
        self.ends_word(end).then_some(("[time]", end))
    }

    /// The end of numbers with these lengths, separated by one of these characters.
    fn fields(&self, mut at: usize, lengths: &[usize], between: &[u8]) -> Option<usize> {
        for (place, length) in lengths.iter().enumerate() {
            if place > 0 {
                at += usize::from(self.bytes.get(at).is_some_and(|byte| between.contains(byte)));
            }
            if self.digits(at) != *length || (place > 0 && !between.contains(&self.bytes[at - 1])) {
                return None;
            }
            at += length;
        }
        Some(at)
    }

    /// (placeholder, end); "" for a number that stays. None: not a number.
    fn number(&self, at: usize, in_path: bool) -> Option<(&'static str, usize)> {
        let whole = self.digits(at);
        let mut end = at + whole;
        let mut decimals = 0;
        if self.bytes.get(end) == Some(&b'.') {
            decimals = self.digits(end + 1);
            if decimals > 0 {
                end += 1 + decimals;
            }
        }
        if let Some(end) =
            self.exponent(end, decimals > 0).filter(|end| self.ends_word(*end) || self.is_before_a_unit(*end))
        {
            return Some(("[number]", end));
        }
        if self.is_before_a_unit(end) {
            return Some(("[number]", end));
        }
        if !self.ends_word(end) {
            return None;
        }
        if self.bytes.get(end) == Some(&b'.') && self.digits(end + 1) > 0 {
            // A version with three or more parts.
            return Some(("", end));
        }
        let changes = if decimals > 0 {
            decimals >= 3 || whole >= 4
        } else {
            (whole >= 4 && !(whole <= LONGEST_CODE && self.is_after_code(at))) || (in_path && self.is_segment(at, end))
        };
        Some((if changes { "[number]" } else { "" }, end))
    }

    /// The end of an exponent that begins here: e-05. An exponent without a sign needs decimals before it.
    fn exponent(&self, at: usize, has_decimals: bool) -> Option<usize> {
        let sign = usize::from(matches!(self.bytes.get(at + 1), Some(b'+' | b'-')));
        let digits = self.digits(at + 1 + sign);
        let is_one = matches!(self.bytes.get(at), Some(b'e' | b'E')) && digits > 0 && (sign > 0 || has_decimals);
        is_one.then_some(at + 1 + sign + digits)
    }

    fn is_before_a_unit(&self, end: usize) -> bool {
        let rest = &self.text[end..];
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        let unit = |character: char| character.is_ascii_alphanumeric() || matches!(character, '\u{b5}' | '\u{3bc}');
        let length: usize = rest.chars().take(LONGEST_UNIT + 1).take_while(|c| unit(*c)).map(char::len_utf8).sum();
        length > 0 && UNITS.contains(&&rest[..length])
    }

    /// Whether the number follows a word such as "code", with at most a few signs and spaces between them.
    fn is_after_code(&self, at: usize) -> bool {
        let signs = self.bytes[..at].iter().rev().take(3);
        let signs =
            signs.take_while(|byte| matches!(byte, b' ' | b':' | b'=' | b'#' | b'(' | b'[' | b'"' | b'\'')).count();
        let before = &self.bytes[..at - signs];
        signs > 0
            && CODES.iter().any(|code| {
                before.len() >= code.len() && before[before.len() - code.len()..].eq_ignore_ascii_case(code.as_bytes())
            })
    }

    fn is_segment(&self, at: usize, end: usize) -> bool {
        let next = self.bytes.get(end);
        at > 0 && self.bytes[at - 1] == b'/' && !matches!(next, Some(b'.' | b'-' | b'_' | b'%' | b'~' | b':'))
    }

    /// Replaces runs of four or more digits inside a word: user10234.
    fn long_numbers(&mut self, mut at: usize, end: usize) {
        while at < end {
            let digits = self.digits(at);
            if digits >= 4 {
                self.replace(at, at + digits, "[number]");
            }
            at += digits.max(1);
        }
    }
}

fn is_uuid(bytes: &[u8]) -> bool {
    bytes.iter().enumerate().all(|(place, byte)| match place {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}

#[cfg(test)]
mod tests;
