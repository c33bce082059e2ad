//! Events of a chat completion in `OpenAI`'s format: what a chunk brings, and the objectives of a request.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::DefinitionError;
use crate::time::nanos;

/// The event that ends a completion.
const DONE: &[u8] = b"[DONE]";

/// Limits of time that a good request keeps, all of them; ns, `u64::MAX` = none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Objectives {
    /// From due to the first token.
    pub first_token: u64,
    /// Per token after the first one.
    pub time_per_token: u64,
    /// From due to the end of the response.
    pub time: u64,
}

impl Objectives {
    /// From seconds; None: no limit. The error names `field` and the objective.
    pub fn new(
        first_token: Option<f64>,
        time_per_token: Option<f64>,
        time: Option<f64>,
        field: &str,
    ) -> Result<Objectives, DefinitionError> {
        let limit = |seconds: Option<f64>, name: &str| {
            seconds.map_or(Ok(u64::MAX), |seconds| nanos(seconds, &format!("{field}.{name}")))
        };
        Ok(Objectives {
            first_token: limit(first_token, "first_token")?,
            time_per_token: limit(time_per_token, "time_per_token")?,
            time: limit(time, "time")?,
        })
    }

    /// Whether a request keeps all of them. A text that came in one piece has no time per token, and keeps its limit.
    pub fn are_met(&self, first_token: u64, time_per_token: Option<u64>, time: u64) -> bool {
        first_token <= self.first_token && time_per_token.unwrap_or(0) <= self.time_per_token && time <= self.time
    }
}

/// What an event of a completion brings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chunk {
    /// The model generated something: text, reasoning, a refusal, or a part of a call of a tool. A role alone is nothing.
    pub has_content: bool,
    /// Output tokens so far, if the target says so.
    pub tokens: Option<u64>,
    /// The target reports an error.
    pub error: Option<String>,
}

impl Chunk {
    /// Whether the data of an event is the mark that ends a completion.
    pub fn is_done(data: &[u8]) -> bool {
        data == DONE
    }

