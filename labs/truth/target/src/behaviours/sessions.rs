//! Responses with effects on connections, cookies, redirects, statuses.

use super::Context;
use crate::request::Request;
use crate::script::{End, Script, Step, response};

/// `?requests=3&silent=1`: the connection closes after this many. The last response announces it unless silent.
pub(super) fn keep_alive(request: &Request, context: &mut Context<'_>) -> Result<Script, String> {
    let requests: u64 = request.number("requests", 3)?;
    let silent = request.number("silent", 0)? != 0;
    if context.turn < requests {
        return Ok(Script::reply(response("200 OK", &[], b"ok\n")));
    }
    let lines = if silent { &[][..] } else { &["Connection: close"] };
    Ok(Script::new([Step::Send(response("200 OK", lines, b"last\n"))], End::Close))
}

/// Counts a client's visits in a cookie: `visits=1`, then one more for each request with the cookie.
pub(super) fn cookies(request: &Request, _: &mut Context<'_>) -> Result<Script, String> {
    let mut pairs = request.cookie.as_deref().unwrap_or_default().split(';');
    let visits = pairs.find_map(|pair| pair.trim().strip_prefix("visits=")?.parse::<u64>().ok()).unwrap_or(0);
    let line = format!("Set-Cookie: visits={}; Path=/", visits + 1);
    Ok(Script::reply(response("200 OK", &[&line], format!("{visits}\n").as_bytes())))
}

/// `?n=3`: this many redirects, each to the next lower n; n=0 is a 200.
pub(super) fn redirect(request: &Request, _: &mut Context<'_>) -> Result<Script, String> {
    let hops: u32 = request.number("n", 3)?;
    Ok(if hops == 0 {
        Script::reply(response("200 OK", &[], b"ok\n"))
    } else {
        to(&format!("/redirect?n={}", hops - 1))
    })
}

/// A redirect to itself.
pub(super) fn redirect_loop(request: &Request, _: &mut Context<'_>) -> Result<Script, String> {
    Ok(to(&request.target))
}

fn to(location: &str) -> Script {
    Script::reply(response("302 Found", &[&format!("Location: {location}")], b""))
}

/// `?code=503`: that status.
pub(super) fn status(request: &Request, _: &mut Context<'_>) -> Result<Script, String> {
    let code: u16 = request.number("code", 503)?;
    if !(200..=599).contains(&code) {
        return Err("code must be within 200 … 599".to_owned());
    }
    Ok(Script::reply(response(&format!("{code} As asked"), &[], b"")))
}

#[cfg(test)]
mod tests {
    use crate::behaviours::{Context, play, script};
    use crate::draws::Draws;
    use crate::request::{Request, get};
    use crate::script::{End, Script, Step};

    fn text(script: &Script) -> String {
        let Step::Send(bytes) = &script.steps[0] else { panic!("{script:?}") };
        String::from_utf8(bytes.clone()).unwrap()
    }

    fn on_turn(target: &str, turn: u64) -> Script {
        script(&get(target), &mut Context { draws: &mut Draws::default(), turn })
    }

    #[test]
    fn a_connection_ends_after_its_last_request_and_only_then() {
        for (turn, end) in [(1, End::Keep), (2, End::Keep), (3, End::Close), (4, End::Close)] {
            assert_eq!(on_turn("/keep-alive?requests=3", turn).end, end);
        }
        assert!(text(&on_turn("/keep-alive?requests=1", 1)).contains("Connection: close"));
        assert!(!text(&on_turn("/keep-alive?requests=1&silent=1", 1)).contains("Connection"));
    }

    #[test]
    fn visits_are_counted_in_the_cookie() {
        assert!(text(&play("/cookies")).contains("Set-Cookie: visits=1;"));
        let request = Request { cookie: Some("other=9; visits=4".to_owned()), ..get("/cookies") };
        let again = script(&request, &mut Context { draws: &mut Draws::default(), turn: 1 });
        assert!(text(&again).contains("Set-Cookie: visits=5;"));
    }

    #[test]
    fn redirects_lead_down_to_a_reply_and_the_loop_to_itself() {
        assert!(text(&play("/redirect?n=2")).contains("302 Found\r\nLocation: /redirect?n=1\r\n"));
        assert!(text(&play("/redirect?n=0")).starts_with("HTTP/1.1 200 OK"));
        assert!(text(&play("/redirect-loop?x")).contains("Location: /redirect-loop?x\r\n"));
    }

    #[test]
    fn a_status_is_given_as_asked() {
        assert!(text(&play("/status?code=429")).starts_with("HTTP/1.1 429 "));
        assert!(text(&play("/status?code=99")).starts_with("HTTP/1.1 400 "));
    }
}
