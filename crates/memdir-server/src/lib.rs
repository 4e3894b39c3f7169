//! The MCP server over stdio and streamable HTTP, and the pages for people. They serve the tools, resources, prompts and operations of
//! `memdir-core` and have no rules about memories of their own.

mod call;
mod catalog;
mod error;
mod http;
mod learned;
mod mcp;
mod oauth;
mod page;
mod prompts;
mod resources;
mod serve;
mod stdio;
mod subscriptions;
mod workers;

pub use catalog::{CatalogError, CurrentSpace, PromptSection, ToolCatalog, ToolFilter, ToolGroup};
pub use error::ServeError;
pub use http::{
    Authentication, BearerToken, CallerDirectory, CallerId, HttpCaller, HttpOptions, ProblemKind, REVOKED, RequestLog,
    VerifiedAuthentication, problem_kinds, rest_description,
};
pub use oauth::{ClaimNames, LoginClient, OAuthOptions, VerifiedIdentity, VerifiedToken, is_safe_url};
pub use page::{
    ChatEnd, ChatRow, ChatText, ChatsView, ExportedView, HostFinding, HostFindings, HostRow, PageDreams, PageOptions, PageSource,
    PageSpace, RuleCondition, RuleRow, SettingRow, Viewer, encode_url_part, export_view, serve_page,
};
pub use serve::serve_http;
pub use stdio::serve_stdio;
