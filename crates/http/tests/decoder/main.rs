//! The response decoder from outside: its rules, and its indifference to how the bytes are cut.

mod rules;
mod splits;
mod transcript;
