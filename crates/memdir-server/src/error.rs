//! The errors that end or prevent serving.

use std::io;

/// Why a server could not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A system call failed.
    #[error("cannot {doing}: {source}")]
    Io {
        /// The action that failed, as a verb phrase.
        doing: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The client does not speak MCP.
    #[error("the client did not start an MCP session: {0}")]
    Protocol(String),
    /// The options would expose memories to unauthenticated callers.
    #[error("{0}")]
    Unsafe(String),
    /// The settings of the identity provider are not valid.
    #[error("{0}")]
    OAuth(String),
}
