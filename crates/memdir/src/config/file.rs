//! `config.toml`: its format, and the errors of invalid files.

use super::{inbox::InboxSetting, keys::KEYS, oauth::OAuthSetting, ranges};
use crate::exit::Failure;
use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::{
    Access, MemoryPath, Source,
    internal::{base::text, project::Worktrees},
};
use serde::Deserialize;
use std::{
    io,
    path::{Path, PathBuf},
};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// The contents of the file, with paths expanded.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConfigFile {
    /// Whether the file exists.
    pub(crate) found: bool,
    /// Whether memory is enabled.
    pub(crate) enabled: Option<bool>,
    /// Whether worktrees share one memory.
    pub(crate) worktrees: Worktrees,
    /// Whether projects have a team memory before its directory exists.
    pub(crate) team: bool,
    /// Whether new memories go to a daily log first.
    pub(crate) log: bool,
    /// Additional text for every prompt.
    pub(crate) guidelines: Option<String>,
    /// The `[secrets]` table.
    pub(crate) secrets: SecretsSetting,
    /// The bearer tokens of HTTP clients.
    pub(crate) tokens: Vec<TokenSetting>,
    /// The `[oauth]` table.
    pub(crate) oauth: Option<OAuthSetting>,
    /// Ids of projects with memory disabled.
    pub(crate) disabled_projects: Vec<String>,
    /// The `[hooks]` table.
    pub(crate) hooks: HooksSetting,
    /// Whether the use of memories is counted, unless that is the default.
    pub(crate) count_use: Option<bool>,
    /// The `[inbox]` table.
    pub(crate) inbox: InboxSetting,
    /// The `[[mounts]]`.
    pub(crate) mounts: Vec<MountSetting>,
    /// The `memory.extraPaths`, with globs unexpanded.
    pub(crate) extra_paths: Vec<PathBuf>,
    /// The `[chats]` table.
    pub(crate) chats: ChatsSetting,
    /// The `[search]` table.
    pub(crate) search: SearchSetting,
    /// The `[dream]` table.
    pub(crate) dream: DreamSetting,
    /// Messages about unknown keys.
    pub(crate) problems: Vec<String>,
}

/// The `[secrets]` table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct SecretsSetting {
    /// Patterns of values that are not secrets.
    pub(crate) allow: Vec<String>,
    /// Secret rules that are not applied.
    pub(crate) allow_rules: Vec<String>,
}

/// The `[hooks]` table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct HooksSetting {
    /// Whether a conversation begins with how the previous one ended.
    pub(crate) left_off: bool,
    /// Without effect; reported as a problem.
    remind: bool,
}

impl Default for HooksSetting {
    fn default() -> Self {
        HooksSetting { left_off: true, remind: false }
    }
}

/// The `[dream]` table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct DreamSetting {
    pub(crate) auto: bool,
    #[serde(deserialize_with = "ranges::count")]
    pub(crate) hours: i64,
    #[serde(deserialize_with = "ranges::count")]
    pub(crate) sessions: u64,
    #[serde(deserialize_with = "ranges::count")]
    pub(crate) minutes: i64,
    #[serde(deserialize_with = "ranges::count")]
    pub(crate) log_hours: i64,
    #[serde(deserialize_with = "ranges::count")]
    pub(crate) log_sessions: u64,
    #[serde(deserialize_with = "ranges::time_limit")]
    pub(crate) model_seconds: u64,
    #[serde(deserialize_with = "ranges::price")]
    pub(crate) model_cost: f64,
}

impl Default for DreamSetting {
    fn default() -> Self {
        // The two for logs are those of the agent-memory daemon.
        DreamSetting {
            auto: false,
            hours: 24,
            sessions: 5,
            minutes: 10,
            log_hours: 48,
            log_sessions: 8,
            model_seconds: 300,
            model_cost: 1.0,
        }
    }
}

/// The `[search]` table.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct SearchSetting {
    pub(crate) embedder: EmbedderSetting,
    pub(crate) url: String,
    pub(crate) model: String,
    pub(crate) dimensions: usize,
    pub(crate) key_file: Option<PathBuf>,
    pub(crate) query_prefix: String,
    pub(crate) passage_prefix: String,
}

