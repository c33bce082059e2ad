//! Client certificates of users: each user has that of its row of a feeder.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::definition::RowCertificates;
use crate::feeder::Feeder;

/// Most different certificates of a target: each takes the memory of its chain and key.
const MOST: usize = 10_000;

/// The certificates of the rows of a feeder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificates {
    /// Files of certificate and key, each pair once; at most 10,000.
    files: Box<[(PathBuf, PathBuf)]>,
    /// Indexes of `files` by row; at least one.
    rows: Box<[u32]>,
}

impl Certificates {
    /// The error says why these do not fit the feeder.
    pub(crate) fn new(given: &RowCertificates, feeders: &[Feeder]) -> Result<Self, String> {
        let name = &given.feeder;
        let feeder = feeders.iter().find(|feeder| feeder.name == *name);
        let feeder = feeder.ok_or_else(|| format!("there is no feeder {name:?}"))?;
        if given.rows.len() != feeder.rows() as usize {
            return Err(format!("{} rows, but feeder {name:?} has {}", given.rows.len(), feeder.rows()));
        }
        if !feeder.is_sequential() || feeder.ends() {
            return Err(format!("users keep their rows of feeder {name:?}: it can have no order and no end"));
        }
        let (mut files, mut known) = (Vec::new(), HashMap::new());
        let mut rows = Vec::with_capacity(given.rows.len());
        for pair in &given.rows {
            rows.push(*known.entry(pair).or_insert_with(|| {
                files.push(pair.clone());
                files.len() as u32 - 1
            }));
        }
        if files.len() > MOST {
            return Err(format!("{} different certificates; there can be {MOST}", files.len()));
        }
        Ok(Self { files: files.into(), rows: rows.into() })
    }

    /// Files of certificate and key (may be the same PEM file), each pair once.
    pub fn files(&self) -> &[(PathBuf, PathBuf)] {
        &self.files
    }

    /// The index in [`files`](Certificates::files) for the user with this number.
    #[inline]
    pub fn of(&self, user: u64) -> usize {
        self.rows[(user % self.rows.len() as u64) as usize] as usize
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::Certificates;
    use crate::definition::{self, RowCertificates};
    use crate::feeder::Feeder;

    fn people(fields: &str, rows: usize) -> Feeder {
        let rows = vec![r#"["x"]"#; rows].join(",");
        let given = format!(r#"{{"name": "people", "columns": ["cert"], "rows": [{rows}]{fields}}}"#);
        Feeder::new(serde_json::from_str::<definition::Feeder>(&given).unwrap(), "f").unwrap()
    }

    fn of_rows(names: &[&str]) -> RowCertificates {
        let rows = names.iter().map(|name| (PathBuf::from(name), PathBuf::from(name))).collect();
        RowCertificates { feeder: "people".into(), rows }
    }

    #[test]
    fn a_user_has_the_certificate_of_the_row_of_its_number_and_files_are_kept_once() {
        let certificates = Certificates::new(&of_rows(&["a", "b", "a"]), &[people("", 3)]).unwrap();
        assert_eq!(certificates.files().len(), 2);
        let names: Vec<_> =
            (0..5).map(|user| certificates.files()[certificates.of(user)].0.to_str().unwrap()).collect();
        assert_eq!(names, ["a", "b", "a", "a", "b"]);
    }

    #[test]
    fn what_does_not_fit_the_feeder_is_refused() {
        for (feeder, expected) in [
            (people("", 1), "2 rows, but feeder \"people\" has 1"),
            (people(r#", "order": "random""#, 2), "it can have no order and no end"),
            (people(r#", "at_end": "stop""#, 2), "it can have no order and no end"),
        ] {
            let error = Certificates::new(&of_rows(&["a", "b"]), &[feeder]).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        assert_eq!(Certificates::new(&of_rows(&["a"]), &[]).unwrap_err(), "there is no feeder \"people\"");
        let many: Vec<_> = (0..10_001).map(|number| number.to_string()).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        let error = Certificates::new(&of_rows(&many), &[people("", 10_001)]).unwrap_err();
        assert_eq!(error, "10001 different certificates; there can be 10000");
    }
}
