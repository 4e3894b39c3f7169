//! The keys of `config.toml`, the environment variables and the files of memdir, with their documentation: for `memdir config`, the manual
//! page, docs/reference/config.md, and the suggestions for misspelled keys.

/// One key of `config.toml`.
#[cfg_attr(not(test), expect(dead_code, reason = "only the test that writes docs/reference/config.md reads the description"))]
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

impl Key {
    /// Whether it is a key of a array of tables, such as `mounts.path`, and not one setting.
    pub(crate) fn is_in_list(&self) -> bool {
        let above = self.name.rsplit_once('.').map(|(above, _)| above);
        KEYS.iter().any(|key| Some(key.name) == above && key.kind == LIST_OF_TABLES)
    }
}

/// The kind of a table.
pub(crate) const TABLE: &str = "table";
/// The kind of a array of tables.
pub(crate) const LIST_OF_TABLES: &str = "array of tables";

/// An environment variable, or several with one meaning.
pub(crate) struct Variable {
    /// The names, separated by commas.
    pub(crate) names: &'static str,
    /// The meaning.
    pub(crate) doc: &'static str,
    /// What applies without it.
    pub(crate) default: &'static str,
}

const fn var(names: &'static str, doc: &'static str, default: &'static str) -> Variable {
    Variable { names, doc, default }
}

/// The environment variables.
pub(crate) const VARIABLES: &[Variable] = &[
    var("MEMDIR_HOME", "directory of memories, journals and `config.toml`", "`~/.memdir`"),
    var("MEMDIR_DIR", "directory that is the whole memory; `--dir` overrides it", "none"),
    var("MEMDIR_PROJECT", "id of the project; `--project` overrides it", "from the current directory"),
    var("MEMDIR_AGENT", "agent whose memory is mounted too; `--agent` overrides it", "none"),
    var("MEMDIR_DISABLE", "`1` disables memory, `0` enables it; overrides every other switch", "none"),
    var("MEMDIR_DREAM", "set in programs that `memdir dream --with` starts: hooks do nothing there", "none"),
    var("MEMDIR_TEAM_TOKEN", "token of the team server of `memdir export` and `memdir review`; `--token-file` overrides it", "none"),
    var("MEMDIR_TOKEN", "bearer token of HTTP clients; `--token-file` overrides it", "none"),
    var("DATABASE_URL", "PostgreSQL database of `memdir serve` and `memdir admin`; `--database` overrides it", "none"),
    var("MEMDIR_EXTRA_GUIDELINES, CLAUDE_COWORK_MEMORY_EXTRA_GUIDELINES", "additional text for every prompt; ignored if blank", "none"),
    var("VISUAL, EDITOR", "editor of `memdir edit` and `memdir config edit`, with its arguments; the first that is set", "none"),
    var("USER, LOGNAME", "name recorded in the history; `--actor` overrides it", "`cli`"),
    var("XDG_CACHE_HOME", "directory of the search index and other derived files", "the cache directory of the system"),
    var("NO_COLOR, CLICOLOR_FORCE, TERM", "whether colours are used on a terminal", ""),
    var(
        "CLAUDE_CONFIG_DIR, CODEX_HOME, GEMINI_CLI_HOME, OPENCODE_DB, OPENCLAW_STATE_DIR, XDG_DATA_HOME, XDG_CONFIG_HOME",
        "where the hosts keep their settings and conversations",
        "each host's own default",
    ),
];

