//! One method: its path, and the conversion of its messages from JSON and to JSON.

use std::io;

use prost_reflect::prost::Message;
use prost_reflect::{DynamicMessage, MessageDescriptor, MethodDescriptor, SerializeOptions};
use serde_json::Value;

use crate::error::MessageError;
use crate::mistakes::unknown_field;
use crate::weight::weight;

/// As people who read the .proto file expect it: its names, all fields without presence, and numbers as numbers.
const OPTIONS: SerializeOptions =
    SerializeOptions::new().use_proto_field_name(true).skip_default_fields(false).stringify_64_bit_integers(false);

/// A method of a service.
#[derive(Debug, Clone)]
pub struct Method {
    path: String,
    request: MessageDescriptor,
    reply: MessageDescriptor,
    /// The client sends any number of messages.
    pub client_streams: bool,
    /// The server sends any number of messages.
    pub server_streams: bool,
}

impl Method {
    pub(crate) fn new(descriptor: &MethodDescriptor) -> Method {
        Method {
            path: format!("/{}/{}", descriptor.parent_service().full_name(), descriptor.name()),
            request: descriptor.input(),
            reply: descriptor.output(),
            client_streams: descriptor.is_client_streaming(),
            server_streams: descriptor.is_server_streaming(),
        }
    }

    /// `package.Service/Method`
    pub fn name(&self) -> &str {
        &self.path[1..]
    }

    /// The path of a call: `/package.Service/Method`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Looks for fields that the request does not have. The error names one, and that which was probably meant.
    pub fn check(&self, json: &Value) -> Result<(), MessageError> {
        unknown_field(&self.request, json).map_or(Ok(()), |complaint| Err(MessageError(complaint)))
    }

    /// Appends the request with this JSON (the mapping of Protocol Buffers; names as in the .proto file or in lower
    /// camel case). After an error `into` is unchanged.
    pub fn encode(&self, json: &str, into: &mut Vec<u8>) -> Result<(), MessageError> {
        let mut text = serde_json::Deserializer::from_str(json);
        let message = DynamicMessage::deserialize(self.request.clone(), &mut text);
        let message = message.and_then(|message| text.end().map(|()| message));
        let message = message.map_err(|error| MessageError(format!("{}: {error}", self.request.full_name())))?;
        message.encode(into).expect("a Vec has room");
        Ok(())
    }

    /// The reply as JSON: names as in the .proto file, 64-bit integers as numbers, and fields that are not set with
    /// their defaults, if their type has no other way to say that.
    ///
    /// `room` is asked before memory is taken, with the bytes of this message in all; its error ends the decoding.
    pub fn decode(
        &self,
        message: &[u8],
        room: &mut dyn FnMut(u64) -> Result<(), String>,
    ) -> Result<String, MessageError> {
        let wrong = |error: &dyn std::fmt::Display| MessageError(format!("{}: {error}", self.reply.full_name()));
        let tree = if message.len() > SMALL { weight(&self.reply, message) } else { 0 };
        room(tree).map_err(|error| wrong(&error))?;
        let message = DynamicMessage::decode(self.reply.clone(), message).map_err(|error| wrong(&error))?;
        let mut json = Growing { bytes: Vec::with_capacity(128), asked: SMALL, tree, room };
        let mut serializer = serde_json::Serializer::new(&mut json);
        message.serialize_with_options(&mut serializer, &OPTIONS).map_err(|error| wrong(&error))?;
        let mut bytes = json.bytes;
        if bytes.len() > SMALL {
            bytes.shrink_to_fit();
        }
        Ok(String::from_utf8(bytes).expect("JSON is UTF-8"))
    }
}

/// Messages up to this size are decoded without a question, and JSON up to this size is written without one, bytes.
const SMALL: usize = 4 << 10;

/// JSON that asks for room as it grows: a type with many fields has them all, however short the message is.
struct Growing<'a> {
    bytes: Vec<u8>,
    /// The length that there is room for.
    asked: usize,
    /// Bytes of the message beside it.
    tree: u64,
    room: &'a mut dyn FnMut(u64) -> Result<(), String>,
}

