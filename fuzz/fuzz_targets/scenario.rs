//! Any text as the definition of a scenario: it is rejected with the field of the error, or it can be played, and its
//! output is one HTTP request; no panic.

#![no_main]

use std::sync::Arc;

use httparse::{EMPTY_HEADER, Request, Status};
use libfuzzer_sys::fuzz_target;
use plimsoll_scenario::{Next, Player, Prepared, Scenario};

/// Maximum requests per input.
const MOST: usize = 20;

fuzz_target!(|input: &str| {
    let scenario = match Scenario::new(input, 0, 1, 1) {
        Ok(scenario) => Arc::new(scenario),
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let authorities = vec!["h:1"; scenario.targets().len()];
    let Ok(mut player) = Player::new(scenario, &authorities, || 0) else { return };
    let mut session = player.session();
    let mut into = Vec::new();
    if player.begin(&mut session).is_err() {
        return;
    }
    for _ in 0..MOST {
        into.clear();
        match player.request(&mut session, &mut into) {
            Ok(Prepared::Constant(constant)) => check(&constant.bytes, constant.head),
            Ok(Prepared::Made { head, .. }) => check(&into, head),
            Err(_) => {}
        }
        if matches!(player.advance(&mut session), Next::End { .. }) && player.begin(&mut session).is_err() {
            return;
        }
    }
});

/// head: length of the request's head.
fn check(request: &[u8], head: usize) {
    let mut headers = [EMPTY_HEADER; 256];
    let found = Request::new(&mut headers).parse(request);
    assert_eq!(found, Ok(Status::Complete(head)), "{}", String::from_utf8_lossy(request));
}
