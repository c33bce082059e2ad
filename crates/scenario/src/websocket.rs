//! Steps of a WebSocket: one connection of a user, its messages and its end.

use plimsoll_websocket::{Key, Offer, may_be_sent};

use crate::DefinitionError;
use crate::definition::{self, From};
use crate::headers::Line;
use crate::time::nanos;

/// What a step does with the WebSocket of its user. Each user has at most one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebSocket {
    /// Opens it, unless it is open already. The request is a GET with [`KEY`] as its key.
    Connect(Offer),
    /// Sends the step's message.
    Send {
        /// It is not a text.
        binary: bool,
    },
    /// Waits for a message that meets the step's expectations.
    Receive {
        /// The message answers those that were sent last: its time begins there.
        reply: bool,
    },
    /// Lets messages come for so many ns.
    Wait(u64),
    /// Closes it with this code.
    Close(u16),
}

/// In place of the key in the bytes of a request; each connection needs another key.
pub const KEY: [u8; Key::LENGTH] = *b"----plimsoll--key-----==";

impl WebSocket {
    /// Compiles the step's part of a definition. Checks that the step has only fields that fit.
    pub(crate) fn new(step: &definition::Step, field: &str) -> Result<Option<WebSocket>, DefinitionError> {
        let Some(given) = &step.websocket else { return Ok(None) };
        let wrong = |name: &str, reason: &str| Err(DefinitionError::new(format!("{field}.{name}"), reason));
        let is_connect = matches!(given, definition::WebSocket::Connect { .. });
        let is_receive = matches!(given, definition::WebSocket::Receive { .. });
        if !is_connect && (step.method.is_some() || step.path.is_some()) {
            return wrong("path", "only the step that connects has a method, a path or headers");
        }
        if step.method.as_ref().is_some_and(|method| method != "GET") {
            return wrong("method", "a WebSocket is opened with GET");
        }
        if step.stream.is_some() {
            return wrong("stream", "a WebSocket is no stream of events");
        }
        let is_send = matches!(given, definition::WebSocket::Send {});
        if is_send != step.body.is_some() {
            return wrong(
                "body",
                if is_send { "there is no message to send" } else { "only a send step has a message" },
            );
        }
        let definition::Expect { status, contains, lacks, json, absent, max_time } = &step.expect;
        let of_body = !(contains.is_empty() && lacks.is_empty() && json.is_empty() && absent.is_empty());
        let of_message = |from| !matches!(from, From::Header | From::Cookie);
        let any = of_body || !status.is_empty() || max_time.is_some() || !step.extract.is_empty();
        if !is_connect && !is_receive && any {
            return wrong("expect", "only steps that connect or receive have something to check or to extract");
        }
        if is_connect && (of_body || step.extract.iter().any(|each| of_message(each.from))) {
            return wrong("expect", "it reads a body, but the response that opens a WebSocket has none");
        }
        if is_receive && (!status.is_empty() || step.extract.iter().any(|each| !of_message(each.from))) {
            return wrong("expect", "a message has no status, headers or cookies");
        }
        Ok(Some(match given {
            definition::WebSocket::Connect { protocols, deflate } => {
                WebSocket::Connect(Offer { protocols: protocols.clone(), deflate: *deflate })
            }
            definition::WebSocket::Send {} => WebSocket::Send {
                binary: matches!(step.body, Some(definition::Body::Base64(_) | definition::Body::Parts(_))),
            },
            definition::WebSocket::Receive { reply } => WebSocket::Receive { reply: *reply },
            definition::WebSocket::Wait(seconds) => {
                WebSocket::Wait(nanos(*seconds, &format!("{field}.websocket.wait"))?)
            }
            definition::WebSocket::Close(code) if may_be_sent(*code) => WebSocket::Close(*code),
            definition::WebSocket::Close(code) => {
                let reason = format!("{code} cannot be sent; valid are 1000 to 1003, 1007 to 1014 and 3000 to 4999");
                return Err(DefinitionError::new(format!("{field}.websocket.close"), reason));
            }
        }))
    }

