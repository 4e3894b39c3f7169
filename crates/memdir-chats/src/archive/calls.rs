//! The tool calls of an archived conversation, in a file beside its text: one JSON object per line. There are two names for it, used in
//! turns; the one with the hash that the header of the conversation names counts. So the calls change in the same step as the text.

use super::{ArchivedChat, ChatArchive, file_name, parts::remove_file, put};
use crate::{
    evidence::{CallEvidence, MAX_CALLS},
    source::Reader,
};
use memdir_core::{Result, internal::base::disk::Durability};
use serde::{Deserialize, Serialize};
use std::{fs, path::PathBuf};

/// The file with the calls of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CallsMark {
    /// The number of calls.
    #[serde(skip_serializing_if = "super::is_default")]
    pub(super) count: u64,
    /// The hash of the file: neither an older one nor one that was lost in a power failure is taken for it.
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
        if chat.progress.calls.as_ref()?.count == 0 {
            return Some(Vec::new());
        }
        let (_, bytes) = self.calls_file(chat)?;
        Some(bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }

    /// Reads the file that the header names, and returns which of the two it is.
    fn calls_file(&self, chat: &ArchivedChat) -> Option<(u8, Vec<u8>)> {
        let mark = chat.progress.calls.as_ref().filter(|mark| mark.count > 0)?;
        let read = |slot| fs::read(self.calls_path(chat.host, &chat.key, slot)).ok().map(|bytes| (slot, bytes));
        (0..2).filter_map(read).find(|(_, bytes)| hash(bytes) == mark.hash)
    }

    /// Writes the newest calls into the file that does not count, and returns the mark for the header.
    pub(super) fn write_calls(&self, chat: &ArchivedChat, calls: &[CallEvidence]) -> Result<CallsMark> {
        let calls = &calls[calls.len().saturating_sub(MAX_CALLS)..];
        if calls.is_empty() {
            return Ok(CallsMark::default());
        }
        let mut text = Vec::new();
        for call in calls {
            text.extend(serde_json::to_vec(call).unwrap_or_default());
            text.push(b'\n');
        }
        let mark = CallsMark { count: calls.len() as u64, hash: hash(&text) };
        if chat.progress.calls.as_ref() == Some(&mark) && self.calls_file(chat).is_some() {
            return Ok(mark);
        }
        // The file that counts is named by the header on disk: that of a conversation which is read again from its beginning is not `chat`.
        let archived = self.get(chat.host, &chat.key)?;
        let slot = archived.and_then(|archived| self.calls_file(&archived)).map_or(0, |(slot, _)| 1 - slot);
        // Not durable by itself: the host's transcript has it, and a lost file is noticed by its hash.
        put(&self.calls_path(chat.host, &chat.key, slot), Durability::None, &mut |out| out.write_all(&text))?;
        Ok(mark)
    }

    /// Removes the files with calls, except the one that the header names.
    pub(super) fn remove_calls(&self, chat: &ArchivedChat) -> Result<()> {
        let kept = self.calls_file(chat).map(|(slot, _)| slot);
        (0..2).filter(|slot| kept != Some(*slot)).try_for_each(|slot| remove_file(&self.calls_path(chat.host, &chat.key, slot)).map(drop))
    }

    /// Removes all files with calls.
    pub(super) fn remove_all_calls(&self, host: &Reader, key: &str) -> Result<()> {
        (0..2).try_for_each(|slot| remove_file(&self.calls_path(host, key, slot)).map(drop))
    }

    /// Returns the size of the files with the calls.
    pub(super) fn calls_bytes(&self, chat: &ArchivedChat) -> u64 {
        let size = |slot| fs::metadata(self.calls_path(chat.host, &chat.key, slot)).map_or(0, |meta| meta.len());
        if chat.progress.calls.as_ref().is_none_or(|mark| mark.count == 0) { 0 } else { (0..2).map(size).sum() }
    }

    fn calls_path(&self, host: &Reader, key: &str, slot: u8) -> PathBuf {
        self.dir.join(host.name).join(format!("{}.calls{slot}.jsonl", file_name(key)))
    }
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_owned()
}
