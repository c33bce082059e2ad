//! What can be wrong with a definition.

use std::fmt::{self, Display, Formatter};

/// The first mistake in a definition: where it is, and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionError {
    field: String,
    reason: String,
}

impl DefinitionError {
    pub(crate) fn new(field: impl Into<String>, reason: impl Display) -> Self {
        Self { field: field.into(), reason: reason.to_string() }
    }

    /// Path from the top of the definition: `flows[0].steps[1].path`. Empty when it is no JSON at all.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// What is wrong, and if it is not plain what would be right.
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
