//! Finds what a memory mentions and can be looked up: paths, commands, symbols, commits, URLs. Pure. Prefers to miss a mention: a
//! false report that something is gone costs more trust than a missing one.

use crate::{
    base::{limits, steps},
    memory::lines::{FenceScanner, LineKind},
};
use rustc_hash::FxHashSet;
use serde::Serialize;

/// The kind of a mention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MentionKind {
    /// A file or folder, relative: `src/db.rs`.
    Path,
    /// A command as it would be typed.
    Command,
    /// A function, type, constant or setting.
    Symbol,
    /// A commit id or a prefix of one.
    Commit,
    /// A URL.
    Link,
    /// Another memory.
    Memory,
}

/// One thing that a text mentions.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Mention {
    /// Its kind.
    pub what: MentionKind,
    /// The text as written, without line numbers, parentheses and surrounding punctuation.
    pub text: String,
    /// The line of the first mention, 1-based.
    pub line: u64,
}

/// Returns what a text mentions, in order, without duplicates: at most [`limits::MENTIONS`].
pub fn mentions(text: &str) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    let mut seen: FxHashSet<(MentionKind, String)> = FxHashSet::default();
    let mut fences = FenceScanner::default();
    let mut in_shell = false;
    for (line, content) in (1..).zip(text.lines()) {
        steps::count(content.len());
        let mut add = |(what, text): (MentionKind, String)| {
            if found.len() < limits::MENTIONS && seen.insert((what, text.clone())) {
                found.push(Mention { what, text, line });
            }
        };
        match fences.classify(content) {
            LineKind::Open(fence) => in_shell = is_shell(fence.info),
            LineKind::Code if in_shell => command(content.trim().trim_start_matches("$ ")).into_iter().for_each(&mut add),
            LineKind::Code | LineKind::Close => {}
            LineKind::Text => in_prose(content).into_iter().for_each(&mut add),
        }
    }
    found
}

/// Returns the files that prose mentions without a folder: `README.md`, `Cargo.toml`. Separate from [`mentions`], because such a file may
/// belong to anything, and only a verification should report it.
pub(super) fn bare_file_mentions(text: &str) -> Vec<Mention> {
    // Product names have these endings too: Node.js, ASP.net.
    const NOT_FILES: &[&str] = &["js", "c", "h", "r", "cs", "env", "go", "mod", "ex", "less"];
    let mut known: FxHashSet<String> = mentions(text).into_iter().map(|named| named.text).collect();
    let mut found: Vec<Mention> = Vec::new();
    let mut fences = FenceScanner::default();
    for (line, content) in (1..).zip(text.lines()) {
        if fences.is_code(content) {
            continue;
        }
        for word in content.split(|c: char| c.is_whitespace() || "()[]<>\"'`".contains(c)) {
            let bare = word.trim_matches(|c: char| ".,;:!?*_".contains(c));
            let ending = bare.rsplit_once('.').map(|(_, ending)| ending);
            let is_file = ending.is_some_and(|ending| !NOT_FILES.contains(&ending)) && !bare.contains('/') && !is_address(bare);
            let entrypoint = crate::store::mounts::is_pointer_file_name(bare);
            let is_new = is_file && !entrypoint && path(bare).as_deref() == Some(bare) && found.len() < limits::MENTIONS;
            if is_new && known.insert(bare.to_owned()) {
                found.push(Mention { what: MentionKind::Path, text: bare.to_owned(), line });
            }
        }
    }
    found
}

fn is_shell(language: &str) -> bool {
    let name = language.split([' ', ',', '{']).next().unwrap_or_default();
    matches!(name, "sh" | "bash" | "zsh" | "shell" | "console" | "shell-session")
}

fn in_prose(line: &str) -> Vec<(MentionKind, String)> {
    let mut out = Vec::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('`') {
        scan_words(before, &mut out);
        let Some((code, tail)) = after.split_once('`') else {
            rest = after;
            break;
        };
        out.extend(in_code(code.trim()));
        rest = tail;
    }
    scan_words(rest, &mut out);
    out
}

/// In prose, finds paths and URLs, and a commit id only after the word "commit".
fn scan_words(text: &str, out: &mut Vec<(MentionKind, String)>) {
    let mut after_commit = false;
    for word in text.split(|c: char| c.is_whitespace() || "()[]<>\"'".contains(c)) {
        let bare = word.trim_matches(|c: char| ".,;:!?*_".contains(c));
        let is_commit = after_commit && is_commit(bare);
        after_commit = bare.eq_ignore_ascii_case("commit");
        if is_address(bare) {
            out.push((MentionKind::Link, bare.to_owned()));
        } else if is_commit {
            out.push((MentionKind::Commit, bare.to_owned()));
        } else if bare.contains('/') {
            out.extend(path(bare).map(|path| (MentionKind::Path, path)));
        }
    }
}

