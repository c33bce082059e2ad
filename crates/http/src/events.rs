//! Events in the body of a response that goes on: server-sent events, or lines.

use std::fmt::{self, Display, Formatter};

use memchr::{memchr, memchr2};

/// The byte order mark that may come before server-sent events.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// How events are written in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventFormat {
    /// `text/event-stream`, parsed as the HTML standard says.
    Sse,
    /// A line that is not empty is an event, as in NDJSON. LF or CRLF ends it, or the end of the body.
    Lines,
}

/// One event. Its texts are UTF-8 if the sender keeps to the standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// The value of its last `event` field; empty means `message`.
    pub name: &'a [u8],
    /// The lines of its data, joined by LF. For [`EventFormat::Lines`] the line.
    pub data: &'a [u8],
    /// The last event ID: the value of the newest `id` field so far.
    pub id: &'a [u8],
    /// The reconnection time in ms: the value of the newest `retry` field so far.
    pub retry: Option<u64>,
}

/// An event is longer than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventTooLong {
    /// Bytes.
    pub limit: u64,
}

impl Display for EventTooLong {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "an event is longer than the limit of {} bytes", self.limit)
    }
}

impl std::error::Error for EventTooLong {}

/// Finds the events in a body that arrives in pieces. How the body is cut makes no difference.
#[derive(Debug)]
pub struct EventSplitter {
    format: EventFormat,
    /// Maximum bytes of a line, and of the data of an event.
    limit: u64,
    /// The start of a line whose end has not arrived.
    line: Vec<u8>,
    /// The last byte was the CR of a line: a LF that follows belongs to it.
    after_cr: bool,
    /// The first line has ended.
    begun: bool,
    fields: Fields,
}

/// The fields of the event that has not ended.
#[derive(Debug, Default)]
struct Fields {
    name: Vec<u8>,
    /// Each line with a LF after it.
    data: Vec<u8>,
    id: Vec<u8>,
    retry: Option<u64>,
}

impl EventSplitter {
    /// `limit`: maximum bytes of an event.
    pub fn new(format: EventFormat, limit: u64) -> EventSplitter {
        EventSplitter { format, limit, line: Vec::new(), after_cr: false, begun: false, fields: Fields::default() }
    }

    /// Passes each event that ends in these bytes to `each`. After an error nothing more can be read.
    pub fn feed(&mut self, mut bytes: &[u8], each: &mut dyn FnMut(Event<'_>)) -> Result<(), EventTooLong> {
        while let Some(&next) = bytes.first() {
            if std::mem::take(&mut self.after_cr) && next == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = match self.format {
                EventFormat::Sse => memchr2(b'\r', b'\n', bytes),
                EventFormat::Lines => memchr(b'\n', bytes),
            };
            let piece = &bytes[..end.unwrap_or(bytes.len())];
            self.check(self.line.len() + piece.len())?;
            let Some(end) = end else {
                self.line.extend_from_slice(piece);
                return Ok(());
            };
            self.after_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            if self.line.is_empty() {
                self.take(piece, each)?;
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(piece);
                let taken = self.take(&line, each);
                line.clear();
                self.line = line;
                taken?;
            }
        }
        Ok(())
    }

    /// Bytes of the event whose end has not arrived.
    pub fn unfinished(&self) -> usize {
        self.line.len() + self.fields.data.len()
    }

    /// The body is complete. An unfinished line is an event; an unfinished server-sent event is none.
    pub fn end(&mut self, each: &mut dyn FnMut(Event<'_>)) {
        if self.format == EventFormat::Lines {
            let line = std::mem::take(&mut self.line);
            one_line(&line, each);
        }
    }

    /// Takes a whole line, without its end.
    fn take(&mut self, line: &[u8], each: &mut dyn FnMut(Event<'_>)) -> Result<(), EventTooLong> {
        if self.format == EventFormat::Lines {
            one_line(line, each);
            return Ok(());
        }
        let is_first = !std::mem::replace(&mut self.begun, true);
        let line = line.strip_prefix(BOM).filter(|_| is_first).unwrap_or(line);
        self.fields.line(line, each);
        self.check(self.fields.data.len().saturating_sub(1))
    }

    fn check(&self, length: usize) -> Result<(), EventTooLong> {
        if length as u64 > self.limit { Err(EventTooLong { limit: self.limit }) } else { Ok(()) }
    }
}

impl Fields {
    /// A line of server-sent events.
    fn line(&mut self, line: &[u8], each: &mut dyn FnMut(Event<'_>)) {
        if line.is_empty() {
            return self.dispatch(each);
        }
        let (field, value) = match memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                self.data.extend_from_slice(value);
                self.data.push(b'\n');
            }
            b"event" => replace(&mut self.name, value),
            b"id" if !value.contains(&0) => replace(&mut self.id, value),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let digits = std::str::from_utf8(value).ok();
                self.retry = digits.and_then(|digits| digits.parse().ok()).or(self.retry);
            }
            // A comment, or a field of which the standard does not know.
            _ => {}
        }
    }

    /// The end of an event. One without data is none.
    fn dispatch(&mut self, each: &mut dyn FnMut(Event<'_>)) {
        if let Some((_, data)) = self.data.split_last() {
            each(Event { name: &self.name, data, id: &self.id, retry: self.retry });
        }
        self.data.clear();
        self.name.clear();
    }
}

/// Passes a line that is not empty.
fn one_line(line: &[u8], each: &mut dyn FnMut(Event<'_>)) {
    let data = line.strip_suffix(b"\r").unwrap_or(line);
    if !data.is_empty() {
        each(Event { name: &[], data, id: &[], retry: None });
    }
}

fn replace(old: &mut Vec<u8>, new: &[u8]) {
    old.clear();
    old.extend_from_slice(new);
}
