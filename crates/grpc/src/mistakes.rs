//! Errors in a message that can be named better than while it is converted: fields that its type does not have.

use prost_reflect::{Kind, MessageDescriptor};
use serde_json::{Map, Value};

/// How similar a name must be to be proposed, 0…1.
const SIMILAR: f64 = 0.6;

/// The known name that was probably meant.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    let similar = known.map(|other| (strsim::normalized_damerau_levenshtein(&lower, &other.to_lowercase()), other));
    similar.filter(|(how, _)| *how >= SIMILAR).max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, name)| name)
}

/// The first field of the JSON, in its order, that the type does not have: `helloworld.HelloRequest has no field "nmae";
/// did you mean "name"?`
pub(crate) fn unknown_field(kind: &MessageDescriptor, value: &Value) -> Option<String> {
    // These have a JSON form of their own.
    if kind.full_name().starts_with("google.protobuf.") {
        return None;
    }
    let object = value.as_object()?;
    object.iter().find_map(|(name, value)| {
        let field = kind.get_field_by_json_name(name).or_else(|| kind.get_field_by_name(name));
        let Some(field) = field else { return complaint(kind, name) };
        let Kind::Message(inner) = field.kind() else { return None };
        if field.is_map() {
            let Kind::Message(inner) = inner.map_entry_value_field().kind() else { return None };
            return value.as_object().map(Map::values)?.find_map(|value| unknown_field(&inner, value));
        }
        match value {
            Value::Array(values) => values.iter().find_map(|value| unknown_field(&inner, value)),
            value => unknown_field(&inner, value),
        }
    })
}

fn complaint(kind: &MessageDescriptor, name: &str) -> Option<String> {
    // The name of an extension.
    if name.starts_with('[') {
        return None;
    }
    let names: Vec<_> = kind.fields().map(|field| field.name().to_owned()).collect();
    let what = format!("{} has no field {name:?}", kind.full_name());
    Some(match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => format!("{what}; did you mean {near:?}?"),
        None if names.is_empty() => format!("{what}; it has no fields"),
        None => format!("{what}; it has {}", names.join(", ")),
    })
}