pub(super) fn in_code(code: &str) -> Option<(MentionKind, String)> {
    if is_address(code) {
        return Some((MentionKind::Link, code.to_owned()));
    }
    if is_commit(code) {
        return Some((MentionKind::Commit, code.to_owned()));
    }
    if let Some(path) = path(code) {
        return Some((MentionKind::Path, path));
    }
    command(code).or_else(|| symbol(code).map(|symbol| (MentionKind::Symbol, symbol)))
}

fn is_address(text: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| text.strip_prefix(scheme).is_some_and(|rest| rest.contains('.') && !rest.contains(['<', '{', '*'])))
}

/// Seven to forty hex digits with both digits and letters: `1234567` is a number.
fn is_commit(text: &str) -> bool {
    let hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let mixed = text.bytes().any(|byte| byte.is_ascii_digit()) && text.bytes().any(|byte| byte.is_ascii_alphabetic());
    hex && mixed && (7..=40).contains(&text.len())
}

/// A relative path with a known extension, or a folder: `src/db.rs`, `Cargo.toml`, `docs/`. Otherwise `and/or` would be a path.
pub(super) fn path(text: &str) -> Option<String> {
    let text = text.split_once(":").filter(|(_, line)| line.starts_with(|c: char| c.is_ascii_digit())).map_or(text, |(path, _)| path);
    let text = text.split_once('#').map_or(text, |(path, _)| path);
    let text = text.trim_start_matches("./");
    let plain = text.chars().all(|c| c.is_alphanumeric() || "_-./@+".contains(c));
    let outside =
        text.starts_with(['/', '~', '-', '@']) || text.split('/').any(|part| part == ".." || part.is_empty() && !text.ends_with('/'));
    if !plain || outside || text.contains("YYYY") {
        return None;
    }
    let last = text.trim_end_matches('/').rsplit('/').next()?;
    let folder = text.ends_with('/') && text.len() > 1 && last.is_ascii();
    let ending = last.rsplit_once('.').filter(|(stem, _)| !stem.is_empty() || last.len() > 2).map(|(_, ending)| ending);
    let known = ending.is_some_and(|ending| ENDINGS.contains(&ending)) || FILES.contains(&last);
    (folder || known).then(|| text.to_owned())
}

const ENDINGS: &[&str] = &[
    "rs", "toml", "lock", "md", "mdx", "txt", "py", "pyi", "ts", "tsx", "js", "jsx", "mjs", "cjs", "json", "jsonc", "yaml", "yml", "go",
    "mod", "java", "kt", "kts", "gradle", "swift", "c", "h", "cc", "cpp", "hpp", "cs", "rb", "php", "ex", "exs", "erl", "hs", "ml",
    "scala", "clj", "lua", "zig", "nim", "sh", "bash", "zsh", "fish", "ps1", "sql", "graphql", "proto", "css", "scss", "less", "html",
    "vue", "svelte", "astro", "xml", "ini", "cfg", "conf", "env", "csv", "tf", "nix", "ipynb", "dart", "r", "jl", "dockerfile", "plist",
];
const FILES: &[&str] =
    &["Makefile", "Dockerfile", "Justfile", "justfile", "Gemfile", "Rakefile", "Procfile", "LICENSE", ".gitignore", ".env"];

/// A command line whose program has commands that can be looked up in the project.
fn command(text: &str) -> Option<(MentionKind, String)> {
    const PROGRAMS: &[&str] =
        &["npm", "pnpm", "yarn", "bun", "make", "just", "cargo", "deno", "composer", "task", "bash", "sh", "python", "python3", "node"];
    let program = text.split(' ').next()?;
    let named = PROGRAMS.contains(&program) && text.len() > program.len();
    let script =
        program.strip_prefix("./").is_some_and(|path| path.chars().all(|c| c.is_alphanumeric() || "_-./".contains(c)) && !path.is_empty());
    (named || script).then(|| (MentionKind::Command, text.to_owned()))
}

/// An identifier that is not a word of prose: with `()`, `::`, an underscore or an inner capital.
fn symbol(text: &str) -> Option<String> {
    let name = text.trim_end_matches("()").trim_end_matches('!');
    let called = name.len() < text.len();
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "_:.".contains(c))
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let bytes = name.as_bytes();
    let camel = bytes.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let joined = name.contains("::") || name.trim_matches('_').contains('_');
    (plain && name.len() >= 3 && (called || camel || joined)).then(|| name.to_owned())
}
