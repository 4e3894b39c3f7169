//! The keys of `config.toml` with their documentation, from which docs/reference/config.md is generated, and the suggestions for misspelled
//! keys.

/// One key of `config.toml`.
#[cfg_attr(not(test), expect(dead_code, reason = "only the test that writes docs/reference/config.md reads the other fields"))]
pub(crate) struct Key {
    /// The full name, with dots.
    pub(crate) name: &'static str,
    /// The type of the value.
    pub(crate) kind: &'static str,
    /// The default value.
    pub(crate) default: &'static str,
    /// The description.
    pub(crate) doc: &'static str,
}

const fn key(name: &'static str, kind: &'static str, default: &'static str, doc: &'static str) -> Key {
    Key { name, kind, default, doc }
}

/// All keys.
pub(crate) const KEYS: &[Key] = &[
    key("enabled", "boolean", "`true`", "Enables memory. `MEMDIR_DISABLE` overrides it: `1` disables, `0` enables."),
    key("worktrees", "`shared` or `separate`", "`shared`", "Whether the worktrees of a git repository share one memory."),
    key("team", "boolean", "`false`", "Enables the team memory of a project (`.memdir/` in its repository) before that directory exists."),
    key(
        "log",
        "boolean",
        "`false`",
        "Collects new memories in a daily log first. `memdir prompt` then asks for log entries, and a hook adds one when a conversation is compacted.",
    ),
    key(
        "guidelines",
        "string",
        "none",
        "Additional text for every prompt. `MEMDIR_EXTRA_GUIDELINES` and `CLAUDE_COWORK_MEMORY_EXTRA_GUIDELINES` are appended.",
    ),
    key("secrets", "table", "", "Exceptions to secret detection."),
    key("secrets.allow", "list of regular expressions", "none", "Patterns of values that are not secrets."),
    key("secrets.allow_rules", "list of strings", "none", "Names of detection rules to skip, as printed in error messages."),
    key("tokens", "list of tables", "none", "Bearer tokens of HTTP clients, one `[[tokens]]` each; written by `memdir token`."),
    key("tokens.person", "string", "required", "The owner, whose memories are `user/`."),
    key("tokens.agent", "string", "none", "The agent that acts for the owner; its memories are `agent/`."),
    key("tokens.projects", "list of strings", "none", "Ids of the projects that the token gives access to."),
    key("tokens.hash", "string", "required", "The hash of the token. The token itself is not stored."),
    key("projects", "list of tables", "none", "Settings of individual projects, one `[[projects]]` each."),
    key("projects.id", "string", "required", "The id of the project, as printed by `memdir where`."),
    key("projects.enabled", "boolean", "`true`", "Enables memory in this project."),
    key("mounts", "list of tables", "none", "Additional directories of memories, one `[[mounts]]` each. They must not overlap."),
    key(
        "mounts.name",
        "string",
        "required",
        "Prefix of the names: a mount `notes` contains `notes/deploy`. `user` and the empty name replace the built-in mounts.",
    ),
    key("mounts.path", "path", "required", "The directory. It must not contain your home directory, unless `only` is set."),
    key(
        "mounts.access",
        "`read-write` or `read-only`",
        "`read-write`",
        "Whether memdir can write to the directory. A writable directory is created if it does not exist.",
    ),
    key(
        "mounts.source",
        "`memory` or `custom`",
        "`memory`",
        "Source of its search results: `memory` for memories, `custom` for other documents.",
    ),
    key(
        "mounts.entrypoint",
        "boolean",
        "`true` for `memory`",
        "Maintains a `MEMORY.md` in the directory. Without it, memdir writes only memories there.",
    ),
    key("mounts.follow_links", "boolean", "`false`", "Follows symbolic links that stay inside the directory."),
    key("mounts.link_roots", "list of paths", "none", "Directories outside the mount that symbolic links may lead to."),
    key("mounts.hidden", "boolean", "`false`", "Includes directories whose names begin with a dot."),
    key("mounts.read_only", "list of regular expressions", "none", "Names that are read-only; an expression must match the whole name."),
    key("mounts.ignored", "list of regular expressions", "none", "Names that are hidden; an expression must match the whole name."),
    key(
        "mounts.only",
        "list of globs",
        "all",
        "Files to include; all others are hidden. `memory/**/*.md` includes everything below a folder.",
    ),
    key(
        "mounts.project",
        "string",
        "every project",
        "Mounts the directory only in the project with this id, as printed by `memdir where`.",
    ),
    key("mounts.journal", "path", "`MEMDIR_HOME/journal/…`", "Directory of the journal, outside all mounts."),
    key("chats", "table", "", "Settings of past conversations."),
    key("chats.on", "boolean", "`false`", "Imports past conversations with agents. Set by `memdir chats on` and `memdir chats off`."),
    key(
        "chats.hosts_off",
        "list of hosts",
        "none",
        "Hosts whose conversations are not imported: `claude-code`, `codex`, `gemini`, `opencode`, `openclaw`, `cursor` or `folder` (conversations in `chats.folders`).",
    ),
    key(
        "chats.projects_off",
        "list of paths",
        "none",
        "Directories whose conversations, and those of their subdirectories, are not imported.",
    ),
    key(
        "chats.folders",
        "list of paths",
        "none",
        "Folders with other conversations: Markdown and text with speakers, JSONL with `role` and `content`.",
    ),
    key("chats.keep_days", "number", "365", "Days to keep a conversation after its last message; 0 for no limit."),
    key(
        "chats.keep_bytes",
        "number",
        "1073741824",
        "Maximum size of all conversations in bytes, above which the oldest are deleted; 0 for no limit.",
    ),
    key("hooks", "table", "", "Settings of hooks."),
    key("hooks.remind", "boolean", "`false`", "Reminds the agent once per conversation to save what it learned."),
    key("search", "table", "", "Settings of searches."),
    key(
        "search.embedder",
        "`builtin`, `none`, `openai` or `ollama`",
        "`builtin`",
        "The embedding model: built-in, none, an OpenAI-compatible endpoint, or Ollama. Searches do not wait for a slow endpoint.",
    ),
    key("search.url", "string", "required for an endpoint", "URL of the endpoint, such as `http://localhost:11434`."),
    key("search.model", "string", "required for an endpoint", "Name of the model."),
    key("search.dimensions", "number", "required for an endpoint", "Number of dimensions of the vectors."),
    key("search.key_file", "path", "none", "File with the API key."),
    key("search.query_prefix", "string", "none", "Text that the model expects before a query."),
    key("search.passage_prefix", "string", "none", "Text that the model expects before a passage."),
    key("memory", "table", "", "Settings of the memory as a whole."),
    key(
        "memory.extraPaths",
        "list of paths",
        "none",
        "Files, directories and globs (`~/docs/**/*.md`) to read and search. Each is a read-only mount of source `custom`, named after its last component.",
    ),
];
