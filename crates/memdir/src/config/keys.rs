//! The keys of `config.toml`, the environment variables and the files of memdir, with their documentation: for `memdir config`, the manual
//! page, docs/reference/config.md, and the suggestions for misspelled keys.

/// One key of `config.toml`.
#[cfg_attr(not(test), expect(dead_code, reason = "only the test that writes docs/reference/config.md reads the description"))]
pub(crate) struct ConfigKey {
    /// The full name, with dots.
    pub(crate) name: &'static str,
    /// The type of the value.
    pub(crate) kind: &'static str,
    /// The default value.
    pub(crate) default: &'static str,
    /// The description.
    pub(crate) doc: &'static str,
}

const fn key(name: &'static str, kind: &'static str, default: &'static str, doc: &'static str) -> ConfigKey {
    ConfigKey { name, kind, default, doc }
}

impl ConfigKey {
    /// Whether it is a key of an array of tables, such as `mounts.path`, and not one setting.
    pub(crate) fn is_in_list(&self) -> bool {
        let above = self.name.rsplit_once('.').map(|(above, _)| above);
        KEYS.iter().any(|key| Some(key.name) == above && key.kind == LIST_OF_TABLES)
    }
}

/// The kind of a number without a fraction.
pub(crate) const WHOLE_NUMBER: &str = "whole number";
/// The kind of a table.
pub(crate) const TABLE: &str = "table";
/// The kind of an array of tables.
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
    var("MEMDIR_HOME", "directory for memories, journals and `config.toml`; `--home` overrides it", "`~/.memdir`"),
    var("MEMDIR_DIR", "directory to use as the whole memory; `--dir` overrides it", "none"),
    var("MEMDIR_PROJECT", "project id; `--project` overrides it", "from the current directory"),
    var("MEMDIR_AGENT", "agent whose memory is also mounted; `--agent` overrides it", "none"),
    var("MEMDIR_DISABLE", "`1` disables memory, `0` enables it; overrides all `enabled` settings", "none"),
    var("MEMDIR_DREAM", "set by `memdir dream --with` for the program that it starts; turns memdir's hooks off in that program", "none"),
    var("MEMDIR_TEAM_TOKEN", "team server token for `memdir export` and `memdir review`; `--token-file` overrides it", "none"),
    var("MEMDIR_TOKEN", "bearer token that clients of `memdir mcp --http` must send; `--token-file` overrides it", "none"),
    var("SSL_CERT_FILE", "PEM file with the certificate authorities to trust for a team server", "public authorities"),
    var("DATABASE_URL", "PostgreSQL database URL for `memdir serve` and `memdir admin`; `--database` overrides it", "none"),
    var(
        "MEMDIR_EXTRA_GUIDELINES, CLAUDE_COWORK_MEMORY_EXTRA_GUIDELINES",
        "additional text for the instructions that memdir gives to agents; ignored if blank",
        "none",
    ),
    var(
        "VISUAL, EDITOR",
        "editor command for `memdir edit` and `memdir config edit`, with its arguments; `VISUAL` takes precedence",
        "none",
    ),
    var("USER, LOGNAME", "name recorded in the history; `--actor` overrides it", "`cli`"),
    var(
        "XDG_CACHE_HOME",
        "cache directory; the search index and other derived files are in its subdirectory `memdir/`",
        "the system's cache directory",
    ),
    var("NO_COLOR, CLICOLOR_FORCE, TERM", "whether terminal output is colored", "if the terminal supports colors"),
    var(
        "CLAUDE_CONFIG_DIR, CODEX_HOME, GEMINI_CLI_HOME, COPILOT_HOME, OPENCODE_DB, OPENCLAW_STATE_DIR, XDG_DATA_HOME, XDG_CONFIG_HOME",
        "directories of the hosts' settings and conversations",
        "each host's own default",
    ),
];

