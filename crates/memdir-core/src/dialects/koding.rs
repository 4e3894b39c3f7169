//! `MemoryRead` and `MemoryWrite` of anon-kode, on one directory with files of any kind.

use super::{Advice, Dialect, DialectPlaces, DialectSpace, cut_with_note, normalize};
use crate::{
    base::{
        error::{Error, Result},
        limits,
        path::MemoryPath,
        text,
    },
    operations::raw_files,
    store::{
        Verb,
        mount::{Mount, real_path},
    },
    tools::{Level, Tool, ToolContext, ToolResult, args::ToolArguments, params::Param},
};
use serde_json::json;
use std::fmt::Write as _;

pub(super) const DIALECT: Dialect = Dialect {
    name: "koding",
    stands_for: "anon-kode's MemoryRead and MemoryWrite tools",
    needs: "~/.koding/memory, or memory/ in CLAUDE_CONFIG_DIR",
    tools: || &TOOLS,
    space,
};

const READ_PATH: Param = Param::text("file_path").describe("file to read; omit it to read the root file and list all files");
const WRITE_PATH: Param = Param::text("file_path").required().describe("path as listed by MemoryRead, or relative to the memory directory");
const CONTENT: Param = Param::text("content").required().describe("complete new content of the file");

const TOOLS: [Tool; 2] = [
    Tool {
        name: "MemoryRead",
        title: "Read Memory",
        description: include_str!("../../texts/dialects/koding-read.md"),
        params: &[READ_PATH],
        closed: true,
        output: None,
        level: Level::Safe,
        idempotent: true,
        titled: false,
        always_load: false,
        run: |caller, args| ADVICE.apply(read(caller, args)),
    },
    Tool {
        name: "MemoryWrite",
        title: "Write Memory",
        description: include_str!("../../texts/dialects/koding-write.md"),
        params: &[WRITE_PATH, CONTENT],
        closed: true,
        output: None,
        level: Level::Changes,
        idempotent: true,
        titled: false,
        always_load: false,
        run: |caller, args| ADVICE.apply(write(caller, args)),
    },
];

const ADVICE: Advice = Advice {
    name: "Use a path relative to the memory directory, such as notes/deploy.md.",
    list: "Call MemoryRead without file_path to list the existing files.",
    edit: "Write the whole file with MemoryWrite.",
    split: "Split the text into several files.",
};

/// The root file, and the fallback if it does not exist.
const ROOT_FILES: [&str; 2] = ["index.md", "MEMORY.md"];
const INVALID: &str = "Invalid memory file path";
const MISSING: &str = "Memory file does not exist";
/// Maximum number of listed files.
const LISTED: usize = 2_000;

fn space(places: &DialectPlaces<'_>) -> Result<DialectSpace> {
    let root = match (places.dir, (places.path_var)("CLAUDE_CONFIG_DIR")?) {
        (Some(dir), _) => dir.to_owned(),
        (None, Some(config)) => config.join("memory"),
        (None, None) => places.home.join(".koding/memory"),
    };
    let mount = Mount { hidden: true, ..places.file_mount("", &root) };
    Ok(DialectSpace { mounts: vec![mount], root })
}

fn read(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    let given = args.text(&READ_PATH)?;
    args.reject_unknown()?;
    let Some(given) = given else { return overview(caller) };
    let Some(path) = path_inside(caller, &given) else { return Ok(ToolResult::failure(INVALID)) };
    let store = caller.memdir.store();
    match raw_files::get(store, &path) {
        Ok(Some(stored)) => {
            let content = cut_with_note(&text::decode(&stored.bytes).0, limits::DIALECT_CHARS, |line, left| {
                format!("[{left} more characters: use a file tool to read {} from line {line} on]", shown(caller, path.as_str()))
            });
            Ok(content_result(content))
        }
        Ok(None) if raw_files::is_folder(store, &path)? => Ok(ToolResult::failure(INVALID)),
        Ok(None) => Ok(ToolResult::failure(MISSING)),
        // A link that leads out of the directory, or not a regular file.
        Err(Error::BadPath { .. }) => Ok(ToolResult::failure(INVALID)),
        Err(error) => Err(error),
    }
}

fn write(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    let (given, content) = (args.required_text(&WRITE_PATH)?, args.required_text(&CONTENT)?);
    args.reject_unknown()?;
    let Some(path) = path_inside(caller, &given) else { return Ok(ToolResult::failure(INVALID)) };
    let store = caller.memdir.store();
    let written =
        raw_files::rewrite(store, caller.memdir.context(), Verb::Write, &path, &mut |view, _| match raw_files::is_folder(view, &path)? {
            true => Err(Error::bad_path(path.as_str(), "it is a directory")),
            false => Ok(content.clone().into_bytes()),
        });
    match written {
        Ok(_) => Ok(ToolResult::new(json!({ "content": "Saved", "file_path": shown(caller, path.as_str()) }), "Saved")),
        Err(Error::BadPath { .. }) => Ok(ToolResult::failure(INVALID)),
        Err(error) => Err(error),
    }
}

fn overview(caller: &ToolContext) -> Result<ToolResult> {
    let store = caller.memdir.store();
    let mut root = (ROOT_FILES[0], String::new());
    for name in ROOT_FILES {
        if let Some(stored) = raw_files::get(store, &MemoryPath::parse(name)?)? {
            let path = shown(caller, name);
            let more = |line, left| format!("[{left} more characters: use a file tool to read {path} from line {line} on]");
            root = (name, cut_with_note(&text::decode(&stored.bytes).0, limits::DIALECT_CHARS, more));
            break;
        }
    }
    let walk = store.list("")?;
    let mut content = format!("Here are the contents of the root memory file, `{}`:\n'''\n{}\n'''\n\n", shown(caller, root.0), root.1);
    content.push_str("Files in the memory directory:\n");
    let files: Vec<String> = walk.entries.iter().take(LISTED).map(|entry| format!("- {}", shown(caller, entry.path.as_str()))).collect();
    content.push_str(&files.join("\n"));
    let more = walk.entries.len() - files.len() + walk.left_out;
    if more > 0 {
        let _ = write!(content, "\n({more} more)");
    }
    Ok(content_result(content))
}

fn content_result(content: String) -> ToolResult {
    ToolResult::new(json!({ "content": content }), content)
}

/// A file's path as anon-kode prints it.
fn shown(caller: &ToolContext, path: &str) -> String {
    caller.root.join(path).display().to_string()
}

/// Parses a path that is relative to the root, or absolute as anon-kode prints it. Returns `None` for a path outside the root and
/// for one that can only be a directory.
fn path_inside(caller: &ToolContext, given: &str) -> Option<MemoryPath> {
    let rest = if given.starts_with('/') {
        let roots = [caller.root.clone(), real_path(&caller.root)];
        let mut roots = roots.iter().filter_map(|root| root.to_str());
        roots.find_map(|root| given.strip_prefix(root).filter(|rest| rest.starts_with('/')))?
    } else {
        given
    };
    if rest.ends_with('/') || rest.ends_with("/.") || rest.ends_with("/..") {
        return None;
    }
    MemoryPath::parse(&normalize(rest)?).ok()
}