/// The embedding model.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EmbedderSetting {
    /// The built-in model.
    #[default]
    Builtin,
    /// No model: lexical search only.
    None,
    /// An OpenAI-compatible endpoint.
    OpenAi,
    /// Ollama.
    Ollama,
}

#[derive(Debug, Default, Deserialize)]
struct RawSearch {
    embedder: Option<Spanned<EmbedderSetting>>,
    #[serde(default)]
    url: String,
    #[serde(default)]
    model: String,
    #[serde(default, deserialize_with = "ranges::dimensions")]
    dimensions: usize,
    key_file: Option<Spanned<String>>,
    #[serde(default)]
    query_prefix: String,
    #[serde(default)]
    passage_prefix: String,
}

/// One `[[mounts]]`.
#[derive(Debug, Clone)]
pub(crate) struct MountSetting {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) access: Access,
    pub(crate) source: Source,
    pub(crate) entrypoint: bool,
    pub(crate) follow_links: bool,
    pub(crate) link_roots: Vec<PathBuf>,
    pub(crate) hidden: bool,
    pub(crate) read_only: Vec<String>,
    pub(crate) ignored: Vec<String>,
    pub(crate) only: Vec<String>,
    pub(crate) project: Option<String>,
    pub(crate) journal: Option<PathBuf>,
}

/// The `[chats]` table.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ChatsSetting {
    pub(crate) settings: memdir_chats::ChatSettings,
    pub(crate) folders: Vec<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
struct RawChats {
    #[serde(default)]
    on: bool,
    #[serde(default)]
    hosts_off: Vec<&'static memdir_chats::Reader>,
    #[serde(default)]
    projects_off: Vec<Spanned<String>>,
    #[serde(default)]
    folders: Vec<Spanned<String>>,
    #[serde(default, deserialize_with = "ranges::optional_count")]
    keep_days: Option<i64>,
    keep_bytes: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct Raw {
    enabled: Option<bool>,
    #[serde(default)]
    worktrees: Worktrees,
    #[serde(default)]
    team: bool,
    #[serde(default)]
    log: bool,
    guidelines: Option<String>,
    #[serde(default)]
    secrets: SecretsSetting,
    count_use: Option<bool>,
    #[serde(default)]
    tokens: Vec<TokenSetting>,
    oauth: Option<OAuthSetting>,
    #[serde(default)]
    projects: Vec<RawProject>,
    #[serde(default)]
    chats: RawChats,
    #[serde(default)]
    hooks: HooksSetting,
    #[serde(default)]
    inbox: InboxSetting,
    #[serde(default)]
    mounts: Vec<RawMount>,
    #[serde(default)]
    memory: RawMemory,
    #[serde(default)]
    search: RawSearch,
    #[serde(default)]
    dream: DreamSetting,
}

/// The problem reported for `hooks.remind = true`.
const REMIND_IS_GONE: &str = "`hooks.remind` has no effect and can be removed; use `inbox.ask` instead";

/// One `[[tokens]]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct TokenSetting {
    pub(crate) person: String,
    pub(crate) agent: Option<String>,
    #[serde(default)]
    pub(crate) projects: Vec<String>,
    pub(crate) hash: String,
}

#[derive(Debug, Deserialize)]
struct RawProject {
    id: String,
    #[serde(default = "default_true")]
    enabled: bool,
}

fn default_true() -> bool {
    true
}

#[derive(Debug, Default, Deserialize)]
struct RawMemory {
    #[serde(default, rename = "extraPaths")]
    extra_paths: Vec<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
struct RawMount {
    name: Spanned<String>,
    path: Spanned<String>,
    access: Option<Access>,
    source: Option<Spanned<Source>>,
    entrypoint: Option<bool>,
    #[serde(default)]
    follow_links: bool,
    #[serde(default)]
    link_roots: Vec<Spanned<String>>,
    #[serde(default)]
    hidden: bool,
    #[serde(default)]
    read_only: Vec<String>,
    #[serde(default)]
    ignored: Vec<String>,
    #[serde(default)]
    only: Vec<String>,
    project: Option<String>,
    journal: Option<Spanned<String>>,
}

/// Expands a path of the file.
type Expand<'a> = dyn Fn(&str) -> Result<PathBuf, String> + 'a;

/// Reads the file if it exists.
pub(crate) fn load(path: &Path, expand: &Expand<'_>) -> Result<ConfigFile, Failure> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(ConfigFile::default()),
        Err(source) => return Err(Failure::File { doing: "read", path: path.to_owned(), source }),
    };
    parse(path, &text, expand)
}

