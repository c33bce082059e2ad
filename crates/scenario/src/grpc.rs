//! Steps that are calls of gRPC: their messages, and the check of their responses.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use plimsoll_grpc::{Code, HEADERS, MessageError, Method, Schema, Status, push_message, split, timeout_header};
use plimsoll_http as http;
use serde_json::Value;

use crate::DefinitionError;
use crate::bodies::Held;
use crate::definition::{self, Body};
use crate::headers::Line;
use crate::verdict::Verdict;

/// The method of their rows.
pub(crate) const GRPC: &str = "gRPC";

/// A compiled call.
#[derive(Debug)]
pub(crate) struct Grpc {
    method: Method,
    gzip: bool,
    /// Those that are a success.
    codes: Box<[Code]>,
}

/// A complete response to a call, as HTTP sees it.
#[derive(Debug, Clone, Copy)]
pub struct Reply<'a> {
    /// The status of HTTP.
    pub status: u16,
    /// Raw.
    pub head: &'a [u8],
    /// As received.
    pub body: &'a [u8],
    /// Raw lines.
    pub trailers: &'a [u8],
}

/// The schema of a definition.
pub(crate) fn schema(base64: &str) -> Result<Schema, DefinitionError> {
    let wrong = |error: &dyn std::fmt::Display| DefinitionError::new("schema", error);
    let bytes = BASE64_STANDARD.decode(base64).map_err(|error| wrong(&error))?;
    Schema::from_bytes(&bytes).map_err(|error| wrong(&error))
}

impl Grpc {
    /// Compiles the step's part of a definition. Checks that the step has only fields that fit. A step without a message
    /// gets an empty one.
    pub(crate) fn new(
        step: &mut definition::Step,
        schema: Option<&Schema>,
        field: &str,
    ) -> Result<Option<Arc<Grpc>>, DefinitionError> {
        let Some(given) = &step.grpc else { return Ok(None) };
        let wrong =
            |name: &str, reason: &dyn std::fmt::Display| DefinitionError::new(format!("{field}.{name}"), reason);
        if step.method.is_some() || step.path.is_some() {
            return Err(wrong("path", &"the method and the path of a call follow from its name"));
        }
        if step.websocket.is_some() || step.stream.is_some() {
            return Err(wrong("grpc", &"a call is neither a WebSocket nor a stream of events"));
        }
        if !step.expect.status.is_empty() {
            return Err(wrong("expect.status", &"a call has a code in its place"));
        }
        let schema = schema.ok_or_else(|| wrong("grpc", &"there is no schema; give the .proto file"))?;
        let method = schema.method(&given.method).map_err(|error| wrong("grpc.method", &error))?;
        if let Some(number) = given.codes.iter().find(|number| **number as usize >= Code::ALL.len()) {
            return Err(wrong("grpc.codes", &format!("{number} is not a status code; they are 0 to 16")));
        }
        let codes = if given.codes.is_empty() { &[0][..] } else { &given.codes };
        let codes = codes.iter().map(|number| Code::from_number(*number)).collect();
        let gzip = given.gzip;
        match step.body {
            None => step.body = Some(Body::Json(if method.client_streams { "[]" } else { "{}" }.into())),
            Some(Body::Json(_)) => {}
            Some(_) => return Err(wrong("body", &"a message is JSON")),
        }
        Ok(Some(Arc::new(Grpc { method, gzip, codes })))
    }

    /// The path of the call.
    pub(crate) fn path(&self) -> String {
        self.method.path().to_owned()
    }

    /// The server streams.
    pub(crate) fn has_streamed_replies(&self) -> bool {
        self.method.server_streams
    }

