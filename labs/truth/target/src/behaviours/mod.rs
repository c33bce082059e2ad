//! The behaviour of each path: a table from path to a function `Request → Script`.

#![allow(clippy::unnecessary_wraps)] // behaviours are of one type, also those that cannot be asked for anything wrong

mod bodies;
mod chat;
mod faults;
mod sessions;
mod sockets;
mod timing;

use crate::draws::Draws;
use crate::request::Request;
use crate::script::{Script, response};

/// What a behaviour knows besides the request.
pub(crate) struct Context<'a> {
    pub(crate) draws: &'a mut Draws,
    /// The number of this request on its connection, from 1.
    pub(crate) turn: u64,
}

type Behaviour = fn(&Request, &mut Context<'_>) -> Result<Script, String>;

const BEHAVIOURS: &[(&str, Behaviour)] = &[
    ("/fixed", timing::fixed),
    ("/lognormal", timing::lognormal),
    ("/bimodal", timing::bimodal),
    ("/never", timing::never),
    ("/drip", timing::drip),
    ("/events", timing::events),
    ("/v1/chat/completions", chat::completions),
    ("/ws", sockets::open),
    ("/ws/message", sockets::message),
    ("/ws/close", sockets::close),
    ("/bytes", bodies::bytes),
    ("/chunked", bodies::chunked),
    ("/close-delimited", bodies::close_delimited),
    ("/gzip", bodies::gzip),
    ("/br", bodies::brotli),
    ("/zstd", bodies::zstd),
    ("/interim", bodies::interim),
    ("/keep-alive", sessions::keep_alive),
    ("/cookies", sessions::cookies),
    ("/redirect", sessions::redirect),
    ("/redirect-loop", sessions::redirect_loop),
    ("/status", sessions::status),
    ("/reset", faults::reset),
    ("/malformed", faults::malformed),
    ("/endless-header", faults::endless_header),
    ("/wrong-length", faults::wrong_length),
];

/// The script for a request. An unknown path gives a 404, an invalid parameter a 400, with a message.
pub(crate) fn script(request: &Request, context: &mut Context<'_>) -> Script {
    let Some((_, behaviour)) = BEHAVIOURS.iter().find(|(path, _)| *path == request.path()) else {
        let known: Vec<&str> = BEHAVIOURS.iter().map(|(path, _)| *path).collect();
        return Script::reply(response("404 Not Found", &[], format!("known: {}\n", known.join(" ")).as_bytes()));
    };
    behaviour(request, context)
        .unwrap_or_else(|wrong| Script::reply(response("400 Bad Request", &[], format!("{wrong}\n").as_bytes())))
}

#[cfg(test)]
pub(crate) fn play(target: &str) -> Script {
    script(&crate::request::get(target), &mut Context { draws: &mut Draws::default(), turn: 1 })
}

#[cfg(test)]
mod tests {
    use super::{BEHAVIOURS, play};
    use crate::script::{Script, Step};

    fn first_line(script: &Script) -> String {
        let sent = script.steps.iter().find_map(|step| if let Step::Send(bytes) = step { Some(bytes) } else { None });
        String::from_utf8_lossy(sent.unwrap()).lines().next().unwrap().to_owned()
    }

    #[test]
    fn every_path_is_named_once() {
        for (index, (path, _)) in BEHAVIOURS.iter().enumerate() {
            assert!(path.starts_with('/'));
            assert_eq!(BEHAVIOURS.iter().position(|(other, _)| other == path), Some(index));
        }
    }

    #[test]
    fn what_is_not_known_is_a_404_and_what_is_wrong_a_400() {
        assert_eq!(first_line(&play("/nowhere")), "HTTP/1.1 404 Not Found");
        assert_eq!(first_line(&play("/fixed?ms=x")), "HTTP/1.1 400 Bad Request");
        assert_eq!(first_line(&play("/reset?at=x")), "HTTP/1.1 400 Bad Request");
        assert_eq!(first_line(&play("/malformed?kind=x")), "HTTP/1.1 400 Bad Request");
    }
}