    /// The method of its row.
    pub(crate) fn method(&self) -> &'static str {
        if matches!(self, WebSocket::Connect(_)) { "WS" } else { "WS receive" }
    }

    /// Replaces the header lines by those that the request needs besides the given ones.
    pub(crate) fn lines(&self, lines: Vec<Line>, field: &str) -> Result<Vec<Line>, DefinitionError> {
        let WebSocket::Connect(offer) = self else { return Ok(Vec::new()) };
        let own = offer.headers(&Key::from_bytes(KEY));
        let mut all = Vec::new();
        for line in lines {
            let is_own = |name: &str| line.name.eq_ignore_ascii_case(name);
            if own.iter().any(|(name, _)| is_own(name))
                || is_own("Sec-WebSocket-Protocol")
                || is_own("Sec-WebSocket-Extensions")
            {
                let reason = format!("{} is set by the step; say protocols or compression there", line.name);
                return Err(DefinitionError::new(line.field, reason));
            }
            // A response that opens a WebSocket has no body.
            if !is_own("Accept") && !is_own("Accept-Encoding") {
                all.push(line);
            }
        }
        let line =
            |(name, value): (&str, String)| Line { field: format!("{field}.websocket"), name: name.into(), value };
        all.extend(own.into_iter().map(line));
        Ok(all)
    }
}

