//! The errors that end or prevent serving.

use std::{io, net::SocketAddr};

/// Why a server could not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be used.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address and port.
        address: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Another system call failed.
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
    /// The token is short enough to be guessed, or cannot be sent in a header.
    #[error("a token must be at least 16 printable ASCII characters, without spaces")]
    Token,
    /// The settings of the identity provider are not valid.
    #[error("{0}")]
    OAuth(String),
}
