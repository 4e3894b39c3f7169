//! The inbox: proposed memories that wait for a decision.

pub(crate) mod candidate;
