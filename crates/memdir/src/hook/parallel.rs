//! Detects tool calls of one answer of the model: the model decided on the second before it read the text of the rule that matched the
//! first, so the second does not show whether the rule is followed. Reads the end of the transcript.

use super::HookCall;
use crate::rules::OpenConversation;
use serde_json::Value;
use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
    path::Path,
    thread,
    time::Duration,
};

/// The bytes at the end of a transcript in which both calls are looked for.
const TAIL_BYTES: u64 = 256 << 10;
/// How often, and how long, the host is given time to write the line of the running call. Only after a rule fired.
const TRIES: u32 = 4;
const PAUSE: Duration = Duration::from_millis(40);

impl HookCall<'_> {
    /// Whether this call and the one for which rules fired last are of one answer. `false` if the host has no ids of calls, or no
    /// transcript with them.
    pub(super) fn is_parallel(&self, conversation: &OpenConversation) -> bool {
        let (Some(before), Some(now)) = (conversation.fired_call(), self.input.call.as_deref()) else { return false };
        // Hooks of two scopes report one call.
        if before == now {
            return true;
        }
        let Some(transcript) = self.input.transcript.as_deref() else { return false };
        for number in 1..=TRIES {
            let Some(tail) = read_tail(transcript) else { return false };
            match is_same_answer(&tail, before, now) {
                Some(is_same) => return is_same,
                None if number < TRIES && self.deadline.left() > 2 * PAUSE => thread::sleep(PAUSE),
                None => break,
            }
        }
        false
    }
}

fn read_tail(transcript: &Path) -> Option<String> {
    let mut file = File::open(transcript).ok()?;
    let len = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(len.saturating_sub(TAIL_BYTES))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether two calls are of one answer: of one message, or without messages, the second is written before the result of the first.
/// `None` if the second is not written yet.
fn is_same_answer(tail: &str, before: &str, now: &str) -> Option<bool> {
    let (mut first, mut has_result): (Option<Option<String>>, bool) = (None, false);
    for line in tail.lines().filter(|line| line.contains(before) || line.contains(now)) {
        let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
        for entry in entries(&value) {
            match entry {
                CallRecord::Call { id, message } if id == now => {
                    return Some(match (first.clone().flatten(), message) {
                        (Some(first), Some(message)) => first == message,
                        _ => first.is_some() && !has_result,
                    });
                }
                CallRecord::Call { id, message } if id == before => first = Some(message.map(str::to_owned)),
                CallRecord::Result { id } if id == before => has_result = true,
                CallRecord::Call { .. } | CallRecord::Result { .. } => {}
            }
        }
    }
    None
}

/// A tool call or its result, in a record of a transcript.
enum CallRecord<'v> {
    Call { id: &'v str, message: Option<&'v str> },
    Result { id: &'v str },
}

/// The calls and results of a record: blocks of a message, or a record of its own.
fn entries<'v>(record: &'v Value) -> Vec<CallRecord<'v>> {
    let payload = &record["payload"];
    if let (Some(kind), Some(id)) = (payload["type"].as_str(), payload["call_id"].as_str()) {
        return vec![if kind.ends_with("_output") { CallRecord::Result { id } } else { CallRecord::Call { id, message: None } }];
    }
    let message = record["message"]["id"].as_str();
    let blocks = record["message"]["content"].as_array().into_iter().flatten();
    let entry = |block: &'v Value| match block["type"].as_str()? {
        "tool_use" => Some(CallRecord::Call { id: block["id"].as_str()?, message }),
        "tool_result" => Some(CallRecord::Result { id: block["tool_use_id"].as_str()? }),
        _ => None,
    };
    blocks.filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lines(values: &[Value]) -> String {
        values.iter().map(|value| format!("{value}\n")).collect()
    }

    #[test]
    fn calls_of_one_message_are_of_one_answer() {
        let call = |message: &str, id: &str| json!({ "type": "assistant", "message": { "id": message, "content": [{ "type": "tool_use", "id": id }] } });
        let result = |id: &str| json!({ "type": "user", "message": { "content": [{ "type": "tool_result", "tool_use_id": id }] } });
        let same = |values: &[Value]| is_same_answer(&lines(values), "a", "b");
        assert_eq!(same(&[call("m", "a"), call("m", "b"), result("a")]), Some(true));
        assert_eq!(same(&[call("m", "a"), result("a"), call("m", "b")]), Some(true), "the result of the first is written between them");
        assert_eq!(same(&[call("m", "a"), result("a"), call("n", "b")]), Some(false));
        assert_eq!(same(&[call("m", "a"), result("a")]), None, "not written yet");
        assert_eq!(same(&[call("n", "b")]), Some(false), "the first is out of reach");
        assert_eq!(is_same_answer("{\"cut\": \"a b\n", "a", "b"), None);
    }

    #[test]
    fn without_messages_the_result_decides() {
        let record = |kind: &str, id: &str| json!({ "type": "response_item", "payload": { "type": kind, "call_id": id } });
        let same = |values: &[Value]| is_same_answer(&lines(values), "a", "b");
        assert_eq!(same(&[record("function_call", "a"), record("function_call", "b"), record("function_call_output", "a")]), Some(true));
        assert_eq!(
            same(&[record("function_call", "a"), record("function_call_output", "a"), record("custom_tool_call", "b")]),
            Some(false)
        );
    }
}
