//! Forgetting in files that are not memories: lists of lines, JSON, records of projects, plans, drafts, and files of other programs beside
//! memories. Names of fields, times and hashes are the format of a file, not words: they are neither found nor redacted. A record
//! that means nothing without its value is removed as a whole.

use crate::{exit::Failure, project_records::ProjectRecord};
use jiff::Timestamp;
use memdir_core::{
    Phrase,
    internal::{
        base::disk::{self, FileLock, LockWait, Replace},
        store::{mount::journal_name, space::Places},
    },
};
use serde_json::Value;
use std::{
    fs::{self, File},
    io::{self, Read, Write as _},
    path::Path,
};

/// The size above which a file is searched in pieces and not changed.
const MAX_BYTES: u64 = 64 << 20;
/// The bytes of two pieces that overlap: more than words with everything that may be between them.
const OVERLAP: usize = 64 << 10;

/// The names of fields in memdir's own JSON and TOML files. Another key that has the words is a text.
const FIELDS: &str = "\
    action after agent applied archived at backups before body by bytes change chats created cue cues cut_by_bytes \
    cut_by_lines decision derived dirs edits files first_commit form format found_again global_args has_calls host \
    installed is_new_file key kind last_error last_look last_operations last_plan lines logs_through memory mode name nothing_in_logs \
    not_reached operations patches path paths plan previous program project query redacted remaining remotes removed root \
    rules scope searches session sessions settings source sources space stamp state_files swept text through turns unread versions why \
    words";
/// Values of fields that memdir chooses from a list.
const CHOICES: [&str; 6] = ["accepted", "rejected", "claude-code", "project", "user", "local"];
/// The words with which lines of memdir's own lists begin.
const LINE_MARKS: [&str; 7] = ["held", "foreign", "shown", "compacted", "fired", "violated", "settled"];

/// How lines of a kept conversation begin that are not words: headings of turns, times and counts.
const CHAT_MARKS: [&[u8]; 8] = [b"## User", b"## Assistant", b"host: ", b"started: ", b"updated: ", b"turns: ", b"parts: ", b"cursor: "];
/// The directories of memories in memdir's home.
const MEMORIES: [&str; 6] = ["agents", "agents-local", "people", "projects", "teams", "user"];

/// What becomes of a file that has the words.
enum Treatment {
    /// It stays, for this reason.
    Stays(String),
    /// It is removed: it is derived, or makes no sense in part.
    Remove,
    /// The store of conversations rewrites it.
    RewrittenElsewhere,
    /// The lines with the words are removed.
    Lines,
    /// The values are redacted.
    Json,
    /// It is a text.
    Text,
}

/// A file that is not a memory.
pub(super) struct StateFile<'a> {
    /// The file.
    pub(super) path: &'a Path,
    /// Its path in memdir's home, or `sessions/…` in the cache; `None` for a file elsewhere.
    pub(super) place: Option<&'a str>,
}

