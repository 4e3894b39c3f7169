//! The tool calls of an archived conversation, in a file beside its text: one JSON object per line. There are two names for it, used in
//! turns; the header of the conversation says which one counts. So the calls change in the same step as the text.

use super::{ArchivedChat, ChatArchive, Lasting, file_name, parts::remove_file, put};
use crate::{
    evidence::{CallEvidence, MAX_CALLS},
    source::Reader,
};
use memdir_core::Result;
use serde::{Deserialize, Serialize};
use std::{fs, path::PathBuf};

/// The file with the calls of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CallsMark {
    /// Which of the two files.
    pub(super) slot: u8,
    /// The number of calls.
    #[serde(skip_serializing_if = "super::is_default")]
    pub(super) count: u64,
    /// The hash of the file: one that was lost in a power failure is not taken for it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) hash: String,
}

impl ChatArchive {
    /// Returns the tool calls of a conversation, oldest first; none if they were not kept when it was archived.
    pub fn evidence(&self, chat: &ArchivedChat) -> Result<Vec<CallEvidence>> {
        if let Some(calls) = self.calls(chat) {
            return Ok(calls);
        }
        // Another process may have replaced the file since the header was read.
        let newer = self.get(chat.host, &chat.key)?;
        Ok(newer.and_then(|newer| self.calls(&newer)).unwrap_or_default())
    }

    /// Returns the calls that the header names, or `None` if there is no such file.
    pub(super) fn calls(&self, chat: &ArchivedChat) -> Option<Vec<CallEvidence>> {
        let mark = chat.progress.calls.as_ref()?;
        if mark.count == 0 {
            return Some(Vec::new());
        }
        let bytes = fs::read(self.calls_path(chat.host, &chat.key, mark.slot)).ok()?;
        if hash(&bytes) != mark.hash {
            return None;
        }
        Some(bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }

    /// Writes the newest calls into the file that does not count yet, and returns the mark for the header.
    pub(super) fn write_calls(&self, chat: &ArchivedChat, calls: &[CallEvidence]) -> Result<CallsMark> {
        let slot = chat.progress.calls.as_ref().map_or(0, |mark| 1 - mark.slot.min(1));
        let calls = &calls[calls.len().saturating_sub(MAX_CALLS)..];
        if calls.is_empty() {
            return Ok(CallsMark { slot, ..CallsMark::default() });
        }
        let mut text = Vec::new();
        for call in calls {
            text.extend(serde_json::to_vec(call).unwrap_or_default());
            text.push(b'\n');
        }
        // Not durable by itself: the host's transcript has it, and a lost file is noticed by its hash.
        put(&self.calls_path(chat.host, &chat.key, slot), Lasting::No, &mut |out| out.write_all(&text))?;
        Ok(CallsMark { slot, count: calls.len() as u64, hash: hash(&text) })
    }

    /// Removes the files with calls, except the one that counts.
    pub(super) fn remove_calls(&self, host: &Reader, key: &str, keep: Option<&CallsMark>) -> Result<()> {
        let kept = keep.filter(|mark| mark.count > 0).map(|mark| mark.slot);
        for slot in (0..2).filter(|slot| kept != Some(*slot)) {
            remove_file(&self.calls_path(host, key, slot))?;
        }
        Ok(())
    }

    /// Returns the size of the file with the calls.
    pub(super) fn calls_bytes(&self, chat: &ArchivedChat) -> u64 {
        let Some(mark) = chat.progress.calls.as_ref().filter(|mark| mark.count > 0) else { return 0 };
        fs::metadata(self.calls_path(chat.host, &chat.key, mark.slot)).map_or(0, |meta| meta.len())
    }

    fn calls_path(&self, host: &Reader, key: &str, slot: u8) -> PathBuf {
        self.dir.join(host.name).join(format!("{}.calls{slot}.jsonl", file_name(key)))
    }
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_owned()
}
