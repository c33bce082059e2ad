//! A target with known behaviour, which counts and times the requests that it receives.
//!
//! `plimsoll-truth [PORT]` serves on 127.0.0.1 until its standard input is closed, or until a signal. It has one thread
//! and no runtime, so that it adds as little as possible, and keeps its own record.

mod behaviours;
mod clock;
mod connection;
mod control;
mod draws;
mod record;
mod request;
mod script;
mod server;
mod socket;
mod timers;

use std::io::{self, Write};
use std::process::ExitCode;

use server::Server;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().map_or(Some(0), |text| text.parse().ok());
    let (Some(port), None) = (port, arguments.next()) else {
        return fail("usage: plimsoll-truth [PORT]", 2);
    };
    match serve(port) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&format!("plimsoll-truth: port {port}: {error}"), 1),
    }
}

fn serve(port: u16) -> io::Result<()> {
    let mut server = Server::new(port)?;
    let mut output = io::stdout();
    writeln!(output, "listening on 127.0.0.1:{}", server.port()?)?;
    output.flush()?;
    server.run()
}

fn fail(why: &str, code: u8) -> ExitCode {
    // If standard error is closed, the message is lost.
    drop(writeln!(io::stderr(), "{why}"));
    ExitCode::from(code)
}