    /// Replaces the header lines by those that the call needs besides the given ones. `timeout`: ns, 0 = none.
    pub(crate) fn lines(&self, lines: Vec<Line>, timeout: u64, field: &str) -> Result<Vec<Line>, DefinitionError> {
        let mut own: Vec<_> = HEADERS.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        if self.gzip {
            own.push(("grpc-encoding", "gzip".to_owned()));
        }
        if timeout > 0 {
            own.push(("grpc-timeout", timeout_header(timeout)));
        }
        let mut all = Vec::new();
        for line in lines {
            let is = |name: &str| line.name.eq_ignore_ascii_case(name);
            if own.iter().any(|(name, _)| is(name)) || line.name.to_lowercase().starts_with("grpc-") {
                return Err(DefinitionError::new(line.field, format!("{} is set by the step", line.name)));
            }
            if !is("Accept") && !is("Accept-Encoding") {
                all.push(line);
            }
        }
        let line = |(name, value): (&str, String)| Line { field: format!("{field}.grpc"), name: name.into(), value };
        all.extend(own.into_iter().map(line));
        Ok(all)
    }

    /// Looks for fields that the message does not have. `example`: the JSON with examples of variables.
    pub(crate) fn check(&self, example: &str) -> Result<(), MessageError> {
        // A variable outside of a string may be any part of a document, so the example need not be JSON.
        match serde_json::from_str(example) {
            Ok(Value::Array(messages)) if self.method.client_streams => {
                messages.iter().try_for_each(|message| self.method.check(message))
            }
            Ok(message) => self.method.check(&message),
            Err(_) => Ok(()),
        }
    }

    /// Appends the messages of this JSON, with their prefixes: one message, or for a client that streams a list of them.
    pub(crate) fn encode(&self, json: &str, into: &mut Vec<u8>) -> Result<(), MessageError> {
        let start = into.len();
        let result = match serde_json::from_str(json) {
            Ok(Value::Array(messages)) if self.method.client_streams => {
                messages.iter().try_for_each(|message| self.push(&message.to_string(), into))
            }
            _ => self.push(json, into),
        };
        if result.is_err() {
            into.truncate(start);
        }
        result
    }

    fn push(&self, json: &str, into: &mut Vec<u8>) -> Result<(), MessageError> {
        let mut message = Vec::new();
        self.method.encode(json, &mut message).map_err(|error| {
            // The schema names the wrong field better than the conversion.
            let check = serde_json::from_str(json).map(|json| self.method.check(&json));
            if let Ok(Err(named)) = check { named } else { error }
        })?;
        push_message(&message, self.gzip, into);
        Ok(())
    }

    /// The reply as JSON; a list if the server streams. Empty without `wants_json`, or if the call has no reply because
    /// another code than OK is expected. The error is the verdict. The JSON counts in the memory for bodies as long as it
    /// is held.
    pub(crate) fn read(&self, reply: &Reply<'_>, wants_json: bool, limit: u64) -> Result<(String, Held), Verdict> {
        if reply.status != 200 {
            return Err(Verdict::http(reply.status));
        }
        let protocol = |error: &dyn std::fmt::Display| Verdict::Protocol(error.to_string());
        let status = Status::read(reply.head, reply.trailers).map_err(|error| protocol(&error))?;
        if !self.codes.contains(&status.code) {
            return Err(match status.code {
                Code::DeadlineExceeded => Verdict::Timeout(status.to_string()),
                _ => Verdict::Http(status.to_string()),
            });
        }
        let (mut count, mut messages, mut held, mut bytes) = (0, Ok(Vec::new()), Held::default(), 0);
        let each = &mut |message: &[u8]| {
            count += 1;
            if wants_json && let Ok(known) = &mut messages {
                match self.method.decode(message, &mut |more| held.reserve(bytes + more)) {
                    Ok(json) => {
                        // The list is made of all of them while they are still there.
                        bytes += 2 * (json.len() + size_of::<String>()) as u64;
                        known.push(json);
                    }
                    Err(error) => messages = Err(error),
                }
            }
        };
        split(http::header(reply.head, "grpc-encoding"), reply.body, limit, each).map_err(|error| protocol(&error))?;
        let mut messages = messages.map_err(|error| protocol(&error))?;
        held.reserve(bytes).map_err(|error| protocol(&error))?;
        if self.method.server_streams {
            return Ok((list(&messages), held));
        }
        match (status.code, count) {
            (Code::Ok, 1) => Ok((messages.pop().unwrap_or_default(), held)),
            (Code::Ok, _) => Err(protocol(&format!("the response has {count} messages, not one"))),
            _ => Ok((String::new(), held)),
        }
    }
}