/// The files of memdir with their contents, for the manual page.
pub(crate) const FILES: &[(&str, &str)] = &[
    ("~/.memdir/config.toml", "the settings"),
    ("~/.memdir/projects/ID/", "a project's memories and its entrypoint, MEMORY.md"),
    ("~/.memdir/projects/ID.toml", "a project's directory and git remotes"),
    ("~/.memdir/user/", "the user's memories"),
    ("~/.memdir/inbox/ID/", "memories proposed for a project, and a record of those accepted or rejected (see `memdir inbox`)"),
    ("~/.memdir/journal/", "the history of all changes"),
    ("~/.memdir/uses/", "how often memories were used: names, counts and times (no text)"),
    ("~/.memdir/dreams/", "plans made by `memdir dream`"),
    ("~/.memdir/edits/", "drafts from `memdir edit` that could not be saved"),
    (".memdir/", "a team's memories, in its git repository"),
    (".memdir-agents/", "memories of agents with `--agent-scope project`, in a git repository"),
    ("~/.cache/memdir/", "the search index and other derived files; safe to delete"),
];

/// All keys.
pub(crate) const KEYS: &[ConfigKey] = &[
    key("enabled", "boolean", "`true`", "Enables memory. `MEMDIR_DISABLE` overrides it: `1` disables, `0` enables."),
    key("worktrees", "`shared` or `separate`", "`shared`", "Whether the worktrees of a git repository share one memory."),
    key(
        "team",
        "boolean",
        "`false`",
        "Enables the team memory of a project (`.memdir/` in its repository) even if that directory does not exist yet.",
    ),
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
        "Additional text for the instructions that memdir gives to agents. The values of `MEMDIR_EXTRA_GUIDELINES` and `CLAUDE_COWORK_MEMORY_EXTRA_GUIDELINES` are appended.",
    ),
    key(
        "count_use",
        "boolean",
        "`true`",
        "Counts how often each memory is listed, recalled, found, read and cited, and whether rules are followed. Only names, counts and times are stored, on this machine; `memdir stats --use` shows them.",
    ),
    key("secrets", "table", "", "Exceptions to secret detection."),
    key("secrets.allow", "list of regular expressions", "none", "Patterns of values that are not secrets."),
    key("secrets.allow_rules", "list of strings", "none", "Names of detection rules to skip, as printed in error messages."),
    key("tokens", "array of tables", "none", "Bearer tokens for HTTP clients, one `[[tokens]]` table each; managed with `memdir token`."),
    key("tokens.person", "string", "required", "The token's owner, whose memories are mounted as `user/`."),
    key("tokens.agent", "string", "none", "The agent that acts for the owner; its memories are mounted as `agent/NAME/`."),
    key("tokens.projects", "list of strings", "none", "Ids of the projects that the token gives access to."),
    key("tokens.hash", "string", "required", "The token's hash. The token itself is not stored."),
    key(
        "oauth",
        "table",
        "none",
        "The identity provider whose access tokens the HTTP server accepts. Changes require a server restart, except changes to `oauth.groups`, which take effect at once.",
    ),
    key(
        "oauth.issuer",
        "string",
        "required",
        "The identity provider's URL, exactly as in the `iss` claim of its tokens. It must use `https`, except on loopback.",
    ),
    key(
        "oauth.resource",
        "string",
        "required",
        "The URL at which clients reach this server, without `/mcp`. Tokens must be issued for this URL, with or without `/mcp`.",
    ),
    key(
        "oauth.audiences",
        "list of strings",
        "none",
        "Additional audiences to accept, for providers whose tokens identify the server by an id such as `api://…`.",
    ),
    key("oauth.read_scope", "string", "`memdir:read`", "The scope that a token needs to read memories."),
    key(
        "oauth.write_scope",
        "string",
        "`memdir:write`",
        "The scope that a token needs to read and write memories. A token with only `oauth.read_scope` has read-only access.",
    ),
    key(
        "oauth.person_claim",
        "string",
        "`sub`",
        "The claim with the person's name, which selects the memories in `user/`. Choose a claim that people cannot set themselves: a caller with the name of another person, including one in `tokens.person`, gets access to that person's memories.",
    ),
    key(
        "oauth.groups_claim",
        "string",
        "`groups`",
        "The claim with the person's groups. Ignored by `memdir serve`. All claim settings accept a path such as `realm_access.roles`.",
    ),
    key(
        "oauth.projects_claim",
        "string",
        "none",
        "The claim with the ids of the projects that the person has access to. Ignored by `memdir serve`.",
    ),
    key("oauth.tenant_claim", "string", "none", "The claim with the person's tenant, used by `memdir serve`."),
    key("oauth.tenant", "string", "none", "The tenant of all people, used by `memdir serve` if `oauth.tenant_claim` is not set."),
    key("oauth.client_id", "string", "none", "The OAuth client id that the server's web page uses to sign people in."),
    key("oauth.client_secret_file", "path", "none", "File with the OAuth client secret, if the client has one."),
    key(
        "oauth.groups",
        "array of tables",
        "none",
        "Maps groups to projects, one `[[oauth.groups]]` table per group. Ignored by `memdir serve`.",
    ),
    key("oauth.groups.name", "string", "required", "The name of the group, as in the claim."),
    key("oauth.groups.projects", "list of strings", "required", "Ids of the projects that the group has access to."),
    key("projects", "array of tables", "none", "Settings for individual projects, one `[[projects]]` table each."),
    key("projects.id", "string", "required", "The id of the project, as printed by `memdir where`."),
    key("projects.enabled", "boolean", "`true`", "Enables memory in this project."),
    key("mounts", "array of tables", "none", "Additional memory directories, one `[[mounts]]` table each. They must not overlap."),
    key(
        "mounts.name",
        "string",
        "required",
        "Prefix of the memory names: the mount `notes` contains `notes/deploy`. The names `user`, `team` and `\"\"` (empty) replace the built-in mounts of the user, the team and the project.",
    ),
    key("mounts.path", "path", "required", "The directory. It must not be or contain your home directory unless `mounts.only` is set."),
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
        "Source shown in search results: `memory` for memories, `custom` for other documents.",
    ),
    key(
        "mounts.entrypoint",
        "boolean",
        "`true` if `mounts.source` is `memory`",
        "Maintains the entrypoint `MEMORY.md` in the directory. If `false`, memdir writes only memories to the directory.",
    ),
    key("mounts.follow_links", "boolean", "`false`", "Follows symbolic links that stay inside the directory."),
    key("mounts.link_roots", "list of paths", "none", "Directories outside the mount that symbolic links may point to."),
    key("mounts.hidden", "boolean", "`false`", "Includes directories whose names begin with a dot."),
    key(
        "mounts.read_only",
        "list of regular expressions",
        "none",
        "Names of read-only memories, without the mount's prefix; an expression must match the whole name.",
    ),
    key(
        "mounts.ignored",
        "list of regular expressions",
        "none",
        "Names of memories to ignore, without the mount's prefix; an expression must match the whole name.",
    ),
    key(
        "mounts.only",
        "list of globs",
        "all",
        "Files to include; all others are ignored. `memory/**/*.md` includes every Markdown file under `memory/`.",
    ),
    key(
        "mounts.project",
        "string",
        "every project",
        "Mounts the directory only in the project with this id, as printed by `memdir where`.",
    ),
    key("mounts.journal", "path", "`MEMDIR_HOME/journal/…`", "Directory of the mount's journal, which must be outside all mounts."),
    key("chats", "table", "", "Settings for past conversations."),
    key("chats.on", "boolean", "`false`", "Imports past conversations with agents. Set by `memdir chats on` and `memdir chats off`."),
    key(
        "chats.hosts_off",
        "list of hosts",
        "none",
        "Hosts whose conversations are not imported: `claude-code`, `codex`, `gemini`, `opencode`, `openclaw`, `cursor`, `copilot-cli` or `folder` (conversations in `chats.folders`).",
    ),
    key("chats.projects_off", "list of paths", "none", "Directories whose conversations are not imported; applies to subdirectories too."),
    key(
        "chats.folders",
        "list of paths",
        "none",
        "Folders with other conversations: Markdown or text files with speaker names, or JSONL files with `role` and `content`.",
    ),
    key("chats.keep_days", WHOLE_NUMBER, "365", "Days to keep a conversation after its last message; 0 for no limit."),
    key(
        "chats.keep_bytes",
        WHOLE_NUMBER,
        "1073741824",
        "Maximum size of all conversations in bytes, above which the oldest are deleted; 0 for no limit.",
    ),
    key("hooks", "table", "", "Settings for memdir's hooks in agent programs."),
    key(
        "hooks.left_off",
        "boolean",
        "`true`",
        "Starts each conversation with a note on how the previous one in this project ended (at most 200 tokens). Requires `chats.on`; skipped if that conversation is older than 14 days.",
    ),
    key("hooks.remind", "boolean", "`false`", "Deprecated and without effect; replaced by `inbox.ask`."),
    key("inbox", "table", "", "Settings for the inbox of candidates: memories that memdir proposes from what happened in conversations."),
    key(
        "inbox.on",
        "boolean",
        "`true`",
        "Proposes memories from what happened in conversations, and keeps them in the inbox (`memdir inbox`).",
    ),
    key(
        "inbox.ask",
        "boolean",
        "`true`",
        "Asks the agent once per conversation, when it stops, to accept or reject the memories proposed from that conversation.",
    ),
    key(
        "inbox.without_chats",
        "boolean",
        "`true`",
        "While `chats.on` is `false`, still proposes memories of the kinds `remember` and `denied` from the current conversation, and keeps nothing else from it.",
    ),
    key(
        "inbox.remember",
        "`ask`, `list` or `off`",
        "`ask`",
        "Proposes memories from requests to remember something that the agent did not save. `ask` adds them to the inbox and asks the agent to decide; `list` only adds them.",
    ),
    key("inbox.denied", "`ask`, `list` or `off`", "`ask`", "Proposes memories from actions that you rejected or interrupted."),
    key("inbox.repeat", "`ask`, `list` or `off`", "`ask`", "Proposes memories from instructions that you typed in several conversations."),
    key(
        "inbox.scar",
        "`ask`, `list` or `off`",
        "`list`",
        "Proposes memories from commands that, in at least two conversations, failed and then worked when run differently, such as with another option.",
    ),
    key("inbox.reverted", "`ask`, `list` or `off`", "`list`", "Proposes memories from edits that were undone."),
    key(
        "inbox.violated",
        "`list` or `off`",
        "`list`",
        "Proposes a higher strength for a rule that was violated at least twice. Requires `count_use`.",
    ),
    key(
        "inbox.unused",
        "`list` or `off`",
        "`list`",
        "Proposes to remove a rule that has not fired in 90 days, after at least 10 conversations. Requires `count_use`.",
    ),
    key("search", "table", "", "Settings for searches."),
    key(
        "search.embedder",
        "`builtin`, `none`, `openai` or `ollama`",
        "`builtin`",
        "The embedding model: built-in, none, an OpenAI-compatible endpoint, or Ollama. Searches do not wait for a slow endpoint.",
    ),
    key("search.url", "string", "required for an endpoint", "URL of the endpoint, such as `http://localhost:11434`."),
    key("search.model", "string", "required for an endpoint", "Name of the model at the endpoint."),
    key("search.dimensions", WHOLE_NUMBER, "required for an endpoint", "Number of dimensions of the model's vectors."),
    key("search.key_file", "path", "none", "File with the API key of the endpoint."),
    key("search.query_prefix", "string", "none", "Text that the model expects before a query."),
    key("search.passage_prefix", "string", "none", "Text that the model expects before a passage."),
    key("dream", "table", "", "Settings for `memdir dream`."),
    key("dream.auto", "boolean", "`false`", "Makes a plan at the end of a session when one is due. Set by `memdir dream --auto`."),
    key("dream.hours", WHOLE_NUMBER, "24", "Minimum number of hours after the last plan before an automatic plan is due."),
    key("dream.sessions", WHOLE_NUMBER, "5", "Minimum number of sessions after the last plan before an automatic plan is due."),
    key("dream.minutes", WHOLE_NUMBER, "10", "Minimum number of minutes between attempts to make an automatic plan."),
    key(
        "dream.log_hours",
        WHOLE_NUMBER,
        "48",
        "Minimum number of hours after the last distillation of the daily logs before tools report that the next one is due.",
    ),
    key(
        "dream.log_sessions",
        WHOLE_NUMBER,
        "8",
        "Minimum number of sessions after the last distillation of the daily logs before tools report that the next one is due.",
    ),
    key("dream.model_seconds", WHOLE_NUMBER, "300", "Time limit for one run of `memdir dream --with`, in seconds."),
    key("dream.model_cost", "number", "1.0", "Cost limit for one run of `memdir dream --with`, in USD, if the program supports a limit."),
    key("memory", "table", "", "Settings for other files to read and search."),
    key(
        "memory.extraPaths",
        "list of paths",
        "none",
        "Files, directories and globs (`~/docs/**/*.md`) to read and search. Each becomes a read-only mount with the source `custom`, named after the file or directory; for a glob, after the last directory without wildcards.",
    ),
];
