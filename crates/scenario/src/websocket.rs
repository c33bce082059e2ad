//! Steps of a WebSocket: one connection of a user, its messages and its end.

use plimsoll_websocket::{Key, Offer, may_be_sent};

use crate::DefinitionError;
use crate::definition::{self, From};
use crate::request::Line;
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
        let definition::Expect { status, contains, lacks, json, max_time } = &step.expect;
        let of_body = !(contains.is_empty() && lacks.is_empty() && json.is_empty());
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
            definition::WebSocket::Send {} => {
                WebSocket::Send { binary: matches!(step.body, Some(definition::Body::Base64(_))) }
            }
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

/// Refuses steps that need a connection before any step of the flow connects.
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
    Ok(())
}