/// Parses the text of the file.
pub(crate) fn parse(path: &Path, text: &str, expand: &Expand<'_>) -> Result<ConfigFile, Failure> {
    let file = FileText { path, text };
    let raw: Raw = toml::from_str(text).map_err(|e| file.fail(e.span().map_or(0, |span| span.start), e.message()))?;
    let table = DeTable::parse(text).map_err(|e| file.fail(e.span().map_or(0, |span| span.start), e.message()))?;
    let mut problems = Vec::new();
    report_unknown(&file, "", table.get_ref(), &mut problems);
    problems.shared_sort();
    if raw.hooks.remind {
        problems.push((usize::MAX, format!("{}: {REMIND_IS_GONE}", path.display())));
    }
    let mounts = raw.mounts.into_iter().map(|raw| mount(&file, raw, expand)).collect::<Result<_, _>>()?;
    let extra_paths = raw.memory.extra_paths.iter().map(|path| file.expanded(path, expand)).collect::<Result<_, _>>()?;
    let chats = chats(&file, raw.chats, expand)?;
    let search = search(&file, raw.search, expand)?;
    let oauth = raw.oauth.map(|oauth| oauth_paths(&file, oauth, expand)).transpose()?;
    let disabled = raw.projects.into_iter().filter(|project| !project.enabled).map(|project| project.id);
    Ok(ConfigFile {
        found: true,
        enabled: raw.enabled,
        worktrees: raw.worktrees,
        team: raw.team,
        log: raw.log,
        guidelines: raw.guidelines,
        secrets: raw.secrets,
        tokens: raw.tokens,
        oauth,
        disabled_projects: disabled.collect(),
        hooks: raw.hooks,
        count_use: raw.count_use,
        inbox: raw.inbox,
        mounts,
        extra_paths,
        chats,
        search,
        dream: raw.dream,
        problems: problems.into_iter().map(|(_, problem)| problem).collect(),
    })
}

fn chats(file: &FileText<'_>, raw: RawChats, expand: &Expand<'_>) -> Result<ChatsSetting, Failure> {
    let paths = |paths: &[Spanned<String>]| paths.iter().map(|path| file.expanded(path, expand)).collect::<Result<Vec<_>, _>>();
    let default = memdir_chats::Retention::default();
    let retention = memdir_chats::Retention { days: raw.keep_days.unwrap_or(default.days), bytes: raw.keep_bytes.unwrap_or(default.bytes) };
    Ok(ChatsSetting {
        folders: paths(&raw.folders)?,
        settings: memdir_chats::ChatSettings { on: raw.on, hosts_off: raw.hosts_off, projects_off: paths(&raw.projects_off)?, retention },
    })
}

/// Expands the path of the table.
fn oauth_paths(file: &FileText<'_>, raw: OAuthSetting, expand: &Expand<'_>) -> Result<OAuthSetting, Failure> {
    let expanded = raw.client_secret_file.as_ref().map(|path| expand(&path.to_string_lossy()));
    let client_secret_file = expanded.transpose().map_err(|why| {
        let at = file.text.find("client_secret_file").unwrap_or(0);
        file.fail(at, &format!("oauth.client_secret_file: {why}"))
    })?;
    Ok(OAuthSetting { client_secret_file, ..raw })
}

fn search(file: &FileText<'_>, raw: RawSearch, expand: &Expand<'_>) -> Result<SearchSetting, Failure> {
    let embedder = raw.embedder.as_ref().map(|embedder| *embedder.get_ref()).unwrap_or_default();
    let is_endpoint = matches!(embedder, EmbedderSetting::OpenAi | EmbedderSetting::Ollama);
    if is_endpoint && (raw.url.is_empty() || raw.model.is_empty() || raw.dimensions == 0) {
        let at = raw.embedder.map_or(0, |embedder| embedder.span().start);
        return Err(file.fail(at, "an endpoint requires `search.url`, `search.model` and `search.dimensions`"));
    }
    Ok(SearchSetting {
        embedder,
        url: raw.url,
        model: raw.model,
        dimensions: raw.dimensions,
        key_file: raw.key_file.map(|path| file.expanded(&path, expand)).transpose()?,
        query_prefix: raw.query_prefix,
        passage_prefix: raw.passage_prefix,
    })
}

