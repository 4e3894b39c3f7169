//! What tools, prompts and `memdir log --status` show about dreams. A value that the program passes in: the library does not look for it.

use crate::base::{text, time};
use jiff::{Timestamp, civil::Date};
use serde::Serialize;

/// When memories were last tidied, what was done, and when it is due again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DreamSummary {
    /// When a plan was last applied.
    pub last_applied: Option<Timestamp>,
    /// The number of operations that were applied then.
    pub operations: usize,
    /// When a plan that covers the logs was last applied.
    pub last_distilled: Option<Timestamp>,
    /// When a plan was last made.
    pub last_plan: Option<Timestamp>,
    /// Plans that wait to be applied.
    pub open_plans: usize,
    /// The last day whose log is distilled.
    pub logs_through: Option<Date>,
    /// Hours after which the logs are due again.
    pub min_hours: i64,
    /// Sessions after which they are due again.
    pub min_sessions: u64,
    /// Whether these hours have passed since the logs were last distilled.
    pub hours_passed: bool,
    /// Whether plans are made automatically.
    pub auto: bool,
}

impl DreamSummary {
    /// What is needed before it is due again, as in `after 24 h and 5 sessions`.
    pub(crate) fn due_after(&self, hours_passed: bool) -> String {
        let sessions = text::counted(self.min_sessions, "session", "sessions");
        match hours_passed {
            true => format!("after {sessions}"),
            false => format!("after {} h and {sessions}", self.min_hours),
        }
    }

    /// The summary in lines for people and models.
    pub fn lines(&self, now: Timestamp) -> Vec<String> {
        let ago = |at: Option<Timestamp>| at.map_or("never".to_owned(), |at| time::relative(now, at));
        let did = format!(", {}", text::counted(self.operations as u64, "operation", "operations"));
        let applied = self.last_applied.map_or(String::new(), |_| did.clone());
        let distilled = if self.last_distilled == self.last_applied { applied.as_str() } else { "" };
        vec![
            format!("last distilled: {}{distilled}", ago(self.last_distilled)),
            format!("logs distilled through: {}", self.logs_through.map_or("none".to_owned(), |day| day.to_string())),
            format!("last dream applied: {}{applied}", ago(self.last_applied)),
            format!("last plan: {}; plans waiting to be applied: {}", ago(self.last_plan), self.open_plans),
            format!("next distillation due: {}", self.due_after(self.hours_passed)),
            format!("automatic plans: {}", if self.auto { "on" } else { "off" }),
        ]
    }
}
