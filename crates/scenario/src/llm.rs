//! Events of a chat completion in `OpenAI`'s format: what a chunk brings, and the objectives of a request.

use crate::DefinitionError;
use crate::json::values::{compact, text_of};
use crate::json::{Mistake, Read, Walker};
use crate::time::nanos;

/// The event that ends a completion.
const DONE: &[u8] = b"[DONE]";

/// Maximum tokens of a completion. A larger number is a mistake of the target, and not a text.
const MOST_TOKENS: u64 = 1_000_000_000;

/// Maximum bytes of a number in a mistake.
const LONGEST_NUMBER: usize = 60;

/// Maximum bytes of an error that the target reports.
const LONGEST_ERROR: usize = 2000;

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
        read(data).map_err(|Mistake(what)| format!("an event is no chunk of a completion: {what}"))
    }
}

fn read(data: &[u8]) -> Read<Chunk> {
    let mut chunk = Chunk::default();
    let mut walker = Walker::new(data)?;
    walker.object(|walker, name| match &*name.get() {
        "choices" if !walker.is_null() => walker.array(|walker, _| {
            chunk.has_content |= has_content(walker)?;
            Ok(())
        }),
        "usage" if !walker.is_null() => {
            chunk.tokens = tokens(walker)?;
            Ok(())
        }
        "error" if !walker.is_null() => {
            chunk.error = Some(error(walker)?);
            Ok(())
        }
        _ => walker.skip(),
    })?;
    walker.end()?;
    Ok(chunk)
}

/// Whether a choice has something that the model generated.
fn has_content(walker: &mut Walker<'_>) -> Read<bool> {
    let mut is_filled = false;
    walker.object(|walker, name| {
        match &*name.get() {
            // Of the older completions without roles.
            "text" => is_filled |= is_something(walker)?,
            "delta" if !walker.is_null() => walker.object(|walker, name| {
                match &*name.get() {
                    "content" | "reasoning" | "reasoning_content" | "refusal" | "tool_calls" | "function_call" => {
                        is_filled |= is_something(walker)?;
                    }
                    _ => walker.skip()?,
                }
                Ok(())
            })?,
            _ => walker.skip()?,
        }
        Ok(())
    })?;
    Ok(is_filled)
}

/// Whether a value has something in it: a text, list or table that is not empty.
fn is_something(walker: &mut Walker<'_>) -> Read<bool> {
    match walker.peek() {
        b'"' => Ok(!walker.string()?.raw.is_empty()),
        b'[' | b'{' => {
            let value = walker.raw()?;
            Ok(!value[1..value.len() - 1].trim_ascii().is_empty())
        }
        b'n' => walker.skip().map(|()| false),
        _ => Err(walker.mistake("text, list, table or null")),
    }
}

/// The output tokens of a usage.
fn tokens(walker: &mut Walker<'_>) -> Read<Option<u64>> {
    let mut tokens = None;
    walker.object(|walker, name| {
        if name.get() != "completion_tokens" || walker.is_null() {
            return walker.skip();
        }
        let given = walker.raw()?;
        let count = given.parse().ok().filter(|count| *count <= MOST_TOKENS);
        let wrong = || {
            let shown = &given[..given.floor_char_boundary(LONGEST_NUMBER)];
            Mistake(format!("usage.completion_tokens is {shown} and not a number from 0 to {MOST_TOKENS}"))
        };
        tokens = Some(count.ok_or_else(wrong)?);
        Ok(())
    })?;
    Ok(tokens)
}

/// The message of an error.
fn error(walker: &mut Walker<'_>) -> Read<String> {
    let given = walker.raw()?;
    let (mut message, mut members) = (None, Walker::of(given));
    if members.peek() == b'{' {
        members.object(|walker, name| {
            let value = walker.raw()?;
            message = if name.get() == "message" { Some(value) } else { message };
            Ok(())
        })?;
    }
    let message = message.unwrap_or(given);
    Ok(if message.starts_with('"') {
        text_of(message).unwrap_or_default().into_owned()
    } else {
        compact(message, LONGEST_ERROR)
    })
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
    fn half_a_pair_of_surrogates_is_content() {
        // A tokenizer cuts an emoji in two, and the server escapes each half.
        assert!(delta(r#""content": "\ud83d""#));
        assert!(delta(r#""content": "\ude00 \udbff\u0041""#));
        assert_eq!(read(r#"{"error": "a \ud83d b"}"#).error.as_deref(), Some("a \u{fffd} b"));
    }

    #[test]
    fn a_number_of_tokens_that_no_text_has_is_said() {
        let usage = |tokens: &str| Chunk::read(format!(r#"{{"usage": {{"completion_tokens": {tokens}}}}}"#).as_bytes());
        assert_eq!(usage("1000000000").unwrap().tokens, Some(1_000_000_000));
        assert_eq!(usage("null").unwrap().tokens, None);
        for tokens in
            ["1000000001", "9223372036854775808", "18446744073709551616", "-1", "1e300", "1.5", r#""7""#, "[]"]
        {
            let wrong = usage(tokens).unwrap_err();
            let expected = format!("usage.completion_tokens is {tokens} and not a number from 0");
            assert!(wrong.contains(&expected), "{wrong}");
        }
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
