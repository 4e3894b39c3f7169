//! The limits that several files use, each with its reason. A limit of one file is at the top of that file. Sizes are in bytes
//! unless the name has another unit.

use std::{fmt::Display, ops::RangeInclusive};

/// Lines of the entrypoint that are loaded into a conversation; lines beyond them move to pages. Hosts use the same number for theirs.
pub const ENTRYPOINT_LINES: usize = 200;
/// UTF-8 bytes of the entrypoint that are loaded into a conversation. Hosts use the same number for theirs.
pub const ENTRYPOINT_BYTES: usize = 25_000;
/// Percentage of an entrypoint limit from which a full entrypoint is reported: to the writer by a note, by `memdir check`, and to a dream,
/// which proposes to shorten it.
pub const ENTRYPOINT_WARN_PERCENT: usize = 80;
/// The longest generated entrypoint line, in characters: one line of a wide terminal, about 40 tokens.
pub const ENTRYPOINT_LINE_CHARS: usize = 149;
/// The largest memory that is written. A memory is a note; 4 MB is a data file.
pub const MEMORY_BYTES: usize = 4 << 20;
/// The largest file that a dialect writes. The systems that dialects reproduce have no limit, and their tests write 5 MB.
pub const DIALECT_FILE_BYTES: usize = 16 << 20;
/// The largest file that is read as a memory.
pub const READ_FILE_BYTES: u64 = 64 << 20;
/// Levels of lists and mappings in a frontmatter. The YAML parser is recursive; real ones have three levels.
pub const FRONTMATTER_DEPTH: usize = 32;
/// Bytes of a heading that are indexed with every unit below it. A longer one is a paragraph.
pub const HEADING_BYTES: usize = 256;
/// Bytes of a glob: as long as the longest name. The steps of a match are bounded by the pattern's length times the text's.
pub const GLOB_BYTES: usize = 1_024;
/// Open candidates of an inbox; the weakest leave first. People do not read longer lists.
pub const INBOX_CANDIDATES: usize = 50;
/// Mentions of one memory that are looked up in the project, each of which costs a search of its list of files.
pub const MENTIONS: usize = 1_000;
/// Parts of a name: deeper trees are a mistake or an attack.
pub const NAME_PARTS: usize = 32;
/// The maximum number of files of one walk; the rest is counted and reported.
pub const WALK_FILES: usize = 200_000;
/// The maximum depth of a walk: as deep as names can be.
pub const WALK_DEPTH: usize = NAME_PARTS;
/// Characters of a `read` before it is truncated with the line to continue at.
pub const READ_CHARS: usize = 100_000;
/// Seconds a change waits for the locks of all its mounts together.
pub const LOCK_WAIT_SECS: u64 = 60;
/// How often a change is planned while another program saves the same file meanwhile. A person who saves in an editor causes one
/// retry; only a program that saves without a pause causes more.
pub const CHANGE_ATTEMPTS: usize = 16;
/// Bytes of a mount's journal beyond which the oldest changes are dropped. The newest version of everything is kept.
pub const JOURNAL_BYTES: u64 = 64 << 20;
/// Similar names suggested for a missing one.
pub const NEAR_NAMES: usize = 3;
/// Characters of a native tool's result before it is truncated: about 2,000 tokens.
pub const TOOL_CHARS: usize = 8_000;
/// Characters of a dialect's read result before it is truncated: the limit of the systems they reproduce.
pub const DIALECT_CHARS: usize = 150_000;
/// Characters of a tool call's arguments that are scanned for secrets before they are truncated.
pub const CHAT_TOOL_RAW_CHARS: usize = 4096;
/// Characters of a chat's title: one line of a list.
pub const CHAT_TITLE_CHARS: usize = 80;
/// Bytes of a transcript line that are decoded in memory; a longer line is decoded as a stream.
pub const CHAT_LINE_BYTES: usize = 8 << 20;
/// Bytes of a transcript line that are decoded, without what is cut of its strings; a larger line is skipped and reported.
pub const CHAT_RECORD_BYTES: u64 = 64 << 20;
/// Problems of one transcript that are reported individually; the rest is counted.
pub const CHAT_PROBLEMS: usize = 50;
/// Milliseconds for which a search in chats syncs them before it uses the stored ones.
pub const CHAT_FRESH_MS: i64 = 300;
/// Seconds after its last turn for which a chat without an answer counts as running, and is never found by a search: an agent's turn
/// may take long, and one that was interrupted is found again later.
pub const CHAT_RUNNING_SECONDS: i64 = 30 * 60;
/// The maximum number of memories of one recall. More is noise: hosts that select with a model use the same number.
pub const RECALL_MEMORIES: usize = 5;
/// Bytes of one recalled memory.
pub const RECALL_BYTES: usize = 4_096;
/// Lines of one recalled memory.
pub const RECALL_LINES: usize = 200;
/// The default token budget of a recall: five memories of the usual size.
pub const RECALL_TOKENS: usize = 4_000;
/// Results of one search of the library: about as many as there are candidates by words.
pub const SEARCH_RESULTS: usize = 100;
/// Entries of `supersedes`, `superseded_by`, `sources` and `verified` that count: more is a table, which belongs into the text.
pub const VALIDITY_ITEMS: usize = 64;
/// Bytes of the reason of a decision about a proposed change: a page of text.
pub const REVIEW_REASON_BYTES: usize = 2_000;
/// Characters of the description of an imported memory: two lines of a list.
pub const IMPORT_DESCRIPTION_CHARS: usize = 200;
/// Operations of one plan. A person reads every one of them.
pub const DREAM_OPERATIONS: usize = 1_000;
/// Bytes of a plan or of a list of operations.
pub const DREAM_PLAN_BYTES: usize = 32 << 20;
/// Bytes of one piece of material for a model: about 8,000 tokens, so that its answer can repeat most of it.
pub const DREAM_PIECE_BYTES: usize = 32 << 10;
/// Bytes of one memory that a model reads in a piece. What is longer is cut, and the model may not rewrite it.
pub const DREAM_SHOWN_BYTES: usize = DREAM_PIECE_BYTES / 4;

/// Moves a value into a range. Returns it with a note for the answer if it was outside.
pub fn clamp<T: PartialOrd + Display + Copy>(name: &str, given: T, range: &RangeInclusive<T>) -> (T, Option<String>) {
    if range.contains(&given) {
        return (given, None);
    }
    let (min, max) = (*range.start(), *range.end());
    let used = if given < min { min } else { max };
    (used, Some(format!("{name} {given} is not in the range {min} to {max}; using {used}")))
}
