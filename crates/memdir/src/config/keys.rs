//! The settings file's keys, with what they mean: the source of its documentation and of the names suggested for a
//! misspelt one.

/// One key of `config.toml`.
#[cfg_attr(not(test), expect(dead_code, reason = "all but the names is read by the test that writes docs/config.md"))]
pub(crate) struct Key {
    /// Its full name, with dots.
    pub(crate) name: &'static str,
    /// What it holds.
    pub(crate) kind: &'static str,
    /// What holds without it.
    pub(crate) default: &'static str,
    /// What it does.
    pub(crate) doc: &'static str,
}

const fn key(name: &'static str, kind: &'static str, default: &'static str, doc: &'static str) -> Key {
    Key { name, kind, default, doc }
}

/// Every key.
pub(crate) const KEYS: &[Key] = &[
    key("enabled", "boolean", "`true`", "Whether there is a memory at all. `MEMDIR_DISABLE` comes before it: `1` switches off, `0` on."),
    key("worktrees", "`shared` or `separate`", "`shared`", "Whether the worktrees of one git repository have one memory or one each."),
    key("team", "boolean", "`false`", "Whether a project has a team memory (`.memdir/` in its repository) before that directory exists."),
    key(
        "log",
        "boolean",
        "`false`",
        "Whether memories are first written as a log of the day; `memdir prompt` then asks for that, and a hook notes there when a conversation is compacted.",
    ),
    key(
        "guidelines",
        "string",
        "none",
        "What every prompt says besides. `MEMDIR_EXTRA_GUIDELINES` and `CLAUDE_COWORK_MEMORY_EXTRA_GUIDELINES` are added to it.",
    ),
    key("secrets", "table", "", "What is no secret, though it looks like one."),
    key("secrets.allow", "list of regular expressions", "none", "Values that may be written."),
    key("secrets.allow_rules", "list of strings", "none", "Rules that are not applied, by the name a refusal gives."),
    key("tokens", "list of tables", "none", "Who may call over HTTP, one `[[tokens]]` each; `memdir token` writes them."),
    key("tokens.person", "string", "required", "The person, whose `user/` memories are theirs alone."),
    key("tokens.agent", "string", "none", "The agent that acts for them, whose `agent/` memories are open too."),
    key("tokens.projects", "list of strings", "none", "The projects they belong to, whose memories they share."),
    key("tokens.hash", "string", "required", "The hash of the token. The token itself is kept nowhere."),
    key("projects", "list of tables", "none", "Settings of single projects, one `[[projects]]` each."),
    key("projects.id", "string", "required", "The project, as `memdir where` names it."),
    key("projects.enabled", "boolean", "`true`", "Whether this project has a memory."),
    key(
        "mounts",
        "list of tables",
        "none",
        "Directories of memories beside the project's own, one `[[mounts]]` each. They must not lie inside one another.",
    ),
    key(
        "mounts.name",
        "string",
        "required",
        "What the names of its memories begin with: `notes` makes `notes/deploy`. `user` and the empty name replace the built-in mounts.",
    ),
    key(
        "mounts.path",
        "path",
        "required",
        "The directory. One that covers your home is refused, unless `only` says which files of it exist.",
    ),
    key(
        "mounts.access",
        "`read-write` or `read-only`",
        "`read-write`",
        "Whether memdir may change it. A directory it may change is made if it is missing.",
    ),
    key("mounts.source", "`memory` or `custom`", "`memory`", "Its class in searches: curated memories, or other documents."),
    key(
        "mounts.entrypoint",
        "boolean",
        "`true` for `memory`",
        "Whether memdir keeps a `MEMORY.md` there. Without it nothing but the memories themselves ever appears in the directory.",
    ),
    key("mounts.follow_links", "boolean", "`false`", "Whether symbolic links that stay inside the directory are followed."),
    key("mounts.link_roots", "list of paths", "none", "Directories outside into which symbolic links may lead."),
    key("mounts.hidden", "boolean", "`false`", "Whether hidden directories are entered."),
    key(
        "mounts.read_only",
        "list of regular expressions",
        "none",
        "Names that may not be changed; each expression must match the whole name.",
    ),
    key(
        "mounts.ignored",
        "list of regular expressions",
        "none",
        "Names that do not exist for anybody; each expression must match the whole name.",
    ),
    key(
        "mounts.only",
        "list of globs",
        "all",
        "Files that exist; all others do not, for anybody. `memory/**/*.md` is everything below a folder.",
    ),
    key("mounts.project", "string", "every project", "The id of the one project in which it is mounted; `memdir where` tells a project's."),
    key("mounts.journal", "path", "`MEMDIR_HOME/journal/…`", "Where the record of changes is kept, outside of every mount."),
    key("chats", "table", "", "Settings of past conversations."),
    key(
        "chats.on",
        "boolean",
        "`false`",
        "Whether past conversations with agents are taken in. `memdir chats on` and `memdir chats off` set it; nothing is read before.",
    ),
    key(
        "chats.hosts_off",
        "list of hosts",
        "none",
        "Hosts whose conversations are left alone: `claude-code`, `codex`, `gemini`, `opencode`, `openclaw`, `cursor`.",
    ),
    key("chats.projects_off", "list of paths", "none", "Directories; conversations held in them or below are left alone."),
    key(
        "chats.folders",
        "list of paths",
        "none",
        "Folders with conversations of any origin: Markdown and text with speakers, JSONL with `role` and `content`.",
    ),
    key("chats.keep_days", "number", "365", "Days a conversation is kept after its last turn; 0 for ever."),
    key("chats.keep_bytes", "number", "1073741824", "Bytes of all kept conversations, beyond which the oldest go; 0 for any number."),
    key("hooks", "table", "", "Settings of what hosts call."),
    key(
        "hooks.remind",
        "boolean",
        "`false`",
        "Whether the end of an answer reminds the agent, once in a conversation, of saving what was learned.",
    ),
    key("search", "table", "", "Settings of searches."),
    key(
        "search.embedder",
        "`builtin`, `none`, `openai` or `ollama`",
        "`builtin`",
        "Who understands meaning: the model that is part of memdir, nobody, an OpenAI-compatible endpoint, or Ollama. A slow one is never waited for.",
    ),
    key("search.url", "string", "required for an endpoint", "Its address: `http://localhost:11434`."),
    key("search.model", "string", "required for an endpoint", "The model's name there."),
    key("search.dimensions", "number", "required for an endpoint", "How many numbers its vectors have."),
    key("search.key_file", "path", "none", "A file with the key that is sent to it."),
    key("search.query_prefix", "string", "none", "What the model wants before a query."),
    key("search.passage_prefix", "string", "none", "What the model wants before a passage."),
    key("memory", "table", "", "Settings of the memory as a whole."),
    key(
        "memory.extraPaths",
        "list of paths",
        "none",
        "Files, directories and globs (`~/docs/**/*.md`) that can be read and searched, each short for a read-only mount of class `custom` named after its last part.",
    ),
];
