//! The result of editing a settings file of another program: the new text, or why the file is left unchanged.

/// An edited text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EditedText {
    /// The whole text.
    pub(crate) text: String,
    /// The paths of containers that had to be created, outermost first.
    pub(crate) created: Vec<Vec<String>>,
}

impl EditedText {
    /// A text that needed no change.
    pub(crate) fn unchanged(text: &str) -> EditedText {
        EditedText { text: text.to_owned(), created: Vec::new() }
    }
}

/// Why a file cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EditError {
    /// The message, with the position if it is known.
    pub(crate) message: String,
}

impl EditError {
    /// An error without a position.
    pub(crate) fn new(message: impl Into<String>) -> EditError {
        EditError { message: message.into() }
    }

    /// An error at a line and column, both 1-based.
    pub(crate) fn at(line: usize, column: usize, message: impl std::fmt::Display) -> EditError {
        EditError { message: format!("line {line}, column {column}: {message}") }
    }
}

/// Formats a key path for messages.
pub(super) fn dotted(path: &[String]) -> String {
    path.join(".")
}
