//! `toml_lines`: the line of each key in a TOML document, for error messages.

use std::collections::HashMap;
use std::ops::Range;

use pyo3::prelude::*;
use toml_edit::{Document, TableLike, Value};

use crate::errors::refused;

/// Line (from 1) of every key and element of a TOML document, by path: `phase[1].rate`.
#[pyfunction]
pub(crate) fn toml_lines(text: &str) -> PyResult<HashMap<String, usize>> {
    let mut lines = Lines::new(text);
    match Document::parse(text) {
        Ok(document) => lines.table("", document.as_table()),
        Err(error) => {
            let line = lines.number(error.span().map_or(text.len(), |span| span.start));
            let message = error.message().lines().collect::<Vec<_>>().join(", ");
            return Err(refused(format_args!("line {line}: {message}")));
        }
    }
    Ok(lines.found)
}

struct Lines {
    /// The offset of each line except the first, ascending.
    starts: Vec<usize>,
    found: HashMap<String, usize>,
}

impl Lines {
    fn new(text: &str) -> Self {
        Self { starts: text.match_indices('\n').map(|(at, _)| at + 1).collect(), found: HashMap::new() }
    }

    /// The line that contains a byte of the document.
    fn number(&self, at: usize) -> usize {
        1 + self.starts.partition_point(|&start| start <= at)
    }

    fn note(&mut self, path: &str, span: Option<Range<usize>>) {
        if let Some(span) = span {
            self.found.insert(path.to_owned(), self.number(span.start));
        }
    }

    fn table(&mut self, path: &str, table: &dyn TableLike) {
        for (key, item) in table.iter() {
            let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            self.note(&path, table.key(key).and_then(toml_edit::Key::span));
            if let Some(table) = item.as_table_like() {
                self.table(&path, table);
            } else if let Some(value) = item.as_value() {
                self.elements(&path, value);
            } else if let Some(tables) = item.as_array_of_tables() {
                for (i, table) in tables.iter().enumerate() {
                    let path = format!("{path}[{i}]");
                    self.note(&path, table.span());
                    self.table(&path, table);
                }
            }
        }
    }

    /// The elements of an array.
    fn elements(&mut self, path: &str, value: &Value) {
        for (i, element) in value.as_array().into_iter().flatten().enumerate() {
            let path = format!("{path}[{i}]");
            self.note(&path, element.span());
            match element.as_inline_table() {
                Some(table) => self.table(&path, table),
                None => self.elements(&path, element),
            }
        }
    }
}
