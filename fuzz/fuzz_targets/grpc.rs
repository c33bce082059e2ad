//! Any bytes as those of a gRPC server: as a body, as trailers, and as its schema; and any text as a message. Messages are
//! the same in one piece, in pieces and byte by byte, and none is over the limit; what becomes JSON becomes the same message.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use plimsoll_grpc::{FrameError, MessageSplitter, Method, Schema, Status};
use plimsoll_http::Work;
use serde_json::Value;

const SCHEMA: &str = r#"syntax = "proto3"; package t;
    import "google/protobuf/any.proto"; import "google/protobuf/duration.proto"; import "google/protobuf/field_mask.proto";
    import "google/protobuf/struct.proto"; import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto";
    enum Size { UNKNOWN = 0; SMALL = 1; LARGE = 2; }
    message All {
        string text = 1; bytes raw = 2; bool yes = 3; double wide = 4; float narrow = 5; int32 a = 6; int64 b = 7;
        uint32 c = 8; uint64 d = 9; sint32 e = 10; sint64 f = 11; fixed32 g = 12; fixed64 h = 13; sfixed32 i = 14;
        sfixed64 j = 15; Size size = 16; repeated int32 numbers = 17; repeated string texts = 18; All all = 19;
        map<string, All> by_name = 20; map<int64, Size> by_number = 21; optional int32 maybe = 22;
        oneof one { string left = 23; All right = 24; }
        google.protobuf.Any any = 25; google.protobuf.Duration length = 26; google.protobuf.FieldMask mask = 27;
        google.protobuf.Struct object = 28; google.protobuf.Value value = 29; google.protobuf.Timestamp at = 30;
        google.protobuf.Int64Value wrapped = 31; google.protobuf.DoubleValue number = 32;
    }
    service S { rpc Get(All) returns (All); }"#;
const HEAD: &[u8] = b"HTTP/2 200\r\ncontent-type: application/grpc\r\n\r\n";
const ENCODINGS: [Option<&[u8]>; 4] = [None, Some(b"gzip"), Some(b"deflate"), Some(b"identity")];

static METHOD: LazyLock<Method> =
    LazyLock::new(|| Schema::from_text(SCHEMA).and_then(|schema| schema.method("t.S/Get")).expect("this is a schema"));

fuzz_target!(|input: &[u8]| {
    // fuzz/README.md describes this layout.
    let [setting, length, bytes @ ..] = input else { return };
    match setting & 3 {
        0 => frames(ENCODINGS[usize::from(setting >> 2 & 3)], 1 << (setting >> 4), bytes, usize::from(*length).max(1)),
        1 => drop(Status::read(HEAD, bytes).map(|status| assert!(!status.to_string().is_empty()))),
        2 => std::str::from_utf8(bytes).map_or((), message),
        _ => schema(bytes),
    }
});

fn frames(encoding: Option<&[u8]>, limit: u64, bytes: &[u8], length: usize) {
    let whole = split(encoding, limit, bytes, bytes.len().max(1));
    assert_eq!(split(encoding, limit, bytes, 1), whole);
    assert_eq!(split(encoding, limit, bytes, length), whole);
    for message in &whole.0 {
        assert!(message.len() as u64 <= limit);
        if let Ok(json) = METHOD.decode(message, &mut |_| Ok(())) {
            again(&json);
        }
    }
}

fn split(encoding: Option<&[u8]>, limit: u64, bytes: &[u8], length: usize) -> (Vec<Vec<u8>>, Option<FrameError>) {
    let mut splitter = MessageSplitter::new(encoding, limit);
    let mut found = Vec::new();
    let fed = bytes.chunks(length).try_for_each(|piece| feed(&mut splitter, piece, &mut found));
    let error = fed.and_then(|()| splitter.end()).err();
    (found, error)
}

/// In shares of work.
fn feed(splitter: &mut MessageSplitter, mut bytes: &[u8], found: &mut Vec<Vec<u8>>) -> Result<(), FrameError> {
    loop {
        let mut work = Work::of(1000);
        splitter.feed(std::mem::take(&mut bytes), &mut work, &mut |each| found.push(each.to_vec()))?;
        if work.is_left() {
            return Ok(());
        }
    }
}

/// JSON of a message is a message with the same JSON.
fn again(json: &str) {
    let value: Value = serde_json::from_str(json).expect("a message becomes JSON");
    METHOD.check(&value).expect("its fields are those of its type");
    let mut bytes = Vec::new();
    METHOD.encode(json, &mut bytes).expect("JSON of a message is one");
    let json = METHOD.decode(&bytes, &mut |_| Ok(())).expect("a message becomes JSON again");
    // Compared as values: maps have no order.
    let same = serde_json::from_str::<Value>(&json).expect("it is JSON");
    assert_eq!(without_commas(same), without_commas(value));
}

/// Of all texts. A field mask is one text, its paths joined by commas, which cannot say that one of them is empty.
fn without_commas(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace(',', "")),
        Value::Array(items) => items.into_iter().map(without_commas).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, without_commas(value))).collect(),
        other => other,
    }
}

fn message(json: &str) {
    let mut bytes = b"before".to_vec();
    if METHOD.encode(json, &mut bytes).is_ok() {
        METHOD.decode(&bytes[6..], &mut |_| Ok(())).expect("what JSON becomes is a message");
    } else {
        assert_eq!(bytes, b"before");
    }
}

fn schema(bytes: &[u8]) {
    let Ok(schema) = Schema::from_bytes(bytes) else { return };
    for name in schema.methods() {
        if schema.method(&name).is_err() {
            continue; // it has an empty name, which no call can have
        }
        let service = name.split_once('/').expect("a method has a service").0;
        let pruned = schema.pruned([service]);
        let method = pruned.method(&name).expect("it has all that the service needs");
        let _ = (method.encode("{}", &mut Vec::new()), method.decode(b"\x08\x01", &mut |_| Ok(())));
    }
}
