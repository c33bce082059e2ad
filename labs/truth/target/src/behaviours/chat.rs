//! Chat completions in `OpenAI`'s format, with a known schedule.

use super::Context;
use crate::request::Request;
use crate::script::{End, Script, Step, head};

const MS: f64 = 1e6;
/// Maximum chunks of a text.
const MOST: u64 = 10_000;
const ROLE: &str =
    r#"{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#;
const WORD: &str = r#"{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"word "}}]}"#;
const STOP: &str = r#"{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

/// `?chunks=10&tokens=20&first_ms=50&slow_ms=1000&share=0&every_ms=20&seed=1`: the head and a chunk with the role at once,
/// then chunks with content, the first one after `first_ms`, or, for a random share of the requests, after `slow_ms`; then
/// the end, at once, with this many tokens as usage. `tokens=0`: no usage.
pub(super) fn completions(request: &Request, context: &mut Context<'_>) -> Result<Script, String> {
    let (count, tokens): (u64, u64) = (request.number("chunks", 10)?, request.number("tokens", 20)?);
    if count > MOST {
        return Err(format!("chunks must be at most {MOST}"));
    }
    let (fast, slow) = (request.duration("first_ms", 50.0, MS)?, request.duration("slow_ms", 1000.0, MS)?);
    let every = request.duration("every_ms", 20.0, MS)?;
    let share: f64 = request.number("share", 0.0)?;
    let draw = context.draws.uniform(&request.target, request.number("seed", 1)?);
    let first = if draw < share { slow } else { fast };

    let lines = ["Content-Type: text/event-stream", "Transfer-Encoding: chunked"];
    let mut steps = vec![Step::Send(head("200 OK", &lines)), Step::Send(event(ROLE))];
    for index in 0..count {
        steps.extend([Step::Wait(first + index * every), Step::Send(event(WORD))]);
    }
    steps.push(Step::Send(event(STOP)));
    if tokens > 0 {
        let usage = format!(r#"{{"choices":[],"usage":{{"prompt_tokens":5,"completion_tokens":{tokens}}}}}"#);
        steps.push(Step::Send(event(&usage)));
    }
    steps.extend([Step::Send(event("[DONE]")), Step::Send(b"0\r\n\r\n".to_vec())]);
    Ok(Script::new(steps, End::Keep))
}

/// A server-sent event in a chunk of its own.
fn event(data: &str) -> Vec<u8> {
    format!("{:x}\r\ndata: {data}\n\n\r\n", data.len() + 8).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::event;
    use crate::behaviours::play;
    use crate::script::{End, Script, Step};

    fn waits(script: &Script) -> Vec<u64> {
        script.steps.iter().filter_map(|step| if let Step::Wait(until) = step { Some(*until) } else { None }).collect()
    }

    #[test]
    fn content_comes_at_its_times_and_usage_at_the_end() {
        let script = play("/v1/chat/completions?chunks=3&tokens=7&first_ms=5&every_ms=10");
        assert_eq!((waits(&script), script.end), (vec![5_000_000, 15_000_000, 25_000_000], End::Keep));
        let usage = event(r#"{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}"#);
        assert!(script.steps.contains(&Step::Send(usage)));
        let without = play("/v1/chat/completions?chunks=3&tokens=0");
        assert_eq!(script.steps.len() - without.steps.len(), 1);
    }

    #[test]
    fn a_share_of_the_requests_is_slow() {
        assert_eq!(waits(&play("/v1/chat/completions?chunks=1&share=1&slow_ms=70")), [70_000_000]);
        assert_eq!(waits(&play("/v1/chat/completions?chunks=1&share=0&first_ms=30")), [30_000_000]);
    }
}
