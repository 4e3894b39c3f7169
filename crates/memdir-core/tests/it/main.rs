//! Integration tests of the library, one file per verb or word.

mod chats_corpus;
mod chats_hosts;
mod chats_keep;
mod chats_opencode;
mod chats_support;
