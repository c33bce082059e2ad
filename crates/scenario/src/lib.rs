//! The behaviour of a native user, without sockets and without a clock: produces requests, consumes responses.
//!
//! # Layout
//!
//! The compiled definition, shared and immutable:
//!
//! - `definition`: the structure of the JSON. `compile`: builds a [`Scenario`]; every error is a [`DefinitionError`].
//! - `scenario`: [`Scenario`], its [`Flow`]s and [`Step`]s. `target`: [`Target`].
//! - `names`, `scope`, `template`: variables become indexes, texts become pieces. `functions`, `jwt`: digests of texts,
//!   and tokens that users sign.
//! - `condition`, `repetition`: steps that are left out, and steps that are done several times.
//! - `request`: a step's request and its bytes; `body` and `headers`: parts of it. `time`, `choice`: think times, and the choice of flows.
//! - `auth`: tokens, signatures and answers to challenges, which are added to an encoded request.
//! - `websocket`: steps of a WebSocket. `grpc`: steps that are calls of gRPC.
//! - `response`, `expect`, `extract`, `verdict`: the check of a response, and the [`Verdict`]. `json`, `css`: read JSON
//!   and HTML without a tree. `bodies`: the memory limit of bodies, and of what is made of them.
//!
//! The state during a run:
//!
//! - `session`: [`Session`], the state of one user, with its `cookies`; `date` parses their dates.
//! - `player`: [`Player`], one per worker, moves sessions. It has the state of each `feeder`, and `random` numbers.
//!
//! A constant step is encoded once, and its bytes are shared by all exchanges. A step with variables is written to one
//! buffer, which the caller may reuse.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//!
//! use plimsoll_scenario::{Next, Player, Prepared, Scenario, Verdict};
//!
//! let definition = r#"{"targets": [{"url": "http://127.0.0.1:8000"}], "flows": [{"name": "todo", "steps": [
//!     {"name": "POST /todos", "method": "POST", "path": "/todos", "body": {"json": "{\"n\": ${iteration}}"},
//!      "extract": [{"into": "id", "from": "json", "what": "/id"}], "think": {"constant": 1.5}},
//!     {"name": "GET /todos/{id}", "method": "GET", "path": "/todos/${id}"}]}]}"#;
//! let scenario = Arc::new(Scenario::new(definition, 0, 1, 42)?);
//! let mut player = Player::new(scenario, &["127.0.0.1:8000"], || 1_772_323_200_000)?;
//!
//! let mut session = player.session();
//! player.begin(&mut session).expect("there is no feeder");
//! let mut bytes = Vec::new();
//! let Prepared::Made { head, .. } = player.request(&mut session, &mut bytes)? else { panic!("it has a variable") };
//! assert_eq!(&bytes[head..], b"{\"n\": 0}");
//!
//! let verdict = player.judge(&mut session, 201, b"", b"{\"id\": 7}", 3_000_000);
//! assert_eq!((verdict, player.advance(&mut session)), (Verdict::Success, Next::Step { think: 1_500_000_000 }));
//! bytes.clear();
//! player.request(&mut session, &mut bytes)?;
//! assert!(bytes.starts_with(b"GET /todos/7 HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod address;
mod auth;
pub mod bodies;
mod body;
mod certificates;
mod choice;
mod compile;
mod condition;
mod cookies;
mod css;
mod date;
mod decode;
mod definition;
mod error;
mod expect;
mod expected;
mod extract;
mod feeder;
mod filling;
mod functions;
mod grpc;
mod headers;
mod json;
mod jwt;
mod llm;
mod names;
mod player;
mod random;
mod repetition;
mod request;
mod response;
mod scenario;
mod scope;
mod session;
mod target;
mod template;
mod time;
mod verdict;
mod websocket;

pub use address::Address;
pub use auth::digest::Challenge;
pub use auth::token::{Token, TokenService, form_of, read_token, with_refresh_token};
pub use auth::{Scheme, add_line};
pub use certificates::Certificates;
pub use error::DefinitionError;
pub use grpc::Reply;
pub use llm::{Chunk, Objectives};
pub use player::{Constant, Exhausted, Next, Player, Prepared};
pub use scenario::{Flow, Scenario, Step, Stream};
pub use session::{Session, StepId};
pub use target::{Target, Verify, proxy_authorization};
pub use verdict::Verdict;
pub use websocket::{KEY, WebSocket};
