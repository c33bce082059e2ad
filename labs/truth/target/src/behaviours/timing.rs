//! Delayed responses.

use super::Context;
use crate::request::Request;
use crate::script::{End, Script, Step, head, response};

const MS: f64 = 1e6;
/// Maximum pieces of a slow body.
const MAX_DRIPS: u64 = 100_000;

fn ok() -> Vec<u8> {
    response("200 OK", &[], b"ok\n")
}

/// `?ms=5`: always after this many ms.
pub(super) fn fixed(request: &Request, _: &mut Context<'_>) -> Result<Script, String> {
    Ok(Script::delayed(request.duration("ms", 5.0, MS)?, ok()))
}

/// `?median_ms=5&sigma=0.5&seed=1`: exp(N(ln median, sigma²)), at most 1 h.
pub(super) fn lognormal(request: &Request, context: &mut Context<'_>) -> Result<Script, String> {
    let median = request.duration("median_ms", 5.0, MS)?;
    let sigma: f64 = request.number("sigma", 0.5)?;
    let draw = context.draws.normal(&request.target, request.number("seed", 1)?);
    let delay = median as f64 * (sigma * draw).exp();
    Ok(Script::delayed(delay.min(3.6e12) as u64, ok()))
}

/// `?fast_ms=2&slow_ms=1200&share=0.02&seed=1`: a random share of the responses is slow.
pub(super) fn bimodal(request: &Request, context: &mut Context<'_>) -> Result<Script, String> {
    let (fast, slow) = (request.duration("fast_ms", 2.0, MS)?, request.duration("slow_ms", 1200.0, MS)?);
    let share: f64 = request.number("share", 0.02)?;
    let draw = context.draws.uniform(&request.target, request.number("seed", 1)?);
    Ok(Script::delayed(if draw < share { slow } else { fast }, ok()))
}

/// No response; the connection stays open.
pub(super) fn never(_: &Request, _: &mut Context<'_>) -> Result<Script, String> {
    Ok(Script::new([], End::Hang))
}

/// `?bytes=20&every_ms=10`: the head at once, then the body byte by byte.
pub(super) fn drip(request: &Request, _: &mut Context<'_>) -> Result<Script, String> {
    let bytes: u64 = request.number("bytes", 20)?;
    if bytes > MAX_DRIPS {
        return Err(format!("bytes must be at most {MAX_DRIPS}"));
    }
    let every = request.duration("every_ms", 10.0, MS)?;
    let mut steps = vec![Step::Send(head("200 OK", &[&format!("Content-Length: {bytes}")]))];
    for index in 1..=bytes {
        steps.extend([Step::Wait(index * every), Step::Send(vec![b'.'])]);
    }
    Ok(Script::new(steps, End::Keep))
}

/// `?n=10&first_ms=50&every_ms=20`: the head at once, then server-sent events, each in a chunk, and a comment before
/// each of them; the first one after `first_ms`.
pub(super) fn events(request: &Request, _: &mut Context<'_>) -> Result<Script, String> {
    let count: u64 = request.number("n", 10)?;
    if count > MAX_DRIPS {
        return Err(format!("n must be at most {MAX_DRIPS}"));
    }
    let (first, every) = (request.duration("first_ms", 50.0, MS)?, request.duration("every_ms", 20.0, MS)?);
    let lines = ["Content-Type: text/event-stream", "Transfer-Encoding: chunked"];
    let mut steps = vec![Step::Send(head("200 OK", &lines))];
    for index in 0..count {
        let event = format!(": next\n\nid: {index}\ndata: event {index}\n\n");
        let chunk = format!("{:x}\r\n{event}\r\n", event.len());
        steps.extend([Step::Wait(first + index * every), Step::Send(chunk.into_bytes())]);
    }
    steps.push(Step::Send(b"0\r\n\r\n".to_vec()));
    Ok(Script::new(steps, End::Keep))
}

#[cfg(test)]
mod tests {
    use crate::behaviours::{Context, play, script};
    use crate::draws::Draws;
    use crate::request::get;
    use crate::script::{End, Step};

    fn delays(target: &str, count: usize) -> Vec<f64> {
        let (request, mut draws) = (get(target), Draws::default());
        (0..count)
            .map(|_| match script(&request, &mut Context { draws: &mut draws, turn: 1 }).steps[0] {
                Step::Wait(nanos) => nanos as f64,
                ref other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn fixed_is_what_it_says() {
        assert_eq!(delays("/fixed?ms=2.5", 2), [2.5e6, 2.5e6]);
        assert_eq!(delays("/fixed", 1), [5e6]);
    }

    #[test]
    fn lognormal_has_its_median_and_its_spread() {
        let mut sample = delays("/lognormal?median_ms=5&sigma=0.5&seed=3", 100_000);
        sample.sort_by(f64::total_cmp);
        // The logarithm of a quantile has the standard error sigma · sqrt(q (1 - q) / n) / density; five of them.
        let (median, upper) = ((sample[49_999] / 5e6).ln(), (sample[84_133] / 5e6).ln());
        assert!(median.abs() < 5.0 * 0.5 * 0.5 / 1e5_f64.sqrt() / 0.3989, "{median}");
        assert!((upper - 0.5).abs() < 5.0 * 0.5 * 0.3654 / 1e5_f64.sqrt() / 0.2420, "{upper}");
    }

    #[test]
    fn bimodal_has_its_share_of_slow_replies() {
        let sample = delays("/bimodal?fast_ms=1&slow_ms=30&share=0.02&seed=5", 100_000);
        let slow = sample.iter().filter(|delay| **delay > 29e6).count();
        assert!(sample.iter().all(|delay| (1e6..=1e6).contains(delay) || (30e6..=30e6).contains(delay)));
        let error = 5.0 * (1e5_f64 * 0.02 * 0.98).sqrt();
        assert!((slow as f64 - 2_000.0).abs() < error, "{slow}");
    }

    #[test]
    fn a_drip_waits_before_every_byte_and_never_hangs() {
        let dripping = play("/drip?bytes=3&every_ms=10");
        let waits: Vec<_> = dripping.steps.iter().filter(|step| matches!(step, Step::Wait(_))).collect();
        assert_eq!(waits, [&Step::Wait(10_000_000), &Step::Wait(20_000_000), &Step::Wait(30_000_000)]);
        assert_eq!((dripping.steps.len(), dripping.end), (7, End::Keep));
        assert_eq!(play("/never").end, End::Hang);
    }

    #[test]
    fn events_come_at_their_times_and_the_body_ends_after_the_last() {
        let script = play("/events?n=3&first_ms=5&every_ms=10");
        let waits: Vec<_> = script.steps.iter().filter(|step| matches!(step, Step::Wait(_))).collect();
        assert_eq!(waits, [&Step::Wait(5_000_000), &Step::Wait(15_000_000), &Step::Wait(25_000_000)]);
        assert_eq!(script.steps.back(), Some(&Step::Send(b"0\r\n\r\n".to_vec())));
        assert_eq!((script.steps.len(), script.end), (8, End::Keep));
    }
}
