//! System calls that fail now and then. The library is preloaded into a process (`LD_PRELOAD`), so it stands below the
//! engine, Python and `SQLite` alike, and none of them holds code for tests.
//!
//! `PLIMSOLL_FAULTS` holds the rules (see [`rules`]), `PLIMSOLL_FAULTS_SEED` a number, and `PLIMSOLL_FAULTS_SWITCH` the
//! path of a file that all processes share: rules apply while its first byte is not 0, and how often each was applied
//! is counted behind that. A process without these variables is left alone.
#![allow(unsafe_code)] // C functions are replaced by ours, and called.

mod calls;
mod chance;
mod descriptor;
mod plan;
pub mod rules;
mod switch;