    /// Reads the data of an event. The error says what is wrong with it.
    pub fn read(data: &[u8]) -> Result<Chunk, String> {
        if Chunk::is_done(data) {
            return Ok(Chunk::default());
        }
        let found: Completion =
            serde_json::from_slice(data).map_err(|error| format!("an event is no chunk of a completion: {error}"))?;
        let error = found.error.filter(|error| !error.is_null());
        let message = error.map(|error| match error.get("message").unwrap_or(&error) {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        Ok(Chunk {
            has_content: found.choices.is_some_and(|choices| choices.iter().any(Choice::has_content)),
            tokens: found.usage.and_then(|usage| usage.completion_tokens),
            error: message,
        })
    }
}

#[derive(Deserialize)]
#[serde(expecting = "a JSON object with choices")]
struct Completion {
    choices: Option<Vec<Choice>>,
    usage: Option<Usage>,
    error: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Usage {
    completion_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<Delta>,
    /// Of the older completions without roles.
    #[serde(default)]
    text: Filled,
}

impl Choice {
    fn has_content(&self) -> bool {
        let delta = self.delta.as_ref();
        self.text.0 || delta.is_some_and(|delta| delta.fields().iter().any(|field| field.0))
    }
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Delta {
    content: Filled,
    reasoning: Filled,
    reasoning_content: Filled,
    refusal: Filled,
    tool_calls: Filled,
    function_call: Filled,
}

impl Delta {
    fn fields(&self) -> [Filled; 6] {
        let Delta { content, reasoning, reasoning_content, refusal, tool_calls, function_call } = *self;
        [content, reasoning, reasoning_content, refusal, tool_calls, function_call]
    }
}

/// Whether a value has something in it: a text, list or table that is not empty. It keeps nothing of the value.
#[derive(Clone, Copy, Default)]
struct Filled(bool);

impl<'de> Deserialize<'de> for Filled {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Filled, D::Error> {
        deserializer.deserialize_any(FilledVisitor)
    }
}

struct FilledVisitor;

impl<'de> Visitor<'de> for FilledVisitor {
    type Value = Filled;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a list, a table or null")
    }

    fn visit_unit<E>(self) -> Result<Filled, E> {
        Ok(Filled(false))
    }

    fn visit_str<E>(self, text: &str) -> Result<Filled, E> {
        Ok(Filled(!text.is_empty()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Filled, A::Error> {
        let mut is_filled = false;
        while list.next_element::<IgnoredAny>()?.is_some() {
            is_filled = true;
        }
        Ok(Filled(is_filled))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Filled, A::Error> {
        let mut is_filled = false;
        while table.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            is_filled = true;
        }
        Ok(Filled(is_filled))
    }
}

#[cfg(test)]
mod tests {
    use super::{Chunk, Objectives};

    fn read(data: &str) -> Chunk {
        Chunk::read(data.as_bytes()).unwrap()
    }

    fn delta(fields: &str) -> bool {
        read(&format!(r#"{{"choices": [{{"index": 0, "delta": {{{fields}}}, "finish_reason": null}}]}}"#)).has_content
    }

    #[test]
    fn what_the_model_generates_is_content_and_a_role_is_not() {
        for fields in [
            r#""content": "Hi""#,
            r#""role": "assistant", "content": "\u00e4""#,
            r#""content": null, "reasoning_content": "so""#,
            r#""reasoning": "so""#,
            r#""refusal": "no""#,
            r#""tool_calls": [{"index": 0, "function": {"arguments": ""}}]"#,
            r#""function_call": {"name": "f"}"#,
        ] {
            assert!(delta(fields), "{fields}");
        }
        for fields in [
            "",
            r#""role": "assistant", "content": """#,
            r#""role": "assistant", "content": null, "refusal": null, "tool_calls": []"#,
            r#""role": "assistant", "other": "x", "function_call": {}"#,
        ] {
            assert!(!delta(fields), "{fields}");
        }
        assert!(read(r#"{"choices": [{"text": "older"}]}"#).has_content);
        assert!(!read(r#"{"choices": [{"text": "", "finish_reason": "stop"}]}"#).has_content);
        assert!(read(r#"{"choices": [{"delta": {}}, {"delta": {"content": "the second of two"}}]}"#).has_content);
    }

    #[test]
    fn usage_and_errors_are_read_and_the_end_has_nothing() {
        assert_eq!(read("[DONE]"), Chunk::default());
        let usage = read(r#"{"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 16}}"#);
        assert_eq!(usage, Chunk { tokens: Some(16), ..Chunk::default() });
        assert_eq!(read(r#"{"choices": [], "usage": null, "error": null}"#), Chunk::default());
        let error = |data| read(data).error.unwrap();
        assert_eq!(error(r#"{"error": {"message": "no room", "code": 500}}"#), "no room");
        assert_eq!(error(r#"{"error": "no room"}"#), "no room");
        assert_eq!(error(r#"{"error": {"code": 500}}"#), r#"{"code":500}"#);
    }

    #[test]
    fn what_is_no_chunk_is_said() {
        for data in ["hello", "{", r#"{"choices": 3}"#, r#"{"choices": [{"delta": {"content": 3}}]}"#, ""] {
            let wrong = Chunk::read(data.as_bytes()).unwrap_err();
            assert!(wrong.starts_with("an event is no chunk of a completion: "), "{wrong}");
        }
    }

    #[test]
    fn a_good_request_keeps_all_objectives() {
        let all = Objectives { first_token: 10, time_per_token: 2, time: 50 };
        assert!(all.are_met(10, Some(2), 50));
        assert!(all.are_met(10, None, 50));
        assert!(!all.are_met(11, Some(2), 50));
        assert!(!all.are_met(10, Some(3), 50));
        assert!(!all.are_met(10, Some(2), 51));
        let one = Objectives { first_token: u64::MAX, time: u64::MAX, ..all };
        assert!(one.are_met(99, Some(2), 99));
    }
}
