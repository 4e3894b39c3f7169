//! The MCP server over stdio and streamable HTTP. It serves the tools, resources and prompts of `memdir-core` and has no rules
//! about memories of its own.

mod call;
mod catalog;
mod error;
mod http;
mod learned;
mod mcp;
mod prompts;
mod resources;
mod stdio;
mod subscriptions;
mod workers;

pub use catalog::{CatalogError, CurrentSpace, PromptSection, ToolCatalog, ToolFilter, ToolGroup};
pub use error::ServeError;
pub use http::{BearerToken, CallerDirectory, CallerId, HttpCaller, HttpOptions, serve_http};
pub use stdio::serve_stdio;
