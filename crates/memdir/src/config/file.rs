//! `config.toml`: what it may hold, and what is said when it holds something else.

use super::keys::KEYS;
use crate::exit::Failure;
use memdir_chats;
use memdir_core::{
    base::{path::MemoryPath, text},
    project::Worktrees,
    store::{Access, Source},
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

/// The file, read and with its paths expanded.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    /// Whether there is a file.
    pub(crate) found: bool,
    /// Whether there is a memory at all.
    pub(crate) enabled: Option<bool>,
    /// Whether worktrees share one memory.
    pub(crate) worktrees: Worktrees,
    /// Whether there is a team memory before its directory exists.
    pub(crate) team: bool,
    /// Whether memories are first written as a log.
    pub(crate) log: bool,
    /// What every prompt says besides.
    pub(crate) guidelines: Option<String>,
    /// Values that may be written.
    pub(crate) allow: Vec<String>,
    /// Rules that are not applied.
    pub(crate) allow_rules: Vec<String>,
    /// Who may call over HTTP.
    pub(crate) tokens: Vec<TokenSetting>,
    /// Projects without a memory.
    pub(crate) disabled_projects: Vec<String>,
    /// Whether hooks remind a conversation of saving what was learned.
    pub(crate) remind: bool,
    /// Its mounts.
    pub(crate) mounts: Vec<MountSetting>,
    /// Its `memory.extraPaths`; globs are still in them.
    pub(crate) extra_paths: Vec<PathBuf>,
    /// Its `[chats]`.
    pub(crate) chats: ChatsSetting,
    /// Its `[search]`.
    pub(crate) search: SearchSetting,
    /// Keys nobody knows.
    pub(crate) problems: Vec<String>,
}

/// What is decided about searches.
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

/// Who understands meaning.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EmbedderSetting {
    /// The model that is part of memdir.
    #[default]
    Builtin,
    /// Nobody.
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
    #[serde(default)]
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

/// What is decided about past conversations.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ChatsSetting {
    pub(crate) settings: memdir_chats::sync::Settings,
    pub(crate) folders: Vec<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
struct RawChats {
    #[serde(default)]
    on: bool,
    #[serde(default)]
    hosts_off: Vec<memdir_chats::Host>,
    #[serde(default)]
    projects_off: Vec<Spanned<String>>,
    #[serde(default)]
    folders: Vec<Spanned<String>>,
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
    secrets: RawSecrets,
    #[serde(default)]
    tokens: Vec<TokenSetting>,
    #[serde(default)]
    projects: Vec<RawProject>,
    #[serde(default)]
    chats: RawChats,
    #[serde(default)]
    hooks: RawHooks,
    #[serde(default)]
    mounts: Vec<RawMount>,
    #[serde(default)]
    memory: RawMemory,
    #[serde(default)]
    search: RawSearch,
}

#[derive(Debug, Default, Deserialize)]
struct RawHooks {
    #[serde(default)]
    remind: bool,
}

#[derive(Debug, Default, Deserialize)]
struct RawSecrets {
    #[serde(default)]
    allow: Vec<String>,
    #[serde(default)]
    allow_rules: Vec<String>,
}

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
    #[serde(default = "yes")]
    enabled: bool,
}

fn yes() -> bool {
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

/// How a path in the file becomes one on disk.
type Expand<'a> = dyn Fn(&str) -> Result<PathBuf, String> + 'a;

/// Reads the file, if there is one.
pub(crate) fn load(path: &Path, expand: &Expand<'_>) -> Result<Settled, Failure> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(Settled::default()),
        Err(source) => return Err(Failure::File { doing: "read the settings in", path: path.to_owned(), source }),
    };
    read(path, &text, expand)
}

