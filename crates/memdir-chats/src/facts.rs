//! The arguments of a tool call that are evidence: the command, the target paths, and digests of what an edit replaces and writes. Knows
//! the names that hosts give them. Keeps no text of an edit.

use memdir_core::internal::base::{limits, steps, text::truncate_bytes};
use serde::{Deserialize, Serialize};

/// The arguments of a tool call that are evidence, before they are redacted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallFacts {
    pub(crate) command: Option<String>,
    pub(crate) paths: Vec<String>,
    pub(crate) edit: Option<EditDigest>,
}

/// The digests of the texts of an edit: enough to see that a later edit reverts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EditDigest {
    /// The digest of the replaced text; 0 if the edit wrote a whole file.
    pub before: u64,
    /// The digest of the new text.
    pub after: u64,
}

/// The arguments with a command, in the tools of all hosts.
pub const COMMAND_KEYS: [&str; 3] = ["command", "cmd", "script"];
/// The arguments with target paths, in the tools of all hosts.
pub const PATH_KEYS: [&str; 9] =
    ["file_path", "filePath", "path", "target_file", "absolute_path", "notebook_path", "paths", "files", "dir_path"];
/// The first line of a patch of `apply_patch`.
pub const PATCH_BEGIN: &str = "*** Begin Patch";
/// The marks before the paths of such a patch.
pub const PATCH_MARKS: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// The strings of an argument: the beginning and the digest of each.
#[derive(Debug, Clone, Default)]
pub(crate) struct ArgStrings(Vec<(String, u64)>);

/// The maximum number of strings of a list: a command has a few words.
const MAX_STRINGS: usize = 64;

impl ArgStrings {
    pub(crate) fn new(text: &str) -> Self {
        ArgStrings(vec![(truncate_bytes(text, limits::CHAT_TOOL_RAW_CHARS).to_owned(), digest(text))])
    }

    /// Appends the strings of another item of the same list.
    pub(crate) fn append(&mut self, other: ArgStrings) {
        if self.0.len() < MAX_STRINGS {
            self.0.extend(other.0);
        }
    }
}

/// What an argument is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ArgKind {
    Command,
    Path,
    Before,
    After,
    Patch,
}

fn kind(key: &str) -> Option<ArgKind> {
    Some(match key {
        key if COMMAND_KEYS.contains(&key) => ArgKind::Command,
        key if PATH_KEYS.contains(&key) => ArgKind::Path,
        "old_string" | "old_str" | "oldString" | "old_text" | "oldText" => ArgKind::Before,
        "new_string" | "new_str" | "newString" | "new_text" | "newText" | "content" | "file_text" | "contents" => ArgKind::After,
        "patch" | "patchText" | "input" => ArgKind::Patch,
        _ => return None,
    })
}

/// Whether an argument with this name is evidence.
pub(crate) fn is_known(key: &str) -> bool {
    kind(key).is_some()
}

/// Collects the facts of a call from its arguments.
#[derive(Debug, Default)]
pub(crate) struct FactsBuilder {
    facts: CallFacts,
    before: u64,
    after: u64,
}

impl FactsBuilder {
    /// Adds an argument.
    pub(crate) fn add(&mut self, key: &str, value: &ArgStrings) {
        let Some((first, hash)) = value.0.first() else { return };
        match kind(key) {
            Some(ArgKind::Command) => self.add_command(value),
            Some(ArgKind::Path) => self.facts.paths.extend(value.0.iter().map(|(path, _)| path.clone())),
            Some(ArgKind::Before) => self.before = *hash,
            Some(ArgKind::After) => self.after = *hash,
            Some(ArgKind::Patch) if is_patch(first) => self.facts = from_text(first),
            Some(ArgKind::Patch) | None => {}
        }
    }

    /// Adds a command, which some hosts write as a list of words: `["bash", "-lc", "cargo test"]`.
    fn add_command(&mut self, value: &ArgStrings) {
        let words: Vec<&str> = value.0.iter().map(|(word, _)| word.as_str()).collect();
        match words.as_slice() {
            ["apply_patch", patch, ..] => self.facts = from_text(patch),
            [shell, flags, script] if flags.starts_with('-') && flags.ends_with('c') && shell.ends_with("sh") => {
                self.facts.command = Some((*script).to_owned());
            }
            words => self.facts.command = Some(words.join(" ")),
        }
    }

    pub(crate) fn finish(mut self) -> CallFacts {
        if self.after != 0 || self.before != 0 {
            self.facts.edit = Some(EditDigest { before: self.before, after: self.after });
        }
        self.facts
    }
}

fn is_patch(text: &str) -> bool {
    text.trim_start().starts_with(PATCH_BEGIN)
}

/// Returns the facts of arguments that are one text: a patch, or nothing.
pub(crate) fn from_text(text: &str) -> CallFacts {
    if !is_patch(text) {
        return CallFacts::default();
    }
    let (mut paths, mut before, mut after) = (Vec::new(), String::new(), String::new());
    for line in text.lines() {
        steps::count(line.len() + 1);
        let file = PATCH_MARKS.iter().find_map(|mark| line.strip_prefix(mark));
        let target = if let Some(file) = file {
            paths.push(file.trim().to_owned());
            continue;
        } else if line.starts_with('-') {
            &mut before
        } else if line.starts_with('+') {
            &mut after
        } else {
            continue;
        };
        target.push_str(&line[1..]);
        target.push('\n');
    }
    // The digests of a patch of several files would say nothing about one of them.
    let edit = (paths.len() == 1).then(|| EditDigest { before: digest(&before), after: digest(&after) });
    CallFacts { command: None, paths, edit }
}

/// Hashes a text without the white space around it; 0 for an empty one. Digests are stored, so they must stay the same in every version.
pub(crate) fn digest(text: &str) -> u64 {
    let text = text.trim();
    if text.is_empty() {
        return 0;
    }
    hash_48_bits(text)
}

/// Hashes a text to a number of 48 bits, which every JSON decoder represents exactly; never 0. Stored, as digests are.
pub(crate) fn hash_48_bits(text: &str) -> u64 {
    let hash = blake3::hash(text.as_bytes());
    let first = hash.as_bytes().first_chunk::<6>().copied().unwrap_or_default();
    first.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)).max(1)
}
