//! The limits that several files use, each with its reason. Sizes are in bytes unless the name has another unit.

use std::{fmt::Display, ops::RangeInclusive};

/// Lines of the entrypoint that are loaded into a conversation. Hosts use the same number for theirs.
pub const ENTRYPOINT_LINES: usize = 200;
/// UTF-8 bytes of the entrypoint that are loaded into a conversation. Hosts use the same number for theirs.
pub const ENTRYPOINT_BYTES: usize = 25_000;
/// Percentage of an entrypoint limit at which the writer gets the first note.
pub const ENTRYPOINT_WARN_PERCENT: usize = 80;
/// The longest generated entrypoint line, in characters: one line of a wide terminal, about 40 tokens.
pub const ENTRYPOINT_LINE_CHARS: usize = 149;
/// Entrypoint lines longer than this, in characters, are reported: a pointer has become content.
pub const ENTRYPOINT_LONG_LINE_CHARS: usize = 200;
/// The largest memory that is written. A memory is a note; 4 MB is a data file.
pub const MEMORY_BYTES: usize = 4 << 20;
/// The largest file that a dialect writes. The systems that dialects reproduce have no limit, and their tests write 5 MB.
pub const DIALECT_FILE_BYTES: usize = 16 << 20;
/// The largest file that is read as a memory.
pub const READ_FILE_BYTES: u64 = 64 << 20;
/// Bytes of a frontmatter; a longer one is read as text. Real ones have a few hundred bytes, and every search, hook and read
/// parses them.
pub const FRONTMATTER_BYTES: usize = 64 << 10;
/// Bytes of one line of a frontmatter, as much as a long description needs.
pub const FRONTMATTER_LINE_BYTES: usize = 16 << 10;
/// Keys of a frontmatter, those of mappings included. A list of data is not metadata.
pub const FRONTMATTER_KEYS: usize = 1_000;
/// Levels of lists and mappings in a frontmatter. The YAML parser is recursive; real ones have three levels.
pub const FRONTMATTER_DEPTH: usize = 32;
/// Bytes of a heading that are indexed with every unit below it. A longer one is a paragraph.
pub const HEADING_BYTES: usize = 256;
/// Bytes of a unit's title (name, description, headings) in the index; a file with many units has shorter ones, so that together
/// they stay below [`INDEXED_TITLES_BYTES`].
pub const INDEXED_TITLE_BYTES: usize = 4 << 10;
/// Bytes of all titles of one file in the index: every unit repeats its title, so a small file could have a large index.
pub const INDEXED_TITLES_BYTES: usize = 16 << 20;
/// Bytes of a glob: as long as the longest name. The steps of a match are bounded by the pattern's length times the text's.
pub const GLOB_BYTES: usize = 1_024;
/// Bytes of a candidate's file: the proposed text, the person's words and the citations, each with its own limit.
pub const CANDIDATE_BYTES: usize = 64 << 10;
/// Open candidates of an inbox; the weakest leave first. More is not read by anyone.
pub const INBOX_CANDIDATES: usize = 50;
/// Tripwires of one memory. Each is matched before every action; the rest is reported.
pub const TRIPWIRES: usize = 256;
/// Mentions of one memory that are looked up in the project, each of which costs a search of its list of files.
pub const MENTIONS: usize = 1_000;
/// Secrets of a change that are searched in the old text one by one; further ones count as added.
pub const SECRET_SEARCHES: usize = 100;
/// The longest part of a name, in bytes: what ext4, APFS and NTFS allow.
pub const NAME_PART_BYTES: usize = 255;
/// The longest whole name, in bytes, so that a mount's root plus the name stays below PATH_MAX.
pub const NAME_BYTES: usize = 1024;
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
/// Milliseconds a hook waits for everything it waits for together: some hosts give a hook 1.5 s.
pub const HOOK_WAIT_MS: u64 = 1_000;
/// How often a change is planned while another program saves the same file meanwhile. A person who saves in an editor causes one
/// retry; only a program that saves without a pause causes more.
pub const CHANGE_ATTEMPTS: usize = 16;
/// Changes of a directory whose idempotency keys are remembered: a client that retries does so within seconds. Reading them takes a
/// few milliseconds, and only a change with a key does.
pub const KEYED_CHANGES: usize = 1_000;
/// Backtracking steps of a model's regular expression on one memory: a tenth of a second, at worst a second.
pub const REGEX_STEPS: usize = 1_000_000;
/// Bytes of a mount's journal beyond which the oldest changes are dropped. The newest version of everything is kept.
pub const JOURNAL_BYTES: u64 = 64 << 20;
/// Days for which a change is kept whatever the size, unless the journal exceeds four times its limit.
pub const JOURNAL_DAYS: i64 = 90;
/// Changes of one memory recorded as differences before a complete text is recorded again: bounds the cost of reading the history.
pub const JOURNAL_CHAIN: u32 = 512;
/// Records after which the table of newest versions is written, so that opening reads little.
pub const JOURNAL_TABLE_EVERY: usize = 200;
/// Files without an entrypoint line that are read to find the new name of a removed one.
pub const MOVED_FILES: usize = 1_000;
/// Similar names suggested for a missing one.
pub const NEAR_NAMES: usize = 3;
/// Characters of a server's instructions with the user's guidelines: about 2,000 tokens, paid in every conversation.
pub const INSTRUCTIONS_CHARS: usize = 8_000;
/// Characters of a native tool's result before it is truncated: about 2,000 tokens.
pub const TOOL_CHARS: usize = 8_000;
/// Characters of a dialect's read result before it is truncated: the limit of the systems they reproduce.
pub const DIALECT_CHARS: usize = 150_000;
/// Bytes of one stored chat turn: a long answer has 10 KB, more is a pasted file.
pub const CHAT_TURN_BYTES: usize = 64 << 10;
/// Bytes of one file of a stored chat; a longer chat has several files, so that each is read and written at once, and a growing chat
/// needs little reindexing.
pub const CHAT_PART_BYTES: u64 = 1 << 20;
/// Characters of a stored tool call (name and arguments): enough to recognise it.
pub const CHAT_TOOL_CHARS: usize = 200;
/// Characters of a tool call's arguments that are scanned for secrets before they are truncated.
pub const CHAT_TOOL_RAW_CHARS: usize = 4096;
/// Characters of a chat's title: one line of a list.
pub const CHAT_TITLE_CHARS: usize = 80;
/// Bytes of a transcript line that are decoded in memory; a longer line is decoded as a stream.
pub const CHAT_LINE_BYTES: usize = 8 << 20;
/// Bytes of a transcript line that are decoded, without what is cut of its strings; a larger line is skipped and reported.
pub const CHAT_RECORD_BYTES: u64 = 64 << 20;
/// Bytes at the beginning of a transcript that identify it.
pub const CHAT_HEAD_BYTES: usize = 1024;
/// Bytes before a cursor that identify the transcript.
pub const CHAT_TAIL_BYTES: usize = 256;
/// Problems of one transcript that are reported individually; the rest is counted.
pub const CHAT_PROBLEMS: usize = 50;
/// Milliseconds to wait for another program's SQLite lock before its sessions are skipped until the next sync.
pub const CHAT_BUSY_MS: u64 = 200;
/// Milliseconds for which a search in chats syncs them before it uses the stored ones.
pub const CHAT_FRESH_MS: i64 = 300;
/// Seconds after its last turn for which a chat without an answer counts as running, and is never found by a search: an agent's turn
/// may take long, and one that was interrupted is found again later.
pub const CHAT_RUNNING_SECONDS: i64 = 30 * 60;
/// Characters of the turns before and after a hit that are shown with it.
pub const CHAT_NEIGHBOUR_CHARS: usize = 160;
/// Days for which a chat is stored by default.
pub const CHAT_KEEP_DAYS: i64 = 365;
/// Bytes of stored chats beyond which the oldest are dropped, by default.
pub const CHAT_KEEP_BYTES: u64 = 1 << 30;
/// Bytes of the text about the previous conversation at the start of a session: 200 tokens.
pub const LEFT_OFF_BYTES: usize = 800;
/// Days after which a previous conversation is not mentioned any more.
pub const LEFT_OFF_DAYS: u64 = 14;
/// The maximum number of memories of one recall. More is noise: hosts that select with a model use the same number.
pub const RECALL_MEMORIES: usize = 5;
/// Bytes of one recalled memory.
pub const RECALL_BYTES: usize = 4_096;
/// Lines of one recalled memory.
pub const RECALL_LINES: usize = 200;
/// The default token budget of a recall: five memories of the usual size.
pub const RECALL_TOKENS: usize = 4_000;
/// Bytes of a message that are used; of a longer one, equal parts of its beginning and end. A question comes before or after a
/// pasted text, rarely in the middle.
pub const RECALL_MESSAGE_BYTES: usize = 128 << 10;
/// Results of one search of the library: about as many as there are candidates by words.
pub const SEARCH_RESULTS: usize = 100;
/// Results of one search on the command line: some screens.
pub const CLI_RESULTS: usize = 50;
/// Results of one call of a search tool. Each costs tokens, and what is not among the first is seldom read.
pub const TOOL_RESULTS: usize = 20;

