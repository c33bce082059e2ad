//! What a message takes in memory when it is decoded: known before it is, from its bytes alone.
//!
//! Two bytes are enough for an empty message in a list, and four for one with a field. Decoded, each has a tree of its own.

use prost_reflect::{FieldDescriptor, Kind, MapKey, MessageDescriptor, Value};

/// Memory of an element of a list. A vector that grows has three times the bytes of its elements for a moment.
const ELEMENT: u64 = 3 * size_of::<Value>() as u64;
/// Memory of an entry of a map, without what it refers to.
const ENTRY: u64 = 3 * (size_of::<MapKey>() + size_of::<Value>()) as u64;
/// Memory of the fields of a message, which are a `BTreeMap`: its first node has room for eleven.
const FIRST: u64 = 1024;
/// Memory of a field. A node of a `BTreeMap` that is not the only one has at least five.
const FIELD: u64 = 256;
/// Memory for each byte of a message whose type is not known here.
const WORST: u64 = (FIRST + FIELD + ELEMENT) / 4;
/// How deep prost follows messages in messages.
const DEPTH: u32 = 100;
/// The type of messages in messages that name their own type. They are decoded while the JSON is written.
const ANY: &str = "google.protobuf.Any";

/// The most that decoding takes, bytes. What is no such message is weighed up to the first wrong byte.
pub(crate) fn weight(kind: &MessageDescriptor, message: &[u8]) -> u64 {
    weigh(kind, message, DEPTH)
}

fn weigh(kind: &MessageDescriptor, mut bytes: &[u8], depth: u32) -> u64 {
    if depth == 0 || bytes.is_empty() {
        return 0;
    }
    if kind.full_name() == ANY {
        return FIRST + bytes.len() as u64 * WORST;
    }
    // Fields of a group stand between two marks. Few schemas have groups, so their types are not looked up.
    let (mut total, mut groups) = (FIRST, 0_u32);
    while let Some(field) = next(&mut bytes) {
        let known = if groups == 0 { kind.get_field(field.number) } else { None };
        total = total.saturating_add(match field.content {
            Content::Begins => {
                groups += 1;
                FIRST + ELEMENT
            }
            Content::Ends => {
                groups = groups.saturating_sub(1);
                0
            }
            Content::Number => known.map_or(FIELD, |known| single(&known)),
            Content::Bytes(content) if groups > 0 => FIELD + content.len() as u64 * WORST,
            Content::Bytes(content) => known.map_or(FIELD + content.len() as u64, |known| of(&known, content, depth)),
        });
    }
    total
}

/// Of a field with a length.
fn of(field: &FieldDescriptor, content: &[u8], depth: u32) -> u64 {
    let length = content.len() as u64;
    match field.kind() {
        Kind::Message(inner) => single(field) + weigh(&inner, content, depth - 1),
        Kind::String | Kind::Bytes => single(field) + length + 32,
        // A packed list.
        Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => FIELD + length / 8 * ELEMENT,
        Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => FIELD + length / 4 * ELEMENT,
        _ => FIELD + length * ELEMENT,
    }
}

/// Of one value, without what it refers to.
fn single(field: &FieldDescriptor) -> u64 {
    if field.is_map() {
        ENTRY
    } else if field.is_list() {
        ELEMENT
    } else {
        FIELD
    }
}

/// A field as it is sent.
struct Sent<'a> {
    number: u32,
    content: Content<'a>,
}

enum Content<'a> {
    Number,
    Bytes(&'a [u8]),
    /// A group.
    Begins,
    Ends,
}

/// Takes a field. None: there is none, or the bytes are no message.
fn next<'a>(bytes: &mut &'a [u8]) -> Option<Sent<'a>> {
    let key = varint(bytes)?;
    let content = match key & 7 {
        0 => varint(bytes).map(|_| Content::Number)?,
        1 => take(bytes, 8).map(|_| Content::Number)?,
        2 => {
            let length = varint(bytes)?;
            Content::Bytes(take(bytes, length)?)
        }
        3 => Content::Begins,
        4 => Content::Ends,
        5 => take(bytes, 4).map(|_| Content::Number)?,
        _ => return None,
    };
    Some(Sent { number: u32::try_from(key >> 3).ok()?, content })
}

fn take<'a>(bytes: &mut &'a [u8], length: u64) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    Some(taken)
}

/// A number of up to ten bytes, seven bits in each, the lowest first.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..70).step_by(7) {
        let byte = take(bytes, 1)?[0];
        number |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}