/// A list of JSON, in memory of just its length.
fn list(items: &[String]) -> String {
    let mut list = String::with_capacity(items.iter().map(|item| item.len() + 1).sum::<usize>() + 2);
    list.push('[');
    for item in items {
        if list.len() > 1 {
            list.push(',');
        }
        list.push_str(item);
    }
    list.push(']');
    list
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;
    use plimsoll_grpc::Schema;
    use serde_json::{Value, json};

    use super::Reply;
    use crate::{Next, Player, Prepared, Scenario, Session, Verdict};

    const SCHEMA: &str = r#"syntax = "proto3"; package t; message Text { string text = 1; int64 n = 2; }
        service Echo { rpc Say(Text) returns (Text); rpc Collect(stream Text) returns (Text);
            rpc List(Text) returns (stream Text); }"#;
    const HEAD: &[u8] = b"HTTP/2 200\r\ncontent-type: application/grpc\r\n\r\n";
    const OK: &[u8] = b"grpc-status: 0\r\n";
    /// The message {"text": "a", "n": 5} with its prefix.
    const MESSAGE: &[u8] = b"\0\0\0\0\x05\x0a\x01a\x10\x05";

    fn scenario(steps: &Value) -> Result<Scenario, String> {
        let schema = BASE64_STANDARD.encode(Schema::from_text(SCHEMA).unwrap().as_bytes());
        let definition = json!({"targets": [{"url": "http://h", "headers": [["x-a", "b"]]}], "schema": schema,
            "flows": [{"name": "f", "steps": steps}]});
        Scenario::new(&definition.to_string(), 0, 1, 1).map_err(|error| error.to_string())
    }

    /// A player at its first step.
    fn player(steps: &Value) -> (Player, Session) {
        let mut player = Player::new(scenario(steps).unwrap().into(), &["h"], || 0).unwrap();
        let mut session = player.session();
        player.begin(&mut session).unwrap();
        (player, session)
    }

    fn call(method: &str, fields: &Value) -> Value {
        let mut step = json!({"name": method, "grpc": {"method": format!("t.Echo/{method}")}});
        for (name, value) in fields.as_object().unwrap() {
            step[name] = value.clone();
        }
        step
    }

    fn body_of(step: &Value) -> Vec<u8> {
        let (mut player, mut session) = player(&json!([step]));
        match player.request(&mut session, &mut Vec::new()).unwrap() {
            Prepared::Constant(constant) => constant.bytes[constant.head..].to_vec(),
            Prepared::Made { .. } => panic!("it has no variables"),
        }
    }

    fn judged(step: &Value, body: &[u8], trailers: &[u8]) -> Verdict {
        let (mut player, mut session) = player(&json!([step]));
        player.judge_call(&mut session, &Reply { status: 200, head: HEAD, body, trailers }, 1000, 7)
    }

    #[test]
    fn a_call_is_a_post_with_the_headers_of_grpc_and_a_message() {
        let step = call("Say", &json!({"timeout": 1.5, "body": {"json": "{\"text\": \"a\", \"n\": 5}"}}));
        let (mut player, mut session) = player(&json!([step]));
        let step = player.scenario().step(session.step());
        assert!(step.is_call() && step.method == "gRPC" && step.needs_head && step.needs_body);
        let Ok(Prepared::Constant(request)) = player.request(&mut session, &mut Vec::new()) else {
            panic!("no variables")
        };
        let (head, body) = request.bytes.split_at(request.head);
        assert_eq!(body, MESSAGE);
        let head = String::from_utf8(head.to_vec()).unwrap();
        assert!(head.starts_with("POST /t.Echo/Say HTTP/1.1\r\nHost: h\r\nUser-Agent: plimsoll/"), "{head}");
        assert!(
            head.ends_with(
                "\r\nx-a: b\r\nTE: trailers\r\nContent-Type: application/grpc\r\n\
                 grpc-accept-encoding: gzip, deflate, identity\r\ngrpc-timeout: 1500000u\r\nContent-Length: 10\r\n\r\n"
            ),
            "{head}"
        );
    }

    #[test]
    fn values_of_variables_become_part_of_the_message() {
        let text = r#"{"text": "<${iteration}>", "n": ${user}}"#;
        let list = json!([call("Say", &json!({"body": {"json": text}}))]);
        let (mut player, mut session) = player(&list);
        let mut bytes = Vec::new();
        for _ in 0..2 {
            bytes.clear();
            let Ok(Prepared::Made { head, .. }) = player.request(&mut session, &mut bytes) else { panic!("variables") };
            assert_eq!(&bytes[head..], b"\0\0\0\0\x05\x0a\x03<0>");
        }
    }

    #[test]
    fn values_that_make_no_message_are_not_sent() {
        let first = json!({"name": "g", "method": "GET", "path": "/",
            "extract": [{"into": "v", "from": "json", "what": "/v"}]});
        let (mut player, mut session) =
            player(&json!([first, call("Say", &json!({"body": {"json": "{\"n\": \"${v}\"}"}}))]));
        player.judge(&mut session, 200, b"", b"{\"v\": \"many\"}", 0);
        assert_eq!(player.advance(&mut session), Next::Step { think: 0 });
        let mut bytes = Vec::new();
        let error = player.request(&mut session, &mut bytes).map(|_| ()).unwrap_err();
        assert!(error.starts_with("cannot be sent: t.Text: ") && bytes.is_empty(), "{error}");
    }

    #[test]
    fn messages_may_be_empty_compressed_or_several() {
        let empty = body_of(&call("Say", &json!({})));
        assert_eq!(empty, b"\0\0\0\0\0");
        assert_eq!(body_of(&call("Collect", &json!({}))), b"");
        let two = json!({"body": {"json": "[{\"text\": \"a\", \"n\": 5}, {}]"}});
        assert_eq!(body_of(&call("Collect", &two)), [MESSAGE, b"\0\0\0\0\0"].concat());
        let mut gzip = call("Say", &json!({"body": {"json": "{\"n\": 1}"}}));
        gzip["grpc"]["gzip"] = true.into();
        assert_eq!(body_of(&gzip)[0], 1);
    }

    #[test]
    fn a_code_is_a_verdict() {
        let step = |codes: &[u32]| {
            let mut step = call("Say", &json!({}));
            step["grpc"]["codes"] = codes.into();
            step
        };
        let http = |text: &str| Verdict::Http(text.into());
        for (codes, body, trailers, expected) in [
            (&[][..], MESSAGE, OK, Verdict::Success),
            (&[], b"", b"grpc-status: 14\r\ngrpc-message: down%21\r\n", http("grpc UNAVAILABLE: down!")),
            (&[], b"", b"grpc-status: 4\r\n", Verdict::Timeout("grpc DEADLINE_EXCEEDED".into())),
            (&[0, 5], b"", b"grpc-status: 5\r\n", Verdict::Success),
            (&[5], MESSAGE, OK, http("grpc OK")),
            (&[4], b"", b"grpc-status: 4\r\n", Verdict::Success),
            (&[], b"", OK, Verdict::Protocol("the response has 0 messages, not one".into())),
            (&[], b"\0\0\0\0\x05", OK, Verdict::Protocol("the body ends inside a message, after 5 bytes of it".into())),
            (&[], MESSAGE, b"", Verdict::Protocol("the response has no grpc-status".into())),
        ] {
            assert_eq!(judged(&step(codes), body, trailers), expected, "{codes:?} {trailers:?}");
        }
        let (mut player, mut session) = player(&json!([step(&[])]));
        let page = Reply { status: 404, head: b"HTTP/2 404\r\n\r\n", body: b"", trailers: b"" };
        assert_eq!(player.judge_call(&mut session, &page, 1000, 7), http("status 404"));
    }

    #[test]
    fn the_reply_is_checked_and_read_as_json() {
        let expect = |pointer: &str, value: Value| json!({"expect": {"json": [[pointer, value]]}});
        let no_message = Verdict::Assertion("json /text is \"a\" and not \"b\"".into());
        for (step, body, expected) in [
            (call("Say", &expect("", json!({"text": "a", "n": 5}))), MESSAGE.to_vec(), Verdict::Success),
            (call("Say", &expect("/text", json!("b"))), MESSAGE.to_vec(), no_message),
            (call("List", &expect("/1/text", json!("a"))), [b"\0\0\0\0\0", MESSAGE].concat(), Verdict::Success),
            (call("List", &expect("", json!([]))), vec![], Verdict::Success),
            (
                call("Say", &expect("", json!({}))),
                b"\0\0\0\0\x01\x08".to_vec(),
                Verdict::Protocol("t.Text: failed to decode Protobuf message: ".into()),
            ),
        ] {
            match (judged(&step, &body, OK), expected) {
                (Verdict::Protocol(found), Verdict::Protocol(begins)) => assert!(found.starts_with(&begins), "{found}"),
                (found, expected) => assert_eq!(found, expected, "{step}"),
            }
        }
        let extract = json!({"extract": [{"into": "v", "from": "json", "what": "/n"}]});
        let again = call("Say", &json!({"body": {"json": "{\"n\": ${v}}"}}));
        let (mut player, mut session) = player(&json!([call("Say", &extract), again]));
        let reply = Reply { status: 200, head: HEAD, body: MESSAGE, trailers: OK };
        assert_eq!(player.judge_call(&mut session, &reply, 1000, 7), Verdict::Success);
        player.advance(&mut session);
        let mut bytes = Vec::new();
        let Ok(Prepared::Made { head, .. }) = player.request(&mut session, &mut bytes) else { panic!("a variable") };
        assert_eq!(&bytes[head..], b"\0\0\0\0\x02\x10\x05");
    }

    #[test]
    fn mistakes_are_found_before_anything_is_sent() {
        let step = |fields: Value| scenario(&json!([call("Say", &fields)])).map(|_| ()).unwrap_err();
        let grpc = |grpc: Value| scenario(&json!([{"name": "n", "grpc": grpc}])).map(|_| ()).unwrap_err();
        let place = "flows[0].steps[0]";
        for (error, expected) in [
            (step(json!({"path": "/"})), ".path: the method and the path of a call follow from its name"),
            (step(json!({"stream": "sse"})), ".grpc: a call is neither"),
            (step(json!({"expect": {"status": [[200, 200]]}})), ".expect.status: a call has a code"),
            (step(json!({"body": {"text": "x"}})), ".body: a message is JSON"),
            (
                step(json!({"body": {"json": "{\"txt\": 1}"}})),
                ".body.json: t.Text has no field \"txt\"; did you mean \"text\"?",
            ),
            (
                step(json!({"body": {"json": "{\"txt\": \"${uuid}\"}"}})),
                ".body.json: t.Text has no field \"txt\"; did you mean \"text\"?",
            ),
            (step(json!({"body": {"json": "{\"n\": \"x\"}"}})), ".body.json: t.Text: "),
            (step(json!({"body": {"json": "[]"}})), ".body.json: t.Text: invalid type: sequence"),
            (step(json!({"headers": [["grpc-timeout", "1S"]]})), ".headers[0]: grpc-timeout is set by the step"),
            (step(json!({"headers": [["te", "x"]]})), ".headers[0]: te is set by the step"),
            (grpc(json!({"method": "t.Echo/Sy"})), ".grpc.method: t.Echo has no method \"Sy\"; did you mean \"Say\"?"),
            (grpc(json!({"method": "t.Echo/Say", "codes": [17]})), ".grpc.codes: 17 is not a status code"),
        ] {
            let rest = error.strip_prefix(place).unwrap_or_else(|| panic!("{error}"));
            assert!(rest.starts_with(expected), "{error}");
        }
        let text = r#"{"targets": [{"url": "http://h"}], "flows": [{"name": "f", "steps": [{"name": "n",
            "grpc": {"method": "a.B/C"}}]}]}"#;
        let error = Scenario::new(text, 0, 1, 1).map(|_| ()).unwrap_err().to_string();
        assert_eq!(error, "flows[0].steps[0].grpc: there is no schema; give the .proto file");
    }
}
