//! The MCP server: stdio and streamable HTTP over the tools of `memdir-core`. Decides nothing about memories.

mod call;
mod http;
mod mcp;
mod offer;
mod prompts;
mod resources;
mod stdio;
mod watch;
mod workers;

pub use http::{Door, Http, Pass, Token};
pub use mcp::{ServeError, serve_http, serve_stdio};
pub use offer::{Choice, Group, Offer, OfferError, Section, Space};
