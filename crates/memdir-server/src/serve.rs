//! Combines the servers: MCP for programs, and the pages for people.

use crate::{
    catalog::ToolCatalog,
    error::ServeError,
    http::{self, HttpOptions},
    page::server_routes,
};
use std::net::SocketAddr;

/// Serves many clients over HTTP, until a signal. Calls `ready` with the address once connections are accepted.
pub fn serve_http(catalog: ToolCatalog, options: HttpOptions, ready: impl FnOnce(SocketAddr)) -> Result<(), ServeError> {
    http::serve_http(catalog, options, server_routes, ready)
}