/// Refuses steps that need a connection before any step of the flow connects, and flows that do nothing else.
pub(crate) fn check_order(steps: &[definition::Step], field: &str) -> Result<(), DefinitionError> {
    let mut is_open = false;
    for (index, step) in steps.iter().enumerate() {
        match &step.websocket {
            Some(definition::WebSocket::Connect { .. }) => is_open = true,
            Some(_) if !is_open => {
                let reason = "no earlier step of its flow connects";
                return Err(DefinitionError::new(format!("{field}.steps[{index}].websocket"), reason));
            }
            _ => {}
        }
    }
    if steps.iter().all(|step| matches!(step.websocket, Some(definition::WebSocket::Connect { .. }))) {
        let reason = "to connect alone is no load after the first time; add a send, receive, wait or close";
        return Err(DefinitionError::new(format!("{field}.steps"), reason));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{Next, Player, Prepared, Scenario, Verdict, WebSocket};

    const CONNECT: &str =
        r#"{"name": "c", "path": "/c", "websocket": {"connect": {"protocols": ["a"], "deflate": true}}}"#;

    fn scenario(steps: &[&str]) -> Result<Scenario, String> {
        let definition = format!(
            r#"{{"targets": [{{"url": "http://h", "headers": [["X", "y"]]}}],
                "flows": [{{"name": "f", "steps": [{}]}}]}}"#,
            steps.join(", ")
        );
        Scenario::new(&definition, 0, 1, 1).map_err(|error| error.to_string())
    }

    #[test]
    fn a_step_connects_with_the_headers_of_a_websocket_and_none_of_a_body() {
        let wait = r#"{"name": "c", "websocket": {"wait": 1.5}}"#;
        let scenario = scenario(&[CONNECT, wait]).unwrap();
        assert_eq!(scenario.steps()[1].websocket, Some(WebSocket::Wait(1_500_000_000)));
        let mut player = Player::new(scenario.into(), &["h"], || 0).unwrap();
        let mut session = player.session();
        player.begin(&mut session).unwrap();
        let Ok(Prepared::Constant(request)) = player.request(&mut session, &mut Vec::new()) else {
            panic!("no variables")
        };
        let text = String::from_utf8(request.bytes.to_vec()).unwrap();
        assert!(text.starts_with("GET /c HTTP/1.1\r\nHost: h\r\nUser-Agent: plimsoll/"), "{text}");
        assert!(
            text.ends_with(
                "\r\nX: y\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
                 Sec-WebSocket-Key: ----plimsoll--key-----==\r\nSec-WebSocket-Protocol: a\r\n\
                 Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_target_with_http2_has_no_websocket() {
        let definition = format!(
            r#"{{"targets": [{{"url": "http://h", "http2": true}}, {{"url": "http://i"}}],
                "flows": [{{"name": "f", "steps": [{CONNECT}, {{"name": "c", "websocket": {{"send": {{}}}}, "body": {{"text": "x"}}}}]}}]}}"#
        );
        let error = Scenario::new(&definition, 0, 1, 1).unwrap_err().to_string();
        assert_eq!(error, "flows[0].steps[0].websocket: a WebSocket needs HTTP/1.1, but its target has http2");
        let other = definition.replace(r#""path": "/c""#, r#""path": "/c", "target": 1"#);
        assert!(Scenario::new(&other, 0, 1, 1).is_ok());
    }

    #[test]
    fn a_message_is_made_of_values_and_the_reply_is_matched_and_read() {
        let send = r#"{"name": "c", "websocket": {"send": {}}, "body": {"json": "{\"n\": \"${iteration}\"}"}}"#;
        let receive = r#"{"name": "c", "websocket": {"receive": {"reply": true}}, "expect": {"json": [["/id", 1]]},
            "extract": [{"into": "v", "from": "json", "what": "/v"}]}"#;
        let again = r#"{"name": "c", "websocket": {"send": {}}, "body": {"text": "<${v}>"}}"#;
        let mut player = Player::new(scenario(&[CONNECT, send, receive, again]).unwrap().into(), &["h"], || 0).unwrap();
        let mut session = player.session();
        player.begin(&mut session).unwrap();
        player.advance(&mut session);
        assert_eq!(player.message(&session), Ok(&b"{\"n\": \"0\"}"[..]));
        player.advance(&mut session);
        let awaits =
            [&b"{\"id\": 2}"[..], b"no", b"{\"id\": 1, \"v\": \"x\"}"].map(|text| player.awaits(&session, text));
        assert_eq!(awaits, [false, false, true]);
        let verdict = player.judge(&mut session, 101, b"", b"{\"id\": 1, \"v\": \"x\"}", 0);
        assert_eq!((verdict, player.advance(&mut session)), (Verdict::Success, Next::Step { think: 0 }));
        assert_eq!(player.message(&session), Ok(&b"<x>"[..]));
    }

    #[test]
    fn the_awaited_message_is_the_one_with_the_values_of_its_user() {
        let send = r#"{"name": "c", "websocket": {"send": {}}, "body": {"text": "${user} ${iteration}"}}"#;
        let receive = |expect: &str| {
            let step = r#"{"name": "c", "websocket": {"receive": {"reply": true}}, "expect": {"#;
            scenario(&[CONNECT, send, &format!("{step}{expect}}}}}")]).unwrap()
        };
        for expect in [
            r#""contains": ["\"id\": \"${iteration}\""], "lacks": ["by${iteration}"]"#,
            r#""json": [["/id", "${iteration}"], ["", {"id": "${iteration}", "by": ["u${user}"]}]]"#,
        ] {
            let mut player = Player::new(receive(expect).into(), &["h"], || 0).unwrap();
            let mut users = [player.session(), player.session()];
            for session in &mut users {
                player.begin(session).unwrap();
                player.advance(session);
                player.advance(session);
                assert_eq!(player.cannot_await(session), None);
            }
            for message in 0..3_usize {
                let text = format!(r#"{{"id": "{message}", "by": ["u{message}"]}}"#);
                let awaits = [0, 1].map(|user| player.awaits(&users[user], text.as_bytes()));
                assert_eq!(awaits, [message == 0, message == 1], "{expect} {text}");
            }
            let verdict = player.judge(&mut users[1], 101, b"", br#"{"id": "2"}"#, 0);
            let Verdict::Assertion(why) = verdict else { panic!("{verdict:?}") };
            assert!(why.ends_with("is \"2\" and not \"1\"") || why.ends_with(r#"contain "\"id\": \"1\"""#), "{why}");
        }
    }

    #[test]
    fn a_message_without_its_value_cannot_be_awaited() {
        let extract = r#"{"name": "g", "method": "GET", "path": "/",
            "extract": [{"into": "v", "from": "json", "what": "/v"}]}"#;
        let receive = r#"{"name": "c", "websocket": {"receive": {"reply": true}}, "expect": {"contains": ["${v}"]}}"#;
        let mut player = Player::new(scenario(&[CONNECT, extract, receive]).unwrap().into(), &["h"], || 0).unwrap();
        let mut session = player.session();
        player.begin(&mut session).unwrap();
        player.advance(&mut session);
        player.advance(&mut session);
        let reason = "cannot be awaited: ${v} has no value, no earlier response had one";
        assert_eq!(player.cannot_await(&session), Some(reason.into()));
        assert!(!player.awaits(&session, b"any"));
    }

    #[test]
    fn a_message_without_its_value_cannot_be_sent() {
        let extract = r#"{"name": "g", "method": "GET", "path": "/",
            "extract": [{"into": "v", "from": "json", "what": "/v"}]}"#;
        let send = r#"{"name": "c", "websocket": {"send": {}}, "body": {"text": "${v}"}}"#;
        let mut player = Player::new(scenario(&[CONNECT, extract, send]).unwrap().into(), &["h"], || 0).unwrap();
        let mut session = player.session();
        player.begin(&mut session).unwrap();
        player.advance(&mut session);
        player.advance(&mut session);
        let reason = "cannot be sent: ${v} has no value, no earlier response had one";
        assert_eq!(player.message(&session), Err(reason.into()));
    }

    #[test]
    fn mistakes_are_found_before_anything_is_sent() {
        let step = |fields: &str| scenario(&[CONNECT, &format!(r#"{{"name": "c", {fields}}}"#)]).unwrap_err();
        let first = |fields: &str| scenario(&[&format!(r#"{{"name": "c", {fields}}}"#)]).unwrap_err();
        let wait = r#"{"name": "c", "websocket": {"wait": 1.0}}"#;
        let connect = |fields: &str| {
            scenario(&[&format!(r#"{{"name": "c", "path": "/", "websocket": {{"connect": {{}}}}, {fields}}}"#), wait])
                .unwrap_err()
        };
        for (error, begins) in [
            (
                first(r#""websocket": {"send": {}}, "body": {"text": "x"}"#),
                "flows[0].steps[0].websocket: no earlier step",
            ),
            (first(r#""websocket": {"connect": {}}, "path": "/""#), "flows[0].steps: to connect alone is no load"),
            (first(r#""path": "/""#), "flows[0].steps[0]: missing field `method`"),
            (connect(r#""method": "POST""#), "flows[0].steps[0].method: a Web"),
            (connect(r#""headers": [["upgrade", "x"]]"#), "flows[0].steps[0].hea"),
            (connect(r#""expect": {"contains": ["x"]}"#), "flows[0].steps[0].exp"),
            (step(r#""websocket": {"send": {}}"#), "flows[0].steps[1].body: there is no message to send"),
            (step(r#""websocket": {"wait": 1.0}, "body": {"text": "x"}"#), "flows[0].steps[1].body: only a send step"),
            (step(r#""websocket": {"wait": 1.0}, "path": "/""#), "flows[0].steps[1].path: only the step that connects"),
            (step(r#""websocket": {"wait": -1.0}"#), "flows[0].steps[1].websocket.wait: "),
            (step(r#""websocket": {"close": 1006}"#), "flows[0].steps[1].websocket.close: 1006 cannot be sent"),
            (
                step(r#""websocket": {"close": 1000}, "expect": {"max_time": 1}"#),
                "flows[0].steps[1].expect: only steps",
            ),
            (
                step(r#""websocket": {"receive": {"reply": true}}, "expect": {"status": [[101, 101]]}"#),
                "flows[0].steps[1].expect: a message has",
            ),
            (
                step(r#""websocket": {"receive": {"reply": true}}, "stream": "sse""#),
                "flows[0].steps[1].stream: a WebSocket",
            ),
            (step(r#""websocket": {"ping": {}}"#), "flows[0].steps[1].websocket: unknown variant `ping`"),
        ] {
            assert!(error.starts_with(begins), "{begins}: {error}");
        }
    }
}