/// Reads such a text.
pub(crate) fn read(path: &Path, text: &str, expand: &Expand<'_>) -> Result<Settled, Failure> {
    let place = Place { path, text };
    let raw: Raw = toml::from_str(text).map_err(|e| place.fail(e.span().map_or(0, |span| span.start), e.message()))?;
    let table = DeTable::parse(text).map_err(|e| place.fail(e.span().map_or(0, |span| span.start), e.message()))?;
    let mut problems = Vec::new();
    unknown(&place, "", table.get_ref(), &mut problems);
    problems.sort();
    let mounts = raw.mounts.into_iter().map(|mount| settle(&place, mount, expand)).collect::<Result<_, _>>()?;
    let extra_paths = raw.memory.extra_paths.iter().map(|path| place.expanded(path, expand)).collect::<Result<_, _>>()?;
    let chats = chats_of(&place, raw.chats, expand)?;
    let search = search_of(&place, raw.search, expand)?;
    let disabled = raw.projects.into_iter().filter(|project| !project.enabled).map(|project| project.id);
    Ok(Settled {
        found: true,
        enabled: raw.enabled,
        worktrees: raw.worktrees,
        team: raw.team,
        log: raw.log,
        guidelines: raw.guidelines,
        allow: raw.secrets.allow,
        allow_rules: raw.secrets.allow_rules,
        tokens: raw.tokens,
        disabled_projects: disabled.collect(),
        remind: raw.hooks.remind,
        mounts,
        extra_paths,
        chats,
        search,
        problems: problems.into_iter().map(|(_, problem)| problem).collect(),
    })
}

fn chats_of(place: &Place<'_>, raw: RawChats, expand: &Expand<'_>) -> Result<ChatsSetting, Failure> {
    let paths = |paths: &[Spanned<String>]| paths.iter().map(|path| place.expanded(path, expand)).collect::<Result<Vec<_>, _>>();
    let usual = memdir_chats::forget::Retention::default();
    let retention =
        memdir_chats::forget::Retention { days: raw.keep_days.unwrap_or(usual.days), bytes: raw.keep_bytes.unwrap_or(usual.bytes) };
    Ok(ChatsSetting {
        folders: paths(&raw.folders)?,
        settings: memdir_chats::sync::Settings { on: raw.on, hosts_off: raw.hosts_off, projects_off: paths(&raw.projects_off)?, retention },
    })
}

fn search_of(place: &Place<'_>, raw: RawSearch, expand: &Expand<'_>) -> Result<SearchSetting, Failure> {
    let embedder = raw.embedder.as_ref().map(|embedder| *embedder.get_ref()).unwrap_or_default();
    let is_endpoint = matches!(embedder, EmbedderSetting::OpenAi | EmbedderSetting::Ollama);
    if is_endpoint && (raw.url.is_empty() || raw.model.is_empty() || raw.dimensions == 0) {
        let at = raw.embedder.map_or(0, |embedder| embedder.span().start);
        return Err(place.fail(at, "this embedder needs search.url, search.model and search.dimensions"));
    }
    Ok(SearchSetting {
        embedder,
        url: raw.url,
        model: raw.model,
        dimensions: raw.dimensions,
        key_file: raw.key_file.map(|file| place.expanded(&file, expand)).transpose()?,
        query_prefix: raw.query_prefix,
        passage_prefix: raw.passage_prefix,
    })
}

fn settle(place: &Place<'_>, raw: RawMount, expand: &Expand<'_>) -> Result<MountSetting, Failure> {
    let source = raw.source.as_ref().map_or(Source::Memory, |source| *source.get_ref());
    if source == Source::Chat {
        return Err(place.fail(raw.source.map_or(0, |source| source.span().start), "a mount's source is \"memory\" or \"custom\""));
    }
    let name = raw.name.get_ref();
    if !name.is_empty() {
        MemoryPath::parse(name).map_err(|e| place.fail(raw.name.span().start, &format!("mounts.name: {e}")))?;
    }
    Ok(MountSetting {
        name: name.clone(),
        path: place.expanded(&raw.path, expand)?,
        access: raw.access.unwrap_or(Access::ReadWrite),
        source,
        entrypoint: raw.entrypoint.unwrap_or(source == Source::Memory),
        follow_links: raw.follow_links,
        link_roots: raw.link_roots.iter().map(|root| place.expanded(root, expand)).collect::<Result<_, _>>()?,
        hidden: raw.hidden,
        read_only: raw.read_only,
        ignored: raw.ignored,
        only: raw.only,
        project: raw.project,
        journal: raw.journal.map(|journal| place.expanded(&journal, expand)).transpose()?,
    })
}

