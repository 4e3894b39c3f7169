//! What an edit of somebody else's settings file gives: the new text, or why the file is left alone.

/// The outcome of setting something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edited {
    /// The whole file.
    pub(crate) text: String,
    /// Containers that were not there, outermost first.
    pub(crate) made: Vec<Vec<String>>,
}

impl Edited {
    /// Nothing to do.
    pub(crate) fn same(text: &str) -> Edited {
        Edited { text: text.to_owned(), made: Vec::new() }
    }
}

/// Why a file cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    /// In words, with the place where there is one.
    pub(crate) why: String,
}

impl Refused {
    /// A refusal.
    pub(crate) fn new(why: impl Into<String>) -> Refused {
        Refused { why: why.into() }
    }

    /// A refusal at a line and column, both from 1.
    pub(crate) fn at(line: usize, column: usize, why: impl std::fmt::Display) -> Refused {
        Refused { why: format!("line {line}, column {column}: {why}") }
    }
}
