//! Recording: one [`Exchange`] per request, aggregated in histograms per second, endpoint and outcome.
//!
//! # Layout
//!
//! - [`outcome`]: the fixed list of outcomes of an exchange.
//! - [`exchange`]: the stamps of one exchange, and the function that computes its times.
//! - [`histogram`]: durations in µs with 3 significant digits, and their V2 encoding.
//! - [`cell`]: the exchanges of one endpoint with one outcome in one second.
//! - [`endpoints`]: their numbers, and the limit of names.
//! - [`recorder`]: aggregates exchanges and returns whole seconds.
//! - [`parts`]: the target's own timings.
//! - [`stream`]: the rows that streams add to those of their requests.
//! - [`socket`]: the rows that WebSockets add.
//! - `auth`: the rows of requests that are sent only to say who sends the others.
//! - [`tokens`]: the rows that generated texts add.
//! - [`totals`]: the sums of the run so far, for the live page.
//! - [`traced`]: the exchanges that become spans.
//! - [`failures`]: failures grouped by message.
//! - `grouping`: finds the common text of messages.
//! - [`log`]: every exchange as a row, on request, and rows as columns.
//!
//! Nothing here opens a socket, reads a clock or rounds a value before it is in a histogram.

mod auth;
mod buckets;
pub mod cell;
pub mod endpoints;
pub mod exchange;
pub mod failures;
mod grouping;
pub mod histogram;
pub mod log;
pub mod outcome;
pub mod parts;
pub mod recorder;
pub mod socket;
pub mod stream;
pub mod tokens;
pub mod totals;
pub mod traced;
mod zigzag;

pub use cell::{Cell, EndpointId};
pub use endpoints::{OTHERS, STREAM_ROWS};
pub use exchange::{Exchange, StampSource, Times};
pub use failures::{Failure, Filed, Message};
pub use histogram::{DecodeError, Durations, Summand};
pub use outcome::Outcome;
pub use parts::Part;
pub use recorder::{HealthSecond, Recorder, Taken};
pub use socket::SocketRows;
pub use stream::StreamRows;
pub use tokens::{TokenRows, Tokens};
pub use totals::Sums;
pub use traced::{Sampling, Traced};