/// Where something stands in the file.
struct Place<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Place<'_> {
    fn at(&self, byte: usize) -> String {
        let byte = text::char_floor(self.text, byte);
        let line = text::line_at(self.text, byte);
        let column = self.text[text::line_start(self.text, line)..byte].chars().count() + 1;
        format!("{}:{line}:{column}", self.path.display())
    }

    fn fail(&self, byte: usize, why: &str) -> Failure {
        Failure::Settings {
            message: format!("{}: {}", self.at(byte), why.trim()),
            hint: "Mend that line, or move the file away to go on without it; docs/config.md lists the keys.".into(),
        }
    }

    fn expanded(&self, path: &Spanned<String>, expand: &Expand<'_>) -> Result<PathBuf, Failure> {
        expand(path.get_ref()).map_err(|why| self.fail(path.span().start, &why))
    }
}

/// Reports keys that are not in the table, with the nearest that is.
fn unknown(place: &Place<'_>, above: &str, table: &DeTable<'_>, problems: &mut Vec<(usize, String)>) {
    for (key, value) in table.iter() {
        let name = if above.is_empty() { key.get_ref().to_string() } else { format!("{above}.{}", key.get_ref()) };
        if !KEYS.iter().any(|known| known.name == name) {
            let beside = KEYS.iter().map(|known| known.name).filter(|known| known.rsplit_once('.').map_or("", |(above, _)| above) == above);
            let near = text::near(&name, beside, 1);
            let near = near.first().map_or(String::new(), |near| format!("; did you mean {near}?"));
            let at = key.span().start;
            problems.push((at, format!("{}: {name} is not a setting{near}", place.at(at))));
            continue;
        }
        match value.get_ref() {
            DeValue::Table(table) => unknown(place, &name, table, problems),
            DeValue::Array(array) => {
                let tables = array.iter().filter_map(|value| value.get_ref().as_table());
                tables.for_each(|table| unknown(place, &name, table, problems));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(text: &str) -> Result<Settled, String> {
        read(Path::new("config.toml"), text, &|path| Ok(Path::new("/base").join(path))).map_err(|failure| failure.words().message)
    }

    #[test]
    fn every_key_is_read() {
        let text = r#"
            enabled = true
            worktrees = "separate"
            team = true
            log = true
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
            remind = true
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
        "#;
        let settled = settled(text).unwrap();
        insta::assert_debug_snapshot!(settled, @r#"
        Settled {
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
            allow: [
                "^test",
            ],
            allow_rules: [
                "jwt",
            ],
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
            disabled_projects: [
                "shop-1",
            ],
            remind: true,
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
                settings: Settings {
                    on: true,
                    hosts_off: [
                        Cursor,
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
            problems: [],
        }
        "#);
        let named: Vec<&str> = KEYS.iter().map(|key| key.name.rsplit('.').next().unwrap()).collect();
        assert!(named.iter().all(|name| text.contains(name)), "this test names every key");
    }

    #[test]
    fn unknown_keys_are_reported_with_the_nearest_one() {
        let text = "[[mounts]]\nname = \"a\"\npath = \"a\"\nacess = \"read-only\"\n[memroy]\n[memory]\nextra_paths = []\n";
        let problems = settled(text).unwrap().problems;
        assert_eq!(
            problems,
            [
                "config.toml:4:1: mounts.acess is not a setting; did you mean mounts.access?",
                "config.toml:5:2: memroy is not a setting; did you mean memory?",
                "config.toml:7:1: memory.extra_paths is not a setting; did you mean memory.extraPaths?",
            ]
        );
    }

    #[test]
    fn a_bad_file_is_an_error_with_its_place() {
        for (text, start) in [
            ("[[mounts]]\nname = \"a\npath = 1\n", "config.toml:2:"),
            ("[[mounts]]\nname = \"a\"\npath = 1\n", "config.toml:3:8: "),
            ("[[mounts]]\nname = \"../a\"\npath = \"a\"\n", "config.toml:2:8: mounts.name: "),
            ("[[mounts]]\nname = \"a\"\npath = \"a\"\naccess = \"rw\"\n", "config.toml:4:10: "),
            ("[[mounts]]\nname = \"a\"\npath = \"a\"\nsource = \"chat\"\n", "config.toml:4:10: "),
            ("[[mounts]]\nname = \"a\"\n", "config.toml:1:1: "),
        ] {
            let error = settled(text).unwrap_err();
            assert!(error.starts_with(start), "{text}\n{error}");
        }
    }
}