impl io::Write for Growing<'_> {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        let length = self.bytes.len() + more.len();
        if length > self.asked {
            self.asked = length * 2;
            // A vector that grows is there twice for a moment.
            (self.room)(self.tree + self.asked as u64 * 3 / 2).map_err(io::Error::other)?;
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Method;
    use crate::Schema;

    const SCHEMA: &str = r#"syntax = "proto3"; package shop;
        import "google/protobuf/timestamp.proto"; import "google/protobuf/struct.proto";
        import "google/protobuf/wrappers.proto";
        enum Size { UNKNOWN = 0; LARGE = 2; }
        message Item { string item_name = 1; int64 count = 2; Size size = 3; }
        message Order {
            uint64 id = 1; repeated Item items = 2; map<string, Item> by_name = 3; bytes raw = 4; double price = 5;
            google.protobuf.Timestamp at = 6; google.protobuf.Struct extra = 7; optional int32 maybe = 8; bool ok = 9;
            oneof way { string air = 10; Item sea = 11; } google.protobuf.Int64Value wrapped = 12; repeated int32 n = 13;
        }
        message Nothing {}
        service Shop { rpc Buy(Order) returns (Order); rpc None(Nothing) returns (Nothing); }"#;

    fn method(name: &str) -> Method {
        Schema::from_text(SCHEMA).unwrap().method(&format!("shop.Shop/{name}")).unwrap()
    }

    fn bytes(json: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        method("Buy").encode(json, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn json_becomes_the_bytes_of_a_message() {
        let price = [&[0x29][..], &1.247_259_701_715_586_1e169_f64.to_le_bytes()].concat();
        for (json, expected) in [
            ("{}", &b""[..]),
            (r#"{"id": 300}"#, b"\x08\xac\x02"),
            (r#"{"id": "300"}"#, b"\x08\xac\x02"),
            (r#"{"items": [{"item_name": "a"}, {"itemName": "b"}]}"#, b"\x12\x03\x0a\x01a\x12\x03\x0a\x01b"),
            (r#"{"items": [{"size": "LARGE"}, {"size": 2}]}"#, b"\x12\x02\x18\x02\x12\x02\x18\x02"),
            (r#"{"raw": "AH8="}"#, b"\x22\x02\0\x7f"),
            // The nearest double, to its last bit.
            (r#"{"price": 1.2472597017155861e169}"#, &price),
            (r#"{"at": "1970-01-01T00:00:05Z"}"#, b"\x32\x02\x08\x05"),
            (r#"{"n": [1, 2]}"#, b"\x6a\x02\x01\x02"),
            (r#"{"id": null, "maybe": 0}"#, b"\x40\0"),
        ] {
            assert_eq!(bytes(json), expected, "{json}");
        }
    }

    #[test]
    fn a_reply_has_the_names_of_its_file_and_its_defaults() {
        let given = json!({
            "id": u64::MAX, "items": [{"item_name": "ä\"", "count": -5, "size": "LARGE"}], "by_name": {"x": {"count": 1}},
            "raw": "AH8=", "price": 1.5, "at": "2026-01-02T03:04:05.500Z", "extra": {"a": [1, null]}, "maybe": 0,
            "ok": true, "air": "", "wrapped": 7, "n": [1, 2],
        });
        let reply: Value =
            serde_json::from_str(&method("Buy").decode(&bytes(&given.to_string()), &mut |_| Ok(())).unwrap()).unwrap();
        let mut expected = given;
        expected["by_name"]["x"] = json!({"item_name": "", "count": 1, "size": "UNKNOWN"});
        // Number values of a Struct are floating point.
        expected["extra"] = json!({"a": [1.0, null]});
        expected["at"] = json!("2026-01-02T03:04:05.500Z");
        assert_eq!(reply, expected);
        let empty: Value = serde_json::from_str(&method("Buy").decode(b"", &mut |_| Ok(())).unwrap()).unwrap();
        let defaults = json!({"id": 0, "items": [], "by_name": {}, "raw": "", "price": 0.0, "ok": false, "n": []});
        assert_eq!(empty, defaults);
        assert_eq!(method("None").decode(b"\x08\x01", &mut |_| Ok(())).unwrap(), "{}", "an unknown field");
    }

    #[test]
    fn json_that_is_no_such_message_is_refused_and_nothing_is_appended() {
        for (json, expected) in [
            ("{", "shop.Order: EOF while parsing"),
            ("[]", "shop.Order: invalid type: sequence"),
            ("{} x", "shop.Order: trailing characters"),
            (r#"{"id": "x"}"#, "shop.Order: "),
            (r#"{"id": -1}"#, "shop.Order: "),
            (r#"{"nothing": 1}"#, "shop.Order: unrecognized field name 'nothing'"),
            (r#"{"items": [{"size": "HUGE"}]}"#, "shop.Order: unrecognized enum value 'HUGE'"),
            (r#"{"raw": "?"}"#, "shop.Order: invalid base64"),
            (r#"{"air": "a", "sea": {}}"#, "shop.Order: "),
        ] {
            let mut into = b"before".to_vec();
            let error = method("Buy").encode(json, &mut into).unwrap_err().to_string();
            assert!(error.starts_with(expected) && into == b"before", "{json}: {error}");
        }
        let error = method("Buy").decode(b"\x08", &mut |_| Ok(())).unwrap_err().to_string();
        assert!(error.starts_with("shop.Order: "), "{error}");
    }

    #[test]
    fn a_field_that_does_not_exist_is_named_with_the_one_that_was_meant() {
        for (name, json, expected) in [
            ("Buy", json!({"id": 1, "items": [{"item_name": 1, "itemName": 1}], "extra": {"any": 1}}), None),
            ("Buy", json!({"by_name": {"any": {"count": 1}}, "at": "x", "n": [{}], "[ext]": 1}), None),
            ("Buy", json!("no object"), None),
            ("Buy", json!({"idd": 1}), Some("shop.Order has no field \"idd\"; did you mean \"id\"?")),
            (
                "Buy",
                json!({"items": [{}, {"cuont": 1}]}),
                Some("shop.Item has no field \"cuont\"; did you mean \"count\"?"),
            ),
            ("Buy", json!({"items": {"x": 1}}), Some("shop.Item has no field \"x\"; it has item_name, count, size")),
            (
                "Buy",
                json!({"by_name": {"any": {"x": 1}}}),
                Some("shop.Item has no field \"x\"; it has item_name, count, size"),
            ),
            (
                "Buy",
                json!({"sea": {"itemname": 1}}),
                Some("shop.Item has no field \"itemname\"; did you mean \"item_name\"?"),
            ),
            ("None", json!({"x": 1}), Some("shop.Nothing has no field \"x\"; it has no fields")),
        ] {
            let found = method(name).check(&json).err().map(|error| error.to_string());
            assert_eq!(found.as_deref(), expected, "{json}");
        }
    }
}
