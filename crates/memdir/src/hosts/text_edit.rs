//! The result of editing a settings file of another program: the new text, or why the file is left unchanged.

/// An edited text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EditedConfigText {
    /// The whole text.
    pub(crate) text: String,
    /// The paths of containers that had to be created, outermost first.
    pub(crate) created: Vec<Vec<String>>,
}

impl EditedConfigText {
    /// A text that needed no change.
    pub(crate) fn unchanged(text: &str) -> EditedConfigText {
        EditedConfigText { text: text.to_owned(), created: Vec::new() }
    }
}

/// Why a file cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EditError {
    /// The message, with the position if it is known.
    pub(crate) message: String,
    /// What the user does about it.
    pub(crate) hint: &'static str,
}

impl EditError {
    /// An error without a position.
    pub(crate) fn new(message: impl Into<String>) -> EditError {
        EditError { message: message.into(), hint: "fix the file" }
    }

    /// The same error with another hint.
    pub(crate) fn with_hint(self, hint: &'static str) -> EditError {
        EditError { hint, ..self }
    }

    /// An error at a line and column, both 1-based.
    pub(crate) fn at(line: usize, column: usize, message: &str) -> EditError {
        // The parsers disagree on the case of their messages.
        let mut chars = message.chars();
        let first: String = chars.next().into_iter().flat_map(char::to_lowercase).collect();
        EditError::new(format!("line {line}, column {column}: {first}{}", chars.as_str()))
    }
}

/// Formats a key path for messages.
pub(super) fn dotted(path: &[String]) -> String {
    path.join(".")
}
