//! Finding an archived conversation by what a user typed: an id, the beginning of one, or `host/id`.

use super::{ArchivedChat, ChatArchive, SUPERSEDED, parts::PART_MARK};
use crate::hosts::reader;
use memdir_core::{Error, Result};

impl ChatArchive {
    /// Finds a session by its key or id, by at least four characters from the beginning of one, or by `host/id`.
    pub fn find(&self, wanted: &str) -> Result<ArchivedChat> {
        let (host, id) = match wanted.split_once('/').map(|(host, id)| (reader(host), id)) {
            Some((Some(host), id)) => (Some(host), id),
            _ => (None, wanted),
        };
        let candidates = self.list()?.chats.into_iter().map(|file| file.chat).filter(|chat| host.is_none_or(|host| host == chat.host));
        // The most specific match wins: the key, the id, a prefix. A superseded copy is found only by its own name.
        let mut matches: [Vec<ArchivedChat>; 3] = Default::default();
        for chat in candidates {
            let has_prefix = |name: &str| id.len() >= 4 && name.starts_with(id);
            let is_hidden = chat.key.contains(SUPERSEDED) && !id.contains(SUPERSEDED);
            if chat.key == id {
                matches[0].push(chat);
            } else if chat.session == id && !is_hidden {
                matches[1].push(chat);
            } else if !is_hidden && (has_prefix(&chat.key) || has_prefix(&chat.session)) {
                matches[2].push(chat);
            }
        }
        let mut best = matches.into_iter().find(|chats| !chats.is_empty()).unwrap_or_default();
        match best.len() {
            1 => Ok(best.remove(0)),
            0 => Err(Error::NoChat { id: wanted.to_owned() }),
            count => {
                let why = format!("{wanted:?} matches {count} conversations; use a longer prefix of the id, or HOST/ID");
                Err(Error::bad_input("session", why))
            }
        }
    }

    /// Finds a session as [`ChatArchive::find`] does. Also returns the number of the part if the name has one, as in `name~2`.
    pub fn find_part(&self, wanted: &str) -> Result<(ArchivedChat, Option<u64>)> {
        let split = wanted.trim_end_matches(".md").rsplit_once(PART_MARK);
        let Some((name, part)) = split.and_then(|(name, part)| Some((name, part.parse().ok()?))) else {
            return Ok((self.find(wanted)?, None));
        };
        let chat = self.find(name)?;
        if !(1..=chat.parts).contains(&part) {
            let existing = match chat.parts {
                0 => format!("the conversation has no numbered parts; use {name:?}"),
                1 => "the conversation has only part 1".to_owned(),
                last => format!("the conversation has parts 1 to {last}"),
            };
            let why = format!("part {part} of {name:?} not found; {existing}");
            return Err(Error::bad_input("session", why));
        }
        Ok((chat, Some(part)))
    }
}
