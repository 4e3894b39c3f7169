//! The page: a person browses, searches, corrects and reviews a memory in a browser. Pages are rendered here, on the server, and
//! work without a script. Has no rules about memories of its own: every view calls operations of `memdir-core`.
//!
//! A view gets a [`PageSpace`] and never global state, so that another server can serve the same pages to several users.

mod assets;
mod backlinks;
mod events;
mod export;
mod layout;
mod lines;
mod local;
mod login;
mod markdown;
mod params;
mod picture;
mod reply;
mod routes;
mod serve;
mod server;
mod server_routes;
mod session;
mod source;
mod space;
mod validity;
mod views;
mod visit;

pub use export::{ExportedView, export_view};
pub use params::encode as encode_url_part;
pub use serve::{PageOptions, serve_page};
pub(crate) use server_routes::server_routes;
pub use source::{
    ChatEnd, ChatRow, ChatText, ChatsView, HostFinding, HostFindings, HostRow, PageSource, RuleCondition, RuleRow, SettingRow,
};
pub use space::{PageDreams, PageSpace, Viewer};
