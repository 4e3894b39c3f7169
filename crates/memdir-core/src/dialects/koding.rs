//! `MemoryRead` and `MemoryWrite` over one directory of files of any kind.

use super::{Dialect, Places, Space, whole};
use crate::{
    base::{
        error::{Error, Result},
        limits,
        path::MemoryPath,
        text,
    },
    operations::exact,
    store::{
        Verb,
        files::{Mount, real_path},
    },
    tools::{Caller, Level, Tool, ToolResult, args::Args},
};
use serde_json::json;
use std::{fmt::Write as _, path::Path};

pub(super) const DIALECT: Dialect = Dialect {
    name: "koding",
    stands_for: "the MemoryRead and MemoryWrite tools of anon-kode",
    needs: "~/.koding/memory, or memory/ in CLAUDE_CONFIG_DIR",
    tools: || &TOOLS,
    space,
};

const TOOLS: [Tool; 2] = [
    Tool {
        name: "MemoryRead",
        title: "Read Memory",
        description: include_str!("../../texts/dialects/koding-read.md"),
        input: || {
            json!({ "type": "object", "properties": {
                "file_path": { "type": "string", "description": "the file; without it the root file and the list of all files" }
            }, "additionalProperties": false })
        },
        output: None,
        level: Level::Safe,
        idempotent: true,
        titled: false,
        run: read,
    },
    Tool {
        name: "MemoryWrite",
        title: "Write Memory",
        description: include_str!("../../texts/dialects/koding-write.md"),
        input: || {
            json!({ "type": "object", "properties": {
                "file_path": { "type": "string", "description": "the file, as MemoryRead lists it or relative to the memory directory" },
                "content": { "type": "string", "description": "the whole new content" }
            }, "required": ["file_path", "content"], "additionalProperties": false })
        },
        output: None,
        level: Level::Changes,
        idempotent: true,
        titled: false,
        run: write,
    },
];

/// The root file, and the one that is taken in its place.
const ROOT_FILES: [&str; 2] = ["index.md", "MEMORY.md"];
const INVALID: &str = "Invalid memory file path";
const MISSING: &str = "Memory file does not exist";
/// Files listed at the most.
const LISTED: usize = 2_000;

fn space(places: &Places<'_>) -> Result<Space> {
    let root = match (places.dir, (places.path_var)("CLAUDE_CONFIG_DIR")?) {
        (Some(dir), _) => dir.to_owned(),
        (None, Some(config)) => config.join("memory"),
        (None, None) => places.home.join(".koding/memory"),
    };
    let mount = Mount { hidden: true, ..places.plain("", &root) };
    Ok(Space { mounts: vec![mount], root })
}

fn read(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    let given = args.text(&["file_path"])?;
    args.finish()?;
    let Some(given) = given else { return overview(caller) };
    let Some(path) = inside(caller, &given) else { return Ok(ToolResult::failure(INVALID)) };
    let store = caller.memdir.store();
    match exact::get(store, &path) {
        Ok(Some(stored)) => {
            let content = whole(&text::decode(&stored.bytes).0, limits::DIALECT_CHARS, |line, left| {
                format!("[{left} more characters: read {} from line {line} on]", shown(caller, path.as_str()))
            });
            Ok(content_result(content))
        }
        Ok(None) if exact::is_folder(store, &path)? => Ok(ToolResult::failure(INVALID)),
        Ok(None) => Ok(ToolResult::failure(MISSING)),
        // A link that leads out, or something that is no file.
        Err(Error::BadPath { .. }) => Ok(ToolResult::failure(INVALID)),
        Err(error) => Err(error),
    }
}

fn write(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    let (given, content) = (args.needed(&["file_path"])?, args.needed(&["content"])?);
    args.finish()?;
    let Some(path) = inside(caller, &given) else { return Ok(ToolResult::failure(INVALID)) };
    let store = caller.memdir.store();
    let written = exact::rewrite(store, caller.memdir.context(), Verb::Write, &path, &mut |view, _| match exact::is_folder(view, &path)? {
        true => Err(Error::bad_path(path.as_str(), "it is a folder")),
        false => Ok(content.clone().into_bytes()),
    });
    match written {
        Ok(_) => Ok(ToolResult::new(json!({ "content": "Saved", "file_path": shown(caller, path.as_str()) }), "Saved")),
        Err(Error::BadPath { .. }) => Ok(ToolResult::failure(INVALID)),
        Err(error) => Err(error),
    }
}

fn overview(caller: &Caller) -> Result<ToolResult> {
    let store = caller.memdir.store();
    let mut root = (ROOT_FILES[0], String::new());
    for name in ROOT_FILES {
        if let Some(stored) = exact::get(store, &MemoryPath::parse(name)?)? {
            let path = shown(caller, name);
            let more = |line, left| format!("[{left} more characters: read {path} from line {line} on]");
            root = (name, whole(&text::decode(&stored.bytes).0, limits::DIALECT_CHARS, more));
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

/// A file's path as the old system printed it.
fn shown(caller: &Caller, path: &str) -> String {
    caller.root.join(path).display().to_string()
}

/// The file that is meant: below the root, given relative to it or as it is printed. Nothing for any other.
fn inside(caller: &Caller, given: &str) -> Option<MemoryPath> {
    if !given.starts_with('/') {
        return MemoryPath::parse(given).ok();
    }
    let roots = [caller.root.clone(), real_path(&caller.root)];
    let rest = roots.iter().find_map(|root| Path::new(given).strip_prefix(root).ok())?;
    // What `strip_prefix` overlooks, such as `//` and `.`, is not for us to repair.
    let rest = rest.to_str().filter(|rest| given.ends_with(rest))?;
    MemoryPath::parse(rest).ok()
}
