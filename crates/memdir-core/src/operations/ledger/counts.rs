//! The lines of a ledger file, and the counts they add up to. Pure. Reading never fails: a line that is not understood is skipped.
//!
//! ```text
//! # 1763425000 12                                  counted since this second; sessions
//! = 1763425900 40 3 2 1 1 0 4 1 notes/deploy       counts of a memory, with its last use
//! w 9f8e7d6c 1763425900 2 1 1 notes/deploy         counts of one of its tripwires, with the last time it fired
//! ? 1763425999 notes/old                           not there since; dropped later
//! + 1763426000 r notes/deploy                      one use
//! > notes/deploy<TAB>notes/ship                    a rename
//! ```

use crate::base::sort::SharedSort as _;
use jiff::Timestamp;
use serde::Serialize;
use std::{collections::BTreeMap, fmt::Write as _, ops::AddAssign};

/// Memories of one mount that have counts. Beyond it those that were not used for the longest time are dropped; a line has about 60
/// bytes, so that a file of sums stays below its maximum size.
const LEDGER_MEMORIES: usize = 10_000;

/// How a memory was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UseKind {
    /// Its line in an entrypoint was loaded at the start of a conversation.
    Listed,
    /// Its text was recalled for a message.
    Injected,
    /// Its tripwire with this id was touched, and the rule was shown.
    Fired(String),
    /// The next tool call after the tripwire with this id fired was another one.
    Followed(String),
    /// The next tool call after the tripwire with this id fired was the same.
    Violated(String),
    /// A search of an agent found it.
    Searched,
    /// An agent read it by name.
    Read,
    /// An agent named it in an answer.
    Cited,
}

/// How often a memory was used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct UseCounts {
    /// Conversations that started with its line in the entrypoint.
    pub listed: u64,
    /// Times its text was recalled for a message.
    pub injected: u64,
    /// Times one of its tripwires was touched and the rule was shown.
    pub fired: u64,
    /// Times the next tool call after that was another one.
    pub followed: u64,
    /// Times the next tool call after that was the same.
    pub violated: u64,
    /// Searches of agents that found it.
    pub searched: u64,
    /// Times an agent read it by name.
    pub read: u64,
    /// Answers of agents that name it.
    pub cited: u64,
    /// When it was last used in one of these ways, except for being listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used: Option<Timestamp>,
}

impl UseCounts {
    /// The number of uses besides being listed: how often it reached an agent for a reason.
    pub fn uses(&self) -> u64 {
        [self.injected, self.fired, self.searched, self.read, self.cited].iter().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

/// How often a tripwire fired, and what the agent did next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TripwireCounts {
    /// Times it was touched and the rule was shown.
    pub fired: u64,
    /// Times the next tool call was another one.
    pub followed: u64,
    /// Times the next tool call was the same.
    pub violated: u64,
    /// When it last fired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_fired: Option<Timestamp>,
}

/// How long a mount has been counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CountedSince {
    /// Since when.
    pub since: Option<Timestamp>,
    /// Conversations that started since, in hosts that report tool calls.
    pub sessions: u64,
}

/// The counts of one mount, by the name of the memory in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct MountUseCounts {
    pub(super) counted: CountedSince,
    pub(super) memories: BTreeMap<String, UseCounts>,
    /// By the name of the memory and the id of the tripwire.
    pub(super) tripwires: BTreeMap<(String, String), TripwireCounts>,
    /// Memories that were not there at the last compaction, and since when.
    missing: BTreeMap<String, i64>,
}

/// The event of a session, which belongs to no memory.
const SESSION: &str = "S";

/// Formats the first line of a new file.
pub(super) fn header(now: Timestamp, sessions: u64) -> String {
    format!("# {} {sessions}\n", now.as_second())
}

/// Formats the start of a conversation.
pub(super) fn session_line(now: Timestamp) -> String {
    format!("+ {} {SESSION} -\n", now.as_second())
}

/// Formats one use of the memory with this name in its mount.
pub(super) fn use_line(now: Timestamp, kind: &UseKind, name: &str) -> String {
    let code = match kind {
        UseKind::Listed => "l".to_owned(),
        UseKind::Injected => "i".to_owned(),
        UseKind::Fired(wire) => format!("f:{wire}"),
        UseKind::Followed(wire) => format!("o:{wire}"),
        UseKind::Violated(wire) => format!("v:{wire}"),
        UseKind::Searched => "s".to_owned(),
        UseKind::Read => "r".to_owned(),
        UseKind::Cited => "c".to_owned(),
    };
    format!("+ {} {code} {name}\n", now.as_second())
}

/// Formats a rename inside a mount.
pub(super) fn rename_line(from: &str, to: &str) -> String {
    format!("> {from}\t{to}\n")
}

