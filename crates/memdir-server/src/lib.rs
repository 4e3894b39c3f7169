//! The MCP server over stdio and streamable HTTP, and the pages for people. They serve the tools, resources, prompts and operations of
//! `memdir-core` and have no rules about memories of their own.

mod call;
mod catalog;
mod error;
mod http;
mod learned;
mod mcp;
mod page;
mod prompts;
mod resources;
mod stdio;
mod subscriptions;
mod workers;

pub use catalog::{CatalogError, CurrentSpace, PromptSection, ToolCatalog, ToolFilter, ToolGroup};
pub use error::ServeError;
pub use http::{
    Authentication, BearerToken, CallerDirectory, CallerId, HttpCaller, HttpOptions, REVOKED, RequestLog, rest_description, serve_http,
};
pub use page::{
    ChatEnd, ChatRow, ChatText, ChatsView, ExportedView, HostFinding, HostFindings, HostRow, PageDreams, PageOptions, PageSource,
    PageSpace, RuleCondition, RuleRow, SettingRow, Viewer, export_view, serve_page,
};
pub use stdio::serve_stdio;