fn mount(file: &FileText<'_>, raw: RawMount, expand: &Expand<'_>) -> Result<MountSetting, Failure> {
    let source = raw.source.as_ref().map_or(Source::Memory, |source| *source.get_ref());
    if matches!(source, Source::Chat | Source::Inbox) {
        return Err(file.fail(raw.source.map_or(0, |source| source.span().start), "mounts.source must be \"memory\" or \"custom\""));
    }
    let name = raw.name.get_ref();
    if !name.is_empty() {
        MemoryPath::parse(name).map_err(|e| file.fail(raw.name.span().start, &format!("invalid mount name {:?}: {}", e.name, e.why)))?;
    }
    Ok(MountSetting {
        name: name.clone(),
        path: file.expanded(&raw.path, expand)?,
        access: raw.access.unwrap_or(Access::ReadWrite),
        source,
        entrypoint: raw.entrypoint.unwrap_or(source == Source::Memory),
        follow_links: raw.follow_links,
        link_roots: raw.link_roots.iter().map(|root| file.expanded(root, expand)).collect::<Result<_, _>>()?,
        hidden: raw.hidden,
        read_only: raw.read_only,
        ignored: raw.ignored,
        only: raw.only,
        project: raw.project,
        journal: raw.journal.map(|journal| file.expanded(&journal, expand)).transpose()?,
    })
}

/// The text of the file, for error messages with line and column.
struct FileText<'a> {
    path: &'a Path,
    text: &'a str,
}

impl FileText<'_> {
    fn at(&self, byte: usize) -> String {
        let byte = text::floor_char_boundary(self.text, byte);
        let line = text::line_at(self.text, byte);
        let column = self.text[text::line_start(self.text, line)..byte].chars().count() + 1;
        format!("{}:{line}:{column}", self.path.display())
    }

    fn fail(&self, byte: usize, why: &str) -> Failure {
        Failure::Settings { message: format!("{}: {}", self.at(byte), why.trim()), hint: "fix the line with: memdir config edit".into() }
    }

    fn expanded(&self, path: &Spanned<String>, expand: &Expand<'_>) -> Result<PathBuf, Failure> {
        expand(path.get_ref()).map_err(|why| self.fail(path.span().start, &why))
    }
}

