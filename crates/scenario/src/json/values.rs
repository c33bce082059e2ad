//! What is asked of a JSON value that was found: its text, whether it is a certain number, and its tree.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

use super::{Read, Text, Walker};

/// Bytes of a tree for each further value of a list or an object: the value, and the room that a list keeps to grow.
const VALUE_BYTES: u64 = 128;
/// Bytes of a tree for each list with an item: it has room for four.
const LIST_BYTES: u64 = 128;
/// Bytes of a tree for each object with a member: the first node of a map has room for eleven.
const OBJECT_BYTES: u64 = 640;

/// The content of a string, or the text of another value; null is no value. `raw`: the value as it is written.
pub(crate) fn text_of(raw: &str) -> Option<Cow<'_, str>> {
    let mut walker = Walker::of(raw);
    match walker.peek() {
        b'n' => None,
        b'"' => walker.string().ok().map(|text| text.get()),
        b'{' | b'[' => Some(compact(raw, usize::MAX).into()),
        b'-' | b'0'..=b'9' => Some(number_text(raw)),
        _ => Some(raw.into()),
    }
}

/// A value without white space, for people. It may end early once it has so many bytes.
pub(crate) fn compact(raw: &str, most: usize) -> String {
    let (mut text, mut walker) = (String::new(), Walker::of(raw));
    while text.len() < most {
        let written = match walker.peek() {
            0 => break,
            b'"' => walker.string().map(|string| quoted(&string, most).into()),
            b'-' | b'0'..=b'9' => walker.number().map(number_text),
            b't' | b'f' | b'n' => walker.word().map(Cow::from),
            mark => {
                walker.step();
                text.push(mark.into());
                continue;
            }
        };
        text.push_str(&written.expect("it was read before"));
    }
    text
}

/// A string in its quotes, or more than `most` bytes of it.
fn quoted(string: &Text<'_>, most: usize) -> String {
    // An escape has up to twelve bytes.
    let end = string.raw.floor_char_boundary(most.saturating_mul(12));
    let cut = Text { raw: &string.raw[..end], ..*string };
    Value::String(cut.get().into_owned()).to_string()
}

/// A number as Rust writes it, unless it is larger than Rust's.
fn number_text(raw: &str) -> Cow<'_, str> {
    raw.parse::<Number>().map_or(raw.into(), |number| number.to_string().into())
}

/// Whether a number has this value: 1 and 1.0 are the same. `raw`: the number as it is written.
pub(crate) fn is_number(raw: &str, expected: &Number) -> bool {
    raw.parse::<Number>().is_ok_and(|number| {
        number == *expected || number.as_f64() == expected.as_f64() && (number.is_f64() || expected.is_f64())
    })
}

/// At least the bytes that the tree of this JSON takes.
pub(crate) fn tree_bytes(json: &str) -> u64 {
    let (mut bytes, mut walker) = (json.len() as u64, Walker::of(json));
    loop {
        match walker.peek() {
            0 => return bytes,
            // A string without an end is no JSON, and there is no tree.
            b'"' if walker.string().is_err() => return bytes,
            b'"' => {}
            mark => {
                walker.step();
                bytes += match mark {
                    b',' => VALUE_BYTES,
                    b'[' if walker.peek() != b']' => LIST_BYTES,
                    b'{' if walker.peek() != b'}' => OBJECT_BYTES,
                    _ => 0,
                };
            }
        }
    }
}

/// The tree of a JSON text.
pub(crate) fn tree(walker: &mut Walker<'_>) -> Read<Value> {
    Ok(match walker.peek() {
        b'{' => {
            let mut members = Map::new();
            walker.object(|walker, name| {
                members.insert(name.get().into_owned(), tree(walker)?);
                Ok(())
            })?;
            Value::Object(members)
        }
        b'[' => {
            let mut items = Vec::new();
            walker.array(|walker, _| {
                items.push(tree(walker)?);
                Ok(())
            })?;
            Value::Array(items)
        }
        b'"' => Value::String(walker.string()?.get().into_owned()),
        b'-' | b'0'..=b'9' => {
            let raw = walker.number()?;
            raw.parse().map_or_else(|_| raw.into(), Value::Number)
        }
        _ => match walker.word()? {
            "null" => Value::Null,
            word => Value::Bool(word == "true"),
        },
    })
}