fn parse_kind(code: &str) -> Option<UseKind> {
    let wire = |rest: &str| (!rest.is_empty()).then(|| rest.to_owned());
    match code.split_once(':') {
        None => match code {
            "l" => Some(UseKind::Listed),
            "i" => Some(UseKind::Injected),
            "s" => Some(UseKind::Searched),
            "r" => Some(UseKind::Read),
            "c" => Some(UseKind::Cited),
            _ => None,
        },
        Some(("f", rest)) => wire(rest).map(UseKind::Fired),
        Some(("o", rest)) => wire(rest).map(UseKind::Followed),
        Some(("v", rest)) => wire(rest).map(UseKind::Violated),
        Some(_) => None,
    }
}

impl MountUseCounts {
    /// Adds up the lines of a file. An incomplete last line is not counted.
    pub(super) fn parse(text: &str) -> MountUseCounts {
        let mut counts = MountUseCounts::default();
        let complete = text.rfind('\n').map_or("", |end| &text[..end]);
        for line in complete.split('\n') {
            // `None` is a line that is not understood.
            let _ = counts.add_line(line);
        }
        counts
    }

    fn add_line(&mut self, line: &str) -> Option<()> {
        let (mark, rest) = line.split_once(' ')?;
        match mark {
            "#" => {
                let (since, sessions) = rest.split_once(' ')?;
                let since = Timestamp::from_second(since.parse().ok()?).ok()?;
                self.counted.since = Some(self.counted.since.map_or(since, |old| old.min(since)));
                self.counted.sessions = self.counted.sessions.saturating_add(sessions.parse().ok()?);
            }
            "+" => {
                let (at, rest) = rest.split_once(' ')?;
                let (code, name) = rest.split_once(' ')?;
                let at = Timestamp::from_second(at.parse().ok()?).ok()?;
                if code == SESSION {
                    self.counted.sessions = self.counted.sessions.saturating_add(1);
                } else {
                    self.add_use(at, &parse_kind(code)?, name);
                }
            }
            "=" => {
                let mut words = rest.splitn(10, ' ');
                let last_used = parse_last(words.next()?)?;
                let mut number = || words.next()?.parse::<u64>().ok();
                let row = UseCounts {
                    listed: number()?,
                    injected: number()?,
                    fired: number()?,
                    followed: number()?,
                    violated: number()?,
                    searched: number()?,
                    read: number()?,
                    cited: number()?,
                    last_used,
                };
                *self.memories.entry(words.next()?.to_owned()).or_default() += row;
            }
            "w" => {
                let mut words = rest.splitn(6, ' ');
                let wire = words.next()?.to_owned();
                let last_fired = parse_last(words.next()?)?;
                let mut number = || words.next()?.parse::<u64>().ok();
                let row = TripwireCounts { fired: number()?, followed: number()?, violated: number()?, last_fired };
                *self.tripwires.entry((words.next()?.to_owned(), wire)).or_default() += row;
            }
            "?" => {
                let (since, name) = rest.split_once(' ')?;
                self.missing.insert(name.to_owned(), since.parse().ok()?);
            }
            ">" => {
                let (from, to) = rest.split_once('\t')?;
                self.rename(from, to);
            }
            _ => {}
        }
        Some(())
    }

    fn add_use(&mut self, at: Timestamp, kind: &UseKind, name: &str) {
        let row = self.memories.entry(name.to_owned()).or_default();
        if *kind != UseKind::Listed {
            row.last_used = row.last_used.max(Some(at));
        }
        let (count, wire) = match kind {
            UseKind::Listed => (&mut row.listed, None),
            UseKind::Injected => (&mut row.injected, None),
            UseKind::Fired(wire) => (&mut row.fired, Some(wire)),
            UseKind::Followed(wire) => (&mut row.followed, Some(wire)),
            UseKind::Violated(wire) => (&mut row.violated, Some(wire)),
            UseKind::Searched => (&mut row.searched, None),
            UseKind::Read => (&mut row.read, None),
            UseKind::Cited => (&mut row.cited, None),
        };
        *count = count.saturating_add(1);
        if let Some(wire) = wire {
            let row = self.tripwires.entry((name.to_owned(), wire.clone())).or_default();
            let count = match kind {
                UseKind::Followed(_) => &mut row.followed,
                UseKind::Violated(_) => &mut row.violated,
                _ => {
                    row.last_fired = row.last_fired.max(Some(at));
                    &mut row.fired
                }
            };
            *count = count.saturating_add(1);
        }
    }

    /// Moves the counts of a memory to another name, where they are added to what is there.
    fn rename(&mut self, from: &str, to: &str) {
        if from == to {
            return;
        }
        self.missing.remove(from);
        if let Some(row) = self.memories.remove(from) {
            *self.memories.entry(to.to_owned()).or_default() += row;
        }
        for (wire, row) in self.take_tripwires(from) {
            *self.tripwires.entry((to.to_owned(), wire)).or_default() += row;
        }
    }

    fn take_tripwires(&mut self, name: &str) -> Vec<(String, TripwireCounts)> {
        let own: Vec<String> = self.tripwires_of(name).map(|(wire, _)| wire.to_owned()).collect();
        own.into_iter().filter_map(|wire| Some((wire.clone(), self.tripwires.remove(&(name.to_owned(), wire))?))).collect()
    }

