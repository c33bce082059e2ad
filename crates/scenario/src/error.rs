//! Errors of a definition.

use std::fmt::{self, Display, Formatter};

/// The first error in a definition: its field and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionError {
    field: String,
    reason: String,
}

impl DefinitionError {
    pub(crate) fn new(field: impl Into<String>, reason: impl Display) -> Self {
        Self { field: field.into(), reason: reason.to_string() }
    }

    /// Path from the top of the definition: `flows[0].steps[1].path`. Empty if it is not JSON.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// What is wrong, and what to write instead if that is not obvious.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl Display for DefinitionError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.field.is_empty() { f.write_str(&self.reason) } else { write!(f, "{}: {}", self.field, self.reason) }
    }
}

impl std::error::Error for DefinitionError {}