/// The files of memdir with their contents, for the manual page.
pub(crate) const FILES: &[(&str, &str)] = &[
    ("~/.memdir/config.toml", "the settings"),
    ("~/.memdir/projects/ID/", "the memories of a project, and MEMORY.md, its entrypoint"),
    ("~/.memdir/projects/ID.toml", "the directory and the remotes of a project"),
    ("~/.memdir/user/", "the memories of the user"),
    ("~/.memdir/inbox/ID/", "the candidates of a project, and those already decided"),
    ("~/.memdir/journal/", "the history of every change"),
    ("~/.memdir/uses/", "how often memories are used, as numbers"),
    ("~/.memdir/dreams/", "the plans of memdir dream"),
    ("~/.memdir/edits/", "texts that were written in an editor and could not be saved"),
    (".memdir/", "the memories of a team, in its git repository"),
    (".memdir-agents/", "the memories of agents, in a git repository"),
    ("~/.cache/memdir/", "the search index and other derived files, which can be deleted"),
];

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
    key(
        "count_use",
        "boolean",
        "`true`",
        "Counts how often each memory is listed, recalled, found, read and cited, and whether rules are followed. Only numbers, on this machine; `memdir stats --use` shows them.",
    ),
    key("secrets", "table", "", "Exceptions to secret detection."),
    key("secrets.allow", "list of regular expressions", "none", "Patterns of values that are not secrets."),
    key("secrets.allow_rules", "list of strings", "none", "Names of detection rules to skip, as printed in error messages."),
    key("tokens", "array of tables", "none", "Bearer tokens of HTTP clients, one `[[tokens]]` each; written by `memdir token`."),
    key("tokens.person", "string", "required", "The owner, whose memories are `user/`."),
    key("tokens.agent", "string", "none", "The agent that acts for the owner; its memories are named `agent/NAME/…`."),
    key("tokens.projects", "list of strings", "none", "Ids of the projects that the token gives access to."),
    key("tokens.hash", "string", "required", "The hash of the token. The token itself is not stored."),
    key(
        "oauth",
        "table",
        "none",
        "The identity provider whose access tokens the HTTP server accepts. Read when the server starts, except for `oauth.groups`.",
    ),
    key(
        "oauth.issuer",
        "string",
        "required",
        "The issuer: the URL of the identity provider, exactly as in the `iss` claim of its tokens. It must use `https`, except on loopback.",
    ),
    key(
        "oauth.resource",
        "string",
        "required",
        "The URL under which clients reach this server, without `/mcp`. Tokens must be issued for it, or for its `/mcp`.",
    ),
    key(
        "oauth.audiences",
        "list of strings",
        "none",
        "Additional audiences to accept, for providers whose tokens name the server by an id such as `api://…`.",
    ),
    key("oauth.read_scope", "string", "`memdir:read`", "The scope that a token needs to read."),
    key(
        "oauth.write_scope",
        "string",
        "`memdir:write`",
        "The scope that a token needs to read and write. A token with only the other scope gets read-only memories.",
    ),
    key(
        "oauth.person_claim",
        "string",
        "`sub`",
        "The claim with the person's name, whose memories are `user/`. Choose one that people cannot set themselves: it is the same name as in `tokens.person`.",
    ),
    key(
        "oauth.groups_claim",
        "string",
        "`groups`",
        "The claim with the person's groups. A path such as `realm_access.roles` is possible in all names of claims.",
    ),
    key("oauth.projects_claim", "string", "none", "The claim with ids of the projects that the person has access to."),
    key("oauth.tenant_claim", "string", "none", "The claim with the tenant, for a server with a database."),
    key("oauth.tenant", "string", "none", "The tenant of all people on a server with a database, if `oauth.tenant_claim` is not set."),
    key("oauth.roles_claim", "string", "none", "The claim with the person's roles, for a server with a database."),
    key("oauth.client_id", "string", "none", "The OAuth client id with which people sign in to the pages of the server."),
    key("oauth.client_secret_file", "path", "none", "File with the secret of that client, if it has one."),
    key("oauth.groups", "array of tables", "none", "Maps groups to projects, one `[[oauth.groups]]` each."),
    key("oauth.groups.name", "string", "required", "The name of the group, as in the claim."),
    key("oauth.groups.projects", "list of strings", "required", "Ids of the projects that the group has access to."),
    key("projects", "array of tables", "none", "Settings of individual projects, one `[[projects]]` each."),
    key("projects.id", "string", "required", "The id of the project, as printed by `memdir where`."),
    key("projects.enabled", "boolean", "`true`", "Enables memory in this project."),
    key("mounts", "array of tables", "none", "Additional directories of memories, one `[[mounts]]` each. They must not overlap."),
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
    key("mounts.link_roots", "list of paths", "none", "Directories outside the mount that symbolic links may point to."),
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
        "Hosts whose conversations are not imported: `claude-code`, `codex`, `gemini`, `opencode`, `openclaw`, `cursor`, `copilot-cli` or `folder` (conversations in `chats.folders`).",
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
    key(
        "hooks.left_off",
        "boolean",
        "`true`",
        "Starts each conversation with a note on how the previous one in this project ended (at most 200 tokens). Requires `chats.on`; skipped if that conversation is older than 14 days.",
    ),
    key("hooks.remind", "boolean", "`false`", "Has no effect: `inbox.ask` replaces it."),
    key("inbox", "table", "", "Settings of candidates: memories that are proposed from what happened in conversations."),
    key("inbox.on", "boolean", "`true`", "Looks for candidates in conversations, and mounts the inbox."),
    key(
        "inbox.ask",
        "boolean",
        "`true`",
        "Asks the agent once per conversation, when it stops, to decide on candidates from that conversation.",
    ),
    key(
        "inbox.without_chats",
        "boolean",
        "`true`",
        "While chats are off, reads the running conversation for the kinds `remember` and `denied`, and keeps nothing else of it.",
    ),
    key(
        "inbox.remember",
        "`ask`, `list` or `off`",
        "`ask`",
        "You asked the agent to remember something, and it saved nothing. `ask` also lets the agent decide, `list` only adds it to the inbox.",
    ),
    key("inbox.denied", "`ask`, `list` or `off`", "`ask`", "You rejected or interrupted an action."),
    key("inbox.repeat", "`ask`, `list` or `off`", "`ask`", "You typed the same thing in several conversations."),
    key(
        "inbox.scar",
        "`ask`, `list` or `off`",
        "`list`",
        "A command failed, and another invocation of the same program succeeded, in several conversations.",
    ),
    key("inbox.reverted", "`ask`, `list` or `off`", "`list`", "An edit was undone."),
    key("inbox.violated", "`list` or `off`", "`list`", "A rule was violated twice: a higher strength is proposed."),
    key("inbox.unused", "`list` or `off`", "`list`", "A rule has not fired in 90 days: its removal is proposed."),
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
    key("dream", "table", "", "Settings of `memdir dream`."),
    key(
        "dream.auto",
        "boolean",
        "`false`",
        "Makes a plan at the end of a session when one is due. Set by `memdir dream --auto on` and `off`.",
    ),
    key("dream.hours", "number", "24", "Hours between two automatic plans."),
    key("dream.sessions", "number", "5", "Sessions that must end between two automatic plans."),
    key("dream.minutes", "number", "10", "Minutes between two checks whether an automatic plan is due."),
    key("dream.log_hours", "number", "48", "Hours after which the daily logs are due to be distilled again."),
    key("dream.log_sessions", "number", "8", "Sessions after which the daily logs are due to be distilled again."),
    key("dream.model_seconds", "number", "300", "Time limit in seconds of `memdir dream --with`, for all pieces together."),
    key(
        "dream.model_cost",
        "number",
        "1.0",
        "Cost limit in USD of `memdir dream --with`, for all pieces together, if the program supports one.",
    ),
    key("memory", "table", "", "Settings of the memory as a whole."),
    key(
        "memory.extraPaths",
        "list of paths",
        "none",
        "Files, directories and globs (`~/docs/**/*.md`) to read and search. Each is a read-only mount of source `custom`, named after its last component.",
    ),
];