impl StateFile<'_> {
    /// Whether the file has the words, in its name or in its content.
    pub(super) fn has(&self, phrase: &Phrase) -> bool {
        name_has(self.path, phrase) || content_has(self.path, phrase)
    }

    /// Why the file is not changed, if it is not.
    pub(super) fn reason_to_keep(&self, phrase: &Phrase) -> Option<String> {
        match self.treatment(phrase) {
            Treatment::Stays(why) => Some(why),
            _ => None,
        }
    }

    /// Whether the file is removed as a whole.
    pub(super) fn is_removed(&self, phrase: &Phrase) -> bool {
        name_has(self.path, phrase) || matches!(self.treatment(phrase), Treatment::Remove)
    }

    /// Removes the words from the file, or the file.
    pub(super) fn forget(&self, phrase: &Phrase) -> Result<(), Failure> {
        let failed = |source| Failure::File { doing: "change", path: self.path.to_owned(), source };
        let treatment = self.treatment(phrase);
        if matches!(treatment, Treatment::Stays(_) | Treatment::RewrittenElsewhere) {
            return Ok(());
        }
        // Only memdir's own files have a lock; one beside a file of another program would stay there.
        let is_own = self.place.is_some_and(|place| !MEMORIES.contains(&place.split('/').next().unwrap_or_default()));
        let _lock = is_own.then(|| FileLock::for_update(self.path, LockWait::COMMAND)).transpose().map_err(failed)?;
        if name_has(self.path, phrase) || matches!(treatment, Treatment::Remove) {
            // The name of the lock may have the words, too.
            let _ = fs::remove_file(self.path.with_extension("lock"));
            return fs::remove_file(self.path).map_err(failed);
        }
        let bytes = fs::read(self.path).map_err(failed)?;
        let redacted = match treatment {
            Treatment::Lines => without_lines(&bytes, phrase),
            Treatment::Json => match serde_json::from_slice::<Value>(&bytes) {
                Ok(mut value) => {
                    redact_json(&mut value, phrase);
                    serde_json::to_vec_pretty(&value).unwrap_or_default()
                }
                Err(_) => phrase.redact_bytes(&bytes).unwrap_or(bytes),
            },
            _ => phrase.redact_bytes(&bytes).unwrap_or(bytes),
        };
        disk::replace(self.path, Replace::DURABLE, |file| file.write_all(&redacted)).map_err(failed)
    }

    fn treatment(&self, phrase: &Phrase) -> Treatment {
        let stays = |why: &str| Treatment::Stays(why.to_owned());
        let parts: Vec<&str> = self.place.unwrap_or_default().split('/').collect();
        let named_after = "it is named after a project; rename the project and its working directory, then run this command again";
        match parts.as_slice() {
            ["config.toml"] => return stays("`memdir forget` does not edit the settings; change them with: memdir config edit"),
            ["installed.json"] => {
                return stays(
                    "it lists memdir's entries in the hosts' settings, which may contain the words too; remove the entries and this file with: memdir uninstall --all",
                );
            }
            ["projects", file] if file.ends_with(".toml") => return self.record_treatment(phrase, named_after),
            ["uses", file] if name_has(self.path, phrase) && self.is_used(file) => return stays(named_after),
            ["chats", "forgotten.json"] => return Treatment::RewrittenElsewhere,
            ["chats", ".state.json"] | ["chats", ".candidates", ..] => return Treatment::Remove,
            ["dreams", _, file] if file.starts_with("plan-") => return Treatment::Remove,
            _ => {}
        }
        match fs::metadata(self.path).map(|meta| meta.len()) {
            Ok(size) if size > MAX_BYTES => {
                return Treatment::Stays(format!("it is too large for memdir to edit ({size} bytes); remove the words yourself"));
            }
            _ if starts_with(self.path, b"SQLite format 3\0") => {
                return stays(
                    "it is a database, which memdir does not edit; delete the file, or remove the words with the program that created it",
                );
            }
            _ if starts_with(self.path, &memdir_chats::ZSTD_MAGIC) => {
                return stays("it is compressed, and memdir does not edit compressed files; delete the file, or remove the words yourself");
            }
            _ => {}
        }
        match parts.as_slice() {
            [.., file] if file.ends_with(".jsonl") => Treatment::Lines,
            ["uses", ..] | ["rules", "conversations", ..] | ["sessions", ..] | ["inbox", _, "decided"] => Treatment::Lines,
            _ if fs::read(self.path).is_ok_and(|bytes| serde_json::from_slice::<Value>(&bytes).is_ok()) => Treatment::Json,
            _ => Treatment::Text,
        }
    }

    /// Whether the memory that is counted in a file of `uses/` exists: the file is named after its directory.
    fn is_used(&self, file: &str) -> bool {
        let home = self.path.parent().and_then(Path::parent).unwrap_or(self.path);
        let memories = super::files::dirs(&Places::new(home).projects());
        memories.iter().any(|dir| format!("{}.log", journal_name(dir)) == file)
    }

    /// The record of a project names its directory. It stays while the directory exists, because the memory is found by it.
    fn record_treatment(&self, phrase: &Phrase, named_after: &str) -> Treatment {
        let record: Option<ProjectRecord> = fs::read_to_string(self.path).ok().and_then(|text| toml::from_str(&text).ok());
        match record {
            Some(record) if record.root.is_dir() && name_has(self.path, phrase) => Treatment::Stays(named_after.to_owned()),
            Some(record) if record.root.is_dir() => Treatment::Stays(
                "it records a project's directory and remotes; rename the directory or change the remote, then run this command again in the project's directory"
                    .to_owned(),
            ),
            _ => Treatment::Remove,
        }
    }
}

/// How files begin whose content memdir cannot read: gzip, bzip2, xz, zip and 7z.
const PACKED: [&[u8]; 5] = [b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"PK\x03\x04", b"7z\xbc\xaf\x27\x1c"];

/// Whether a file is compressed in a way that memdir does not read. It writes none of them.
pub(super) fn is_packed(path: &Path) -> bool {
    PACKED.iter().any(|magic| starts_with(path, magic))
}

/// Whether the name of a file or directory has the words.
pub(super) fn name_has(path: &Path, phrase: &Phrase) -> bool {
    path.file_name().is_some_and(|name| phrase.is_in(name.as_encoded_bytes()))
}

/// Whether the content of a file has the words, decompressed if it is compressed. A file that cannot be opened is reported by
/// `KeptFiles::list`.
pub(super) fn content_has(path: &Path, phrase: &Phrase) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let is_long = file.metadata().is_ok_and(|meta| meta.len() > MAX_BYTES);
    let Ok(reader) = memdir_chats::decompressed(file) else { return false };
    if is_long {
        return long_content_has(reader, phrase);
    }
    let mut bytes = Vec::new();
    // What is large only when it is decompressed is searched in pieces. An error leaves what was read.
    let _ = reader.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    if bytes.len() as u64 > MAX_BYTES {
        return File::open(path).and_then(memdir_chats::decompressed).is_ok_and(|reader| long_content_has(reader, phrase));
    }
    bytes_have(&bytes, phrase)
}

