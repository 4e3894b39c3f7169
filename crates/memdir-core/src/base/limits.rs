//! Every number that bounds something, with its reason. Sizes are bytes unless the name says otherwise.

/// Lines of the entrypoint that are loaded into a conversation. The number hosts use for theirs.
pub const ENTRYPOINT_LINES: usize = 200;
/// Bytes of the entrypoint that are loaded into a conversation; true UTF-8 bytes. The number hosts use for theirs.
pub const ENTRYPOINT_BYTES: usize = 25_000;
/// Part of an entrypoint cap, in percent, at which the writer is told for the first time.
pub const ENTRYPOINT_WARN_PERCENT: usize = 80;
/// The longest entrypoint line we write, in characters: one line of a wide terminal, about 40 tokens.
pub const ENTRYPOINT_LINE_CHARS: usize = 149;
/// Entrypoint lines longer than this, in characters, are reported: a pointer has become content.
pub const ENTRYPOINT_LONG_LINE_CHARS: usize = 200;
/// The largest memory that is written. A memory is a note; 4 MB is a data file.
pub const MEMORY_BYTES: usize = 4 << 20;
/// The largest file that is read as a memory; beyond it a read says so and shows the beginning.
pub const READ_FILE_BYTES: u64 = 64 << 20;
/// The longest part of a name, in bytes: what ext4, APFS and NTFS allow.
pub const NAME_PART_BYTES: usize = 255;
/// The longest whole name, in bytes, so that a mount's root plus the name stays below PATH_MAX.
pub const NAME_BYTES: usize = 1024;
/// Parts of a name: deeper trees are a mistake or an attack.
pub const NAME_PARTS: usize = 32;
/// Files one walk returns at the most; the rest is counted and said.
pub const WALK_FILES: usize = 200_000;
/// Directories deep a walk goes: as deep as names can be.
pub const WALK_DEPTH: usize = NAME_PARTS;
/// Characters a `read` shows at once before it says how to continue.
pub const READ_CHARS: usize = 100_000;
/// Seconds a writer waits for a mount's lock before it says who is in the way.
pub const LOCK_WAIT_SECS: u64 = 60;
/// Steps of backtracking a model's regular expression may take on one memory: a tenth of a second, a second for the worst.
pub const REGEX_STEPS: usize = 1_000_000;
/// Bytes of journal per mount beyond which the oldest changes are dropped. The newest version of everything stays.
pub const JOURNAL_BYTES: u64 = 64 << 20;
/// Days a change is kept at the least, whatever the size, unless the journal is over four times its limit.
pub const JOURNAL_DAYS: i64 = 90;
/// Changes to one memory recorded as differences before a whole text is recorded again: bounds the work of looking back.
pub const JOURNAL_CHAIN: u32 = 512;
/// Records after which a new table of newest versions is written, so that opening reads little.
pub const JOURNAL_TABLE_EVERY: usize = 200;
/// Near names suggested for a missing one.
pub const NEAR_NAMES: usize = 3;
/// Characters a native tool answers with before it says how to get the rest: about 2,000 tokens.
pub const TOOL_CHARS: usize = 8_000;
/// Characters a dialect's read answers with: what the systems they stand for allowed.
pub const DIALECT_CHARS: usize = 150_000;
/// Bytes of one turn of a conversation that are kept: a long answer is 10 KB, more is a pasted file.
pub const CHAT_TURN_BYTES: usize = 64 << 10;
/// Bytes of one file of a kept conversation; a longer one has several, so that each can be read and written at once, and
/// a search in a conversation that goes on has little to index anew.
pub const CHAT_PART_BYTES: u64 = 1 << 20;
/// Characters of a tool call (name and arguments) that are kept: enough to recognise it.
pub const CHAT_TOOL_CHARS: usize = 200;
/// Characters of a tool call's arguments that are looked at for secrets before they are cut.
pub const CHAT_TOOL_RAW_CHARS: usize = 4096;
/// Characters of a chat's title: one line of a list.
pub const CHAT_TITLE_CHARS: usize = 80;
/// Bytes of a transcript's line that are decoded in memory; a longer one is decoded as it streams by.
pub const CHAT_LINE_BYTES: usize = 8 << 20;
/// Bytes at a transcript's beginning that tell whether it is still the same.
pub const CHAT_HEAD_BYTES: usize = 1024;
/// Bytes before a cursor that tell whether the transcript is still the same.
pub const CHAT_TAIL_BYTES: usize = 256;
/// Problems of one transcript that are reported one by one; the rest is counted.
pub const CHAT_PROBLEMS: usize = 50;
/// Milliseconds to wait for another program's SQLite lock before its sessions are left for the next time.
pub const CHAT_BUSY_MS: u64 = 200;
/// Milliseconds a search in chats takes to bring them up to date before it answers from what is kept.
pub const CHAT_FRESH_MS: i64 = 300;
/// Characters of the turn before and after that are shown beside a turn that was found.
pub const CHAT_NEIGHBOUR_CHARS: usize = 160;
/// Days a chat is kept unless configured otherwise.
pub const CHAT_KEEP_DAYS: i64 = 365;
/// Bytes of kept chats beyond which the oldest go, unless configured otherwise.
pub const CHAT_KEEP_BYTES: u64 = 1 << 30;
/// Memories one recall brings at the most. More is noise: hosts that choose with a model bring no more either.
pub const RECALL_MEMORIES: usize = 5;
/// Bytes of one recalled memory.
pub const RECALL_BYTES: usize = 4_096;
/// Lines of one recalled memory.
pub const RECALL_LINES: usize = 200;
/// Tokens of a whole recall, where the caller names no budget: five memories of the usual size.
pub const RECALL_TOKENS: usize = 4_000;
/// Known words of one sentence that are asked for, rarest first. Past these a sentence says nothing new.
pub const RECALL_TERMS: usize = 8;
/// Sentences of one message that are asked, those with the rarest words first. Bounds the time for a pasted file.
pub const RECALL_SENTENCES: usize = 24;
/// Bytes of a message that are read; of a longer one as much of its beginning as of its end. A question stands before or after
/// what was pasted, hardly ever in the middle of it.
pub const RECALL_MESSAGE_BYTES: usize = 128 << 10;