/// Reports unknown keys, each with the most similar known key.
fn report_unknown(file: &FileText<'_>, above: &str, table: &DeTable<'_>, problems: &mut Vec<(usize, String)>) {
    for (key, value) in table.iter() {
        let name = if above.is_empty() { key.get_ref().to_string() } else { format!("{above}.{}", key.get_ref()) };
        if !KEYS.iter().any(|known| known.name == name) {
            let beside = KEYS.iter().map(|known| known.name).filter(|known| known.rsplit_once('.').map_or("", |(above, _)| above) == above);
            let near = text::near(&name, beside, 1);
            let near = near.first().map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            let at = key.span().start;
            problems.push((at, format!("{}: unknown setting `{name}`{near}", file.at(at))));
            continue;
        }
        match value.get_ref() {
            DeValue::Table(table) => report_unknown(file, &name, table, problems),
            DeValue::Array(array) => {
                let tables = array.iter().filter_map(|value| value.get_ref().as_table());
                tables.for_each(|table| report_unknown(file, &name, table, problems));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<ConfigFile, String> {
        parse(Path::new("config.toml"), text, &|path| Ok(Path::new("/base").join(path))).map_err(|failure| failure.text().message)
    }

    #[test]
    fn every_key_is_read() {
        let text = r#"
            enabled = true
            worktrees = "separate"
            team = true
            log = true
            count_use = false
            guidelines = "Write French."
            secrets = { allow = ["^test"], allow_rules = ["jwt"] }
            memory.extraPaths = ["docs", "*.md"]
            [chats]
            on = true
            hosts_off = ["cursor"]
            projects_off = ["secret"]
            folders = ["exports"]
            keep_days = 30
            keep_bytes = 1000
            [hooks]
            left_off = false
            remind = true
            [inbox]
            on = false
            ask = false
            without_chats = false
            remember = "list"
            denied = "off"
            repeat = "list"
            scar = "ask"
            reverted = "off"
            violated = "off"
            unused = "off"
            [dream]
            auto = true
            hours = 12
            sessions = 3
            minutes = 5
            log_hours = 24
            log_sessions = 4
            model_seconds = 60
            model_cost = 0.5
            [search]
            embedder = "ollama"
            url = "http://localhost:11434"
            model = "nomic-embed-text"
            dimensions = 768
            key_file = "key"
            query_prefix = "search_query: "
            passage_prefix = "search_document: "
            [[mounts]]
            name = "notes"
            path = "notes"
            access = "read-only"
            source = "custom"
            entrypoint = true
            follow_links = true
            link_roots = ["out"]
            hidden = true
            read_only = ["fixed.*"]
            ignored = ["private/.*"]
            only = ["**/*.md"]
            project = "shop-1"
            journal = "journal"
            [[tokens]]
            person = "ada"
            agent = "reviewer"
            projects = ["shop"]
            hash = "0f"
            [[projects]]
            id = "shop-1"
            enabled = false
            [oauth]
            issuer = "https://login.example.org"
            resource = "https://memory.example.org"
            audiences = ["api://memory"]
            read_scope = "read"
            write_scope = "write"
            person_claim = "email"
            groups_claim = "teams"
            projects_claim = "repositories"
            tenant_claim = "org"
            tenant = "acme"
            client_id = "memdir-page"
            client_secret_file = "secret"
            [[oauth.groups]]
            name = "engineering"
            projects = ["shop"]
        "#;
        let config = parsed(text).unwrap();
        insta::assert_debug_snapshot!(config, @r#"
        ConfigFile {
            found: true,
            enabled: Some(
                true,
            ),
            worktrees: Separate,
            team: true,
            log: true,
            guidelines: Some(
                "Write French.",
            ),
            secrets: SecretsSetting {
                allow: [
                    "^test",
                ],
                allow_rules: [
                    "jwt",
                ],
            },
            tokens: [
                TokenSetting {
                    person: "ada",
                    agent: Some(
                        "reviewer",
                    ),
                    projects: [
                        "shop",
                    ],
                    hash: "0f",
                },
            ],
            oauth: Some(
                OAuthSetting {
                    issuer: "https://login.example.org",
                    resource: "https://memory.example.org",
                    audiences: [
                        "api://memory",
                    ],
                    read_scope: "read",
                    write_scope: "write",
                    person_claim: "email",
                    groups_claim: "teams",
                    projects_claim: Some(
                        "repositories",
                    ),
                    tenant_claim: Some(
                        "org",
                    ),
                    tenant: Some(
                        "acme",
                    ),
                    client_id: Some(
                        "memdir-page",
                    ),
                    client_secret_file: Some(
                        "/base/secret",
                    ),
                    groups: [
                        OAuthGroup {
                            name: "engineering",
                            projects: [
                                "shop",
                            ],
                        },
                    ],
                },
            ),
            disabled_projects: [
                "shop-1",
            ],
            hooks: HooksSetting {
                left_off: false,
                remind: true,
            },
            count_use: Some(
                false,
            ),
            inbox: InboxSetting {
                on: false,
                ask: false,
                without_chats: false,
                remember: List,
                denied: Off,
                repeat: List,
                scar: Ask,
                reverted: Off,
                violated: Off,
                unused: Off,
            },
            mounts: [
                MountSetting {
                    name: "notes",
                    path: "/base/notes",
                    access: ReadOnly,
                    source: Custom,
                    entrypoint: true,
                    follow_links: true,
                    link_roots: [
                        "/base/out",
                    ],
                    hidden: true,
                    read_only: [
                        "fixed.*",
                    ],
                    ignored: [
                        "private/.*",
                    ],
                    only: [
                        "**/*.md",
                    ],
                    project: Some(
                        "shop-1",
                    ),
                    journal: Some(
                        "/base/journal",
                    ),
                },
            ],
            extra_paths: [
                "/base/docs",
                "/base/*.md",
            ],
            chats: ChatsSetting {
                settings: ChatSettings {
                    on: true,
                    hosts_off: [
                        Reader(cursor),
                    ],
                    projects_off: [
                        "/base/secret",
                    ],
                    retention: Retention {
                        days: 30,
                        bytes: 1000,
                    },
                },
                folders: [
                    "/base/exports",
                ],
            },
            search: SearchSetting {
                embedder: Ollama,
                url: "http://localhost:11434",
                model: "nomic-embed-text",
                dimensions: 768,
                key_file: Some(
                    "/base/key",
                ),
                query_prefix: "search_query: ",
                passage_prefix: "search_document: ",
            },
            dream: DreamSetting {
                auto: true,
                hours: 12,
                sessions: 3,
                minutes: 5,
                log_hours: 24,
                log_sessions: 4,
                model_seconds: 60,
                model_cost: 0.5,
            },
            problems: [
                "config.toml: `hooks.remind` has no effect and can be removed; use `inbox.ask` instead",
            ],
        }
        "#);
        let named: Vec<&str> = KEYS.iter().map(|key| key.name.rsplit('.').next().unwrap()).collect();
        assert!(named.iter().all(|name| text.contains(name)), "this test names every key");
    }

    #[test]
    fn the_documented_defaults_are_those_of_the_code() {
        let with = |line: &str| {
            let text = format!("oauth.issuer = \"https://a.example\"\noauth.resource = \"https://b.example\"\n{line}\n");
            format!("{:#?}", parsed(&text).unwrap_or_else(|why| panic!("{line}: {why}")))
        };
        let mut compared = 0;
        // Without a value these two are `None`, because other sources decide as well.
        for key in KEYS.iter().filter(|key| !key.is_in_list() && !["enabled", "count_use"].contains(&key.name)) {
            let value = key.default.trim_matches('`');
            let is_literal = value.parse::<f64>().is_ok() || value.parse::<bool>().is_ok();
            if is_literal || (key.default.starts_with('`') && !value.contains(['`', ' '])) {
                let value = if is_literal { value.to_owned() } else { format!("{value:?}") };
                assert_eq!(with(&format!("{} = {value}", key.name)), with(""), "{}", key.name);
                compared += 1;
            }
        }
        assert!(compared >= 30, "{compared} settings have a default that this test can write");
    }

    #[test]
    fn unknown_keys_are_reported_with_the_nearest_one() {
        let text = "[[mounts]]\nname = \"a\"\npath = \"a\"\nacess = \"read-only\"\n[memroy]\n[memory]\nextra_paths = []\n";
        let problems = parsed(text).unwrap().problems;
        assert_eq!(
            problems,
            [
                "config.toml:4:1: unknown setting `mounts.acess`; did you mean `mounts.access`?",
                "config.toml:5:2: unknown setting `memroy`; did you mean `memory`?",
                "config.toml:7:1: unknown setting `memory.extra_paths`; did you mean `memory.extraPaths`?",
            ]
        );
    }

    #[test]
    fn an_invalid_file_is_an_error_with_line_and_column() {
        for (text, start) in [
            ("[[mounts]]\nname = \"a\npath = 1\n", "config.toml:2:"),
            ("[[mounts]]\nname = \"a\"\npath = 1\n", "config.toml:3:8: "),
            ("[[mounts]]\nname = \"../a\"\npath = \"a\"\n", "config.toml:2:8: invalid mount name \"../a\": "),
            ("[[mounts]]\nname = \"a\"\npath = \"a\"\naccess = \"rw\"\n", "config.toml:4:10: "),
            ("[[mounts]]\nname = \"a\"\npath = \"a\"\nsource = \"chat\"\n", "config.toml:4:10: "),
            ("[[mounts]]\nname = \"a\"\n", "config.toml:1:1: "),
        ] {
            let error = parsed(text).unwrap_err();
            assert!(error.starts_with(start), "{text}\n{error}");
        }
    }
}
