//! System calls that fail at random. The library is preloaded into a process (`LD_PRELOAD`), so it affects the engine,
//! Python and `SQLite`, and none of them contains code for tests.
//!
//! `PLIMSOLL_FAULTS` has the rules (see [`rules`]), `PLIMSOLL_FAULTS_SEED` a number, and `PLIMSOLL_FAULTS_SWITCH` the
//! path of a file that all processes share. Rules apply while its first word is not 0; the following words count how
//! often each rule applied. A process without these variables is not affected.
#![allow(unsafe_code)] // C functions are replaced by ours, and called.

mod calls;
mod chance;
mod descriptor;
mod plan;
pub mod rules;
mod switch;