/// Moves a value into a range. Returns it with a note for the answer if it was outside.
pub fn clamp<T: PartialOrd + Display + Copy>(name: &str, given: T, range: &RangeInclusive<T>) -> (T, Option<String>) {
    if range.contains(&given) {
        return (given, None);
    }
    let (min, max) = (*range.start(), *range.end());
    let used = if given < min { min } else { max };
    (used, Some(format!("{name} {given} is not in the range {min} to {max}; using {used}")))
}

/// Cues of one memory that count: enough for other wordings, the task, the command and the error, and few enough to stay specific.
pub const CUES: usize = 8;
/// Bytes of all cues of one memory. Measured with 130 on average; more would make every memory fit every message.
pub const CUE_BYTES: usize = 300;

/// Entries of `supersedes`, `superseded_by`, `sources` and `verified` that count: more is a table, which belongs into the text.
pub const VALIDITY_ITEMS: usize = 64;
/// Size in bytes above which a ledger file is replaced with its sums at the end of a session: some hundred uses.
pub const LEDGER_COMPACT_BYTES: u64 = 32 << 10;
/// Size in bytes above which any process that counts does it: a host without a hook at the end of a session never compacts otherwise.
pub const LEDGER_MAX_BYTES: u64 = 1 << 20;
/// Memories of one mount that have counts. Beyond it those that were not used for the longest time are dropped; a line has about 60
/// bytes, so that a file of sums stays below its maximum size.
pub const LEDGER_MEMORIES: usize = 10_000;
/// Bytes of one memory that a dream compares. A larger one is a document.
pub const DREAM_FILE_BYTES: u64 = 1 << 20;
/// Bytes of all memories that a dream holds in memory at once.
pub const DREAM_BYTES: u64 = 256 << 20;
/// Operations of one plan. A person reads every one of them.
pub const DREAM_OPERATIONS: usize = 1_000;
/// Changes of the history in which a dream looks for the day on which a line was written.
pub const DREAM_CHANGES: usize = 50_000;
/// Bytes of a plan or of a list of operations.
pub const DREAM_PLAN_BYTES: usize = 32 << 20;
/// Bytes of a memory's body above which a dream proposes to split it: twice what a recall shows.
pub const DREAM_LONG_BYTES: usize = 2 * RECALL_BYTES;
/// Bytes of one piece of material for a model: about 8,000 tokens, so that its answer can repeat most of it.
pub const DREAM_PIECE_BYTES: usize = 32 << 10;
/// Bytes of one memory that a model reads in a piece. What is longer is cut, and the model may not rewrite it.
pub const DREAM_SHOWN_BYTES: usize = DREAM_PIECE_BYTES / 4;
/// Pieces of material for a model.
pub const DREAM_PIECES: usize = 40;
/// Bytes of the reason of a decision about a proposed change.
pub const REVIEW_REASON_BYTES: usize = 2_000;
/// Open proposals of one author in a namespace: more than a reviewer reads in a day.
pub const OPEN_PROPOSALS_PER_AUTHOR: usize = 100;
/// Open proposals of a namespace.
pub const OPEN_PROPOSALS: usize = 500;
/// Days for which a decided proposal is kept. What was accepted stays in the history.
pub const DECIDED_PROPOSAL_DAYS: i64 = 30;
/// Hours for which an idempotency key is kept at least, on a team server. A client that retries gives up long before.
pub const IDEMPOTENCY_KEY_HOURS: i32 = 24;
