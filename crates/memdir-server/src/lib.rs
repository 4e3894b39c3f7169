//! The MCP server: stdio and streamable HTTP over the tools of `memdir-core`.