    /// The tripwires of a memory, by their ids.
    pub(super) fn tripwires_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a str, TripwireCounts)> + 'a {
        let own = self.tripwires.range((name.to_owned(), String::new())..).take_while(move |((other, _), _)| other == name);
        own.map(|((_, wire), row)| (wire.as_str(), *row))
    }

    /// The lines that add the counts of one memory under another name, for a rename into another mount.
    pub(super) fn lines_of(&self, name: &str, to: &str) -> String {
        let mut out = String::new();
        if let Some(row) = self.memories.get(name) {
            push_row(&mut out, row, to);
        }
        self.tripwires_of(name).for_each(|(wire, row)| push_tripwire(&mut out, wire, &row, to));
        out
    }

    /// Drops memories that do not exist and did not at a compaction at least `grace` seconds ago: one that was just renamed or
    /// deleted may be back in a moment.
    pub(super) fn drop_missing(&mut self, exists: &dyn Fn(&str) -> bool, now: Timestamp, grace: i64) {
        let now = now.as_second();
        let names: Vec<String> = self.memories.keys().chain(self.tripwires.keys().map(|(name, _)| name)).cloned().collect();
        for name in names {
            if exists(&name) {
                self.missing.remove(&name);
                continue;
            }
            let since = *self.missing.entry(name.clone()).or_insert(now);
            if now.saturating_sub(since) >= grace {
                self.memories.remove(&name);
                self.take_tripwires(&name);
            }
        }
        self.missing.retain(|name, _| self.memories.contains_key(name));
    }

    /// Drops the memories that were not used for the longest time if there are more than a file may have.
    pub(super) fn bound(&mut self) {
        let excess = self.memories.len().saturating_sub(LEDGER_MEMORIES);
        if excess > 0 {
            let mut oldest: Vec<(Option<Timestamp>, String)> =
                self.memories.iter().map(|(name, row)| (row.last_used, name.clone())).collect();
            oldest.shared_sort();
            oldest.truncate(excess);
            for (_, name) in &oldest {
                self.memories.remove(name);
            }
        }
        let excess = self.tripwires.len().saturating_sub(LEDGER_MEMORIES);
        if excess > 0 {
            let mut oldest: Vec<(Option<Timestamp>, (String, String))> =
                self.tripwires.iter().map(|(key, row)| (row.last_fired, key.clone())).collect();
            oldest.shared_sort();
            oldest.truncate(excess);
            for (_, key) in &oldest {
                self.tripwires.remove(key);
            }
        }
        self.missing.retain(|name, _| self.memories.contains_key(name));
    }

    /// Formats the counts as a whole file, the same for the same counts.
    pub(super) fn format(&self, now: Timestamp) -> String {
        let mut out = header(self.counted.since.unwrap_or(now), self.counted.sessions);
        self.memories.iter().for_each(|(name, row)| push_row(&mut out, row, name));
        self.tripwires.iter().for_each(|((name, wire), row)| push_tripwire(&mut out, wire, row, name));
        for (name, since) in &self.missing {
            let _ = writeln!(out, "? {since} {name}");
        }
        out
    }
}

fn push_row(out: &mut String, row: &UseCounts, name: &str) {
    let UseCounts { listed, injected, fired, followed, violated, searched, read, cited, last_used } = row;
    let last = format_last(*last_used);
    let _ = writeln!(out, "= {last} {listed} {injected} {fired} {followed} {violated} {searched} {read} {cited} {name}");
}

fn push_tripwire(out: &mut String, wire: &str, row: &TripwireCounts, name: &str) {
    let TripwireCounts { fired, followed, violated, last_fired } = row;
    let _ = writeln!(out, "w {wire} {} {fired} {followed} {violated} {name}", format_last(*last_fired));
}

fn format_last(last: Option<Timestamp>) -> String {
    last.map_or_else(|| "-".to_owned(), |last| last.as_second().to_string())
}

/// The outer `None` is a word that is not understood.
fn parse_last(word: &str) -> Option<Option<Timestamp>> {
    if word == "-" { Some(None) } else { Timestamp::from_second(word.parse().ok()?).ok().map(Some) }
}

impl AddAssign for UseCounts {
    fn add_assign(&mut self, other: UseCounts) {
        let sum = u64::saturating_add;
        *self = UseCounts {
            listed: sum(self.listed, other.listed),
            injected: sum(self.injected, other.injected),
            fired: sum(self.fired, other.fired),
            followed: sum(self.followed, other.followed),
            violated: sum(self.violated, other.violated),
            searched: sum(self.searched, other.searched),
            read: sum(self.read, other.read),
            cited: sum(self.cited, other.cited),
            last_used: self.last_used.max(other.last_used),
        };
    }
}

impl AddAssign for TripwireCounts {
    fn add_assign(&mut self, other: TripwireCounts) {
        self.fired = self.fired.saturating_add(other.fired);
        self.followed = self.followed.saturating_add(other.followed);
        self.violated = self.violated.saturating_add(other.violated);
        self.last_fired = self.last_fired.max(other.last_fired);
    }
}
