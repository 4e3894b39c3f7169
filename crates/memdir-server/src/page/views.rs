//! The views: one file each. A view is a function of a space and the fields of a request; it reads, and only those of forms change.

pub(super) mod chats;
pub(super) mod dream;
pub(super) mod edit;
pub(super) mod help;
pub(super) mod home;
pub(super) mod hosts;
pub(super) mod inbox;
pub(super) mod memories;
pub(super) mod memory;
pub(super) mod neighbours;
pub(super) mod plan;
pub(super) mod prompt;
pub(super) mod review;
pub(super) mod rules;
pub(super) mod search;
pub(super) mod settings;
pub(super) mod timeline;
