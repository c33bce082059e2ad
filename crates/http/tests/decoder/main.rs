//! Tests of the response decoder: its rules, and that the split of the bytes does not matter.

mod rules;
mod splits;
mod transcript;
