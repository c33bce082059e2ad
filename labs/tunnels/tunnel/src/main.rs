//! A reverse tunnel: a server with a public address, and a client with the files that connects to it.
//!
//! `plimsoll-tunnel server KIND PUBLIC TUNNEL` answers HTTP at PUBLIC with the responses of the client at TUNNEL.
//! `plimsoll-tunnel client KIND TUNNEL` connects there. `plimsoll-tunnel files PUBLIC` serves the files without a
//! tunnel. KIND is `streams` or `connections`.
#![allow(clippy::print_stderr)] // a program of the command line

mod connections;
mod files;
mod public;
mod streams;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::rc::Rc;

use tokio::net::{TcpListener, TcpSocket};
use tokio::task::LocalSet;

use crate::files::Files;

const USAGE: &str = "usage: plimsoll-tunnel server streams|connections PUBLIC TUNNEL\n       \
                     plimsoll-tunnel client streams|connections TUNNEL\n       plimsoll-tunnel files PUBLIC";
/// Connections that wait to be accepted.
const BACKLOG: u32 = 4096;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("epoll is there");
    let done = LocalSet::new().block_on(&runtime, async {
        match words[..] {
            ["server", kind, public, tunnel] => server(kind, address(public)?, address(tunnel)?).await,
            ["client", kind, tunnel] => client(kind, address(tunnel)?).await,
            ["files", public] => public::serve(listen(address(public)?)?, Rc::new(Files::new())).await,
            _ => Err(USAGE.into()),
        }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("plimsoll-tunnel: {error}");
            ExitCode::from(2)
        }
    }
}

type Done = Result<(), Box<dyn std::error::Error>>;

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| format!("{text} is no address, as 127.0.0.1:8000 is"))
}

async fn server(kind: &str, public: SocketAddr, tunnel: SocketAddr) -> Done {
    let (public, tunnel) = (listen(public)?, listen(tunnel)?);
    match kind {
        "streams" => {
            let server = Rc::new(streams::Server::default());
            tokio::task::spawn_local(Rc::clone(&server).accept(tunnel));
            public::serve(public, server).await
        }
        "connections" => {
            let server = Rc::new(connections::Server::default());
            tokio::task::spawn_local(Rc::clone(&server).accept(tunnel));
            public::serve(public, server).await
        }
        _ => Err(USAGE.into()),
    }
}

async fn client(kind: &str, tunnel: SocketAddr) -> Done {
    let files = Rc::new(Files::new());
    match kind {
        "streams" => Ok(streams::client(tunnel, files).await?),
        "connections" => Ok(connections::client(tunnel, files).await?),
        _ => Err(USAGE.into()),
    }
}

fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
