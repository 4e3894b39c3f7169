//! Hooks: reads the JSON of a host and answers with exactly the keys that host accepts, or with nothing. Never fails: a memory must not
//! block the agent.

mod asked;
mod call;
mod call_rules;
mod input;
mod left_off;
mod output;
mod parallel;
mod question;
mod session;
mod start;
mod sync;
mod uses;

pub(crate) use call::HookCall;
pub(crate) use input::HookInput;
pub(crate) use left_off::{RunningConversation, chat_ending, left_off_text, project_relative};
pub(crate) use output::render;
pub(crate) use start::session_text;

/// The session id of the doctor, of which nothing is recorded.
pub(crate) const DOCTOR_SESSION: &str = "memdir-doctor";

#[cfg(test)]
mod tests;