fn long_content_has(mut reader: impl Read, phrase: &Phrase) -> bool {
    let mut piece = Vec::new();
    loop {
        let kept = piece.len().min(OVERLAP);
        piece.drain(..piece.len() - kept);
        match (&mut reader).take(4 << 20).read_to_end(&mut piece) {
            Ok(0) | Err(_) => return false,
            Ok(_) if phrase.is_in(&piece) => return true,
            Ok(_) => {}
        }
    }
}

fn bytes_have(bytes: &[u8], phrase: &Phrase) -> bool {
    // The words may be written with escapes in JSON, so the bytes alone do not decide.
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let may_be_json = first.is_some_and(|byte| b"{[\"".contains(byte));
    let may_be_escaped = may_be_json && bytes.contains(&b'\\');
    if !phrase.is_in(bytes) && !may_be_escaped {
        return false;
    }
    if let Some(value) = may_be_json.then(|| serde_json::from_slice::<Value>(bytes).ok()).flatten() {
        return json_has(&value, phrase);
    }
    if let Some(record) = std::str::from_utf8(bytes).ok().and_then(record_values) {
        return json_has(&record, phrase);
    }
    let lines = || bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    if lines().all(is_list_line) { lines().any(|line| line_has(line, phrase)) } else { phrase.is_in(bytes) }
}

/// The values of the record of a project. A comment would be lost, and memdir writes none.
fn record_values(text: &str) -> Option<Value> {
    let is_record = !text.contains('#') && toml::from_str::<ProjectRecord>(text).is_ok();
    is_record.then(|| toml::from_str(text).ok()).flatten()
}

/// Whether a line is one of a list that memdir writes: JSON, or a mark and values.
fn is_list_line(line: &[u8]) -> bool {
    LINE_MARKS.contains(&mark(line)) || (line.starts_with(b"{") && serde_json::from_slice::<Value>(line).is_ok())
}

fn mark(line: &[u8]) -> &str {
    std::str::from_utf8(line).ok().and_then(|line| line.split(' ').next()).unwrap_or_default()
}

fn line_has(line: &[u8], phrase: &Phrase) -> bool {
    match serde_json::from_slice::<Value>(line) {
        Ok(value) => json_has(&value, phrase),
        Err(_) if LINE_MARKS.contains(&mark(line)) => phrase.is_in(&line[mark(line).len()..]),
        Err(_) => phrase.is_in(line),
    }
}

/// The lines that do not have the words.
fn without_lines(bytes: &[u8], phrase: &Phrase) -> Vec<u8> {
    bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| !line_has(line, phrase)).collect::<Vec<_>>().concat()
}

fn json_has(value: &Value, phrase: &Phrase) -> bool {
    match value {
        Value::String(text) => !is_format(text) && phrase.is_in(text),
        Value::Array(items) => items.iter().any(|item| json_has(item, phrase)),
        Value::Object(map) => map.iter().any(|(key, value)| match value {
            _ if !is_known_field(key) && phrase.is_in(key) => true,
            Value::String(source) if key == "source" => phrase.is_in(memdir_chats::own_folders(source)),
            value => json_has(value, phrase),
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn redact_json(value: &mut Value, phrase: &Phrase) {
    match value {
        Value::String(text) if is_format(text) => {}
        Value::String(text) => {
            if let Some(redacted) = phrase.redact(text) {
                *text = redacted;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| redact_json(item, phrase)),
        Value::Object(map) => {
            // A key that is not the name of a field is a text, such as a path; its value is removed with it. One that may be the
            // name of a field stays, and is reported.
            map.retain(|key, _| is_field_name(key) || !phrase.is_in(key));
            map.values_mut().for_each(|value| redact_json(value, phrase));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether a key is the name of a field that memdir writes.
fn is_known_field(key: &str) -> bool {
    FIELDS.split(' ').any(|field| field == key)
}

/// Whether a key may be the name of a field.
fn is_field_name(key: &str) -> bool {
    key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// Whether a value is a time, a hash or a choice: the reader of the file would not understand anything else.
fn is_format(text: &str) -> bool {
    let is_hash = text.len() >= 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash || CHOICES.contains(&text) || text.parse::<Timestamp>().is_ok() || text.parse::<jiff::civil::Date>().is_ok()
}

fn starts_with(path: &Path, magic: &[u8]) -> bool {
    let mut head = vec![0; magic.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == magic
}

/// Whether a conversation that memdir keeps has the words outside of its own marks: headings of turns, times and counts.
pub(super) fn chat_has(path: &Path, phrase: &Phrase) -> io::Result<bool> {
    let bytes = fs::read(path)?;
    if !phrase.is_in(&bytes) {
        return Ok(bytes_have(&bytes, phrase));
    }
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let words =
        lines.filter(|line| !CHAT_MARKS.iter().any(|mark| line.starts_with(mark))).map(|line| match line.strip_prefix(b"source: ") {
            Some(source) => memdir_chats::own_folders(&String::from_utf8_lossy(source)).into_bytes(),
            None => line.to_vec(),
        });
    Ok(bytes_have(&words.collect::<Vec<_>>().concat(), phrase))
}
