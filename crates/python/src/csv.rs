//! `csv_lines`: rows of a table as lines of CSV.

use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyList, PyString};

/// From here to [`EXPONENT`], Python writes a float without an exponent.
const FRACTION: f64 = 1e-4;
const EXPONENT: f64 = 1e16;

/// The lines of these columns, which are equally long. A text is written as it is, None is an empty cell, and numbers
/// look as in Python. `end`: of each line.
#[pyfunction]
#[pyo3(signature = (columns, end = "\n"))]
#[allow(clippy::needless_pass_by_value)] // PyO3 makes the list for this call
pub(crate) fn csv_lines(columns: Vec<Bound<'_, PyList>>, end: &str) -> PyResult<String> {
    let rows = columns.first().map_or(0, PyListMethods::len);
    let mut out = String::with_capacity(rows * columns.len() * 8);
    for row in 0..rows {
        for (place, column) in columns.iter().enumerate() {
            if place > 0 {
                out.push(',');
            }
            push(&mut out, &column.get_item(row)?)?;
        }
        out.push_str(end);
    }
    Ok(out)
}

fn push(out: &mut String, cell: &Bound<'_, PyAny>) -> PyResult<()> {
    if let Ok(float) = cell.cast_exact::<PyFloat>() {
        let value = float.value();
        if value.to_bits() == 0 || (FRACTION..EXPONENT).contains(&value.abs()) {
            out.push_str(zmij::Buffer::new().format_finite(value));
        } else {
            out.push_str(float.repr()?.to_str()?);
        }
    } else if let Ok(number) = cell.cast_exact::<PyInt>() {
        match number.extract::<i64>() {
            Ok(number) => out.push_str(itoa::Buffer::new().format(number)),
            Err(_) => out.push_str(number.str()?.to_str()?),
        }
    } else if let Ok(text) = cell.cast_exact::<PyString>() {
        out.push_str(text.to_str()?);
    } else if !cell.is_none() {
        out.push_str(cell.str()?.to_str()?);
    }
    Ok(())
}
