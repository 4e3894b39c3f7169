//! Search: the lines that answer a query, by words and by meaning, from the files as they are now. An answer has no
//! hits if nothing is relevant.

pub mod analysis;
mod answer;
mod background;
pub mod chats;
mod cite;
pub mod embed;
mod file_filter;
pub(crate) mod find;
pub(crate) mod fuse;
mod hits;
pub mod index;
pub mod indexing;
mod meaning;
mod mount_index;
mod mount_views;
mod outdated;
pub(crate) mod pool;
pub mod query;
pub mod ranking;
mod searcher;
mod watch;
mod why;

pub use answer::{Answer, Explain, Hit, IndexState, Method, MountCounts, Search, SearchedCounts};
pub use pool::IndexPool;
pub use searcher::Searcher;
pub use why::WhyNot;
