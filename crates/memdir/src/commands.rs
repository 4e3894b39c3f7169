//! The commands: one file each, and one table that maps a command to what it needs. A command receives its arguments, calls the
//! library and returns its output; it never prints.

mod admin;
mod adopt;
mod bench;
mod chats;
mod check;
mod check_diff;
mod complete;
mod completions;
mod config;
mod cues;
mod delete;
mod demo;
mod dialects;
mod diff;
mod doctor;
mod dream;
mod edit;
mod entrypoint;
mod export;
mod forget;
mod get;
mod help;
mod history;
mod hook;
mod import;
mod inbox;
mod index;
mod init;
mod install;
mod install_offers;
mod list;
mod log;
mod man;
mod mcp;
mod path;
mod projects;
pub(crate) mod prompt;
mod read;
mod recall;
mod rename;
mod replay;
mod restore;
mod resume;
mod review;
mod rules;
mod search;
mod serve;
mod stats;
mod status;
mod team_token;
mod test;
mod token;
mod ui;
mod undo;
mod uninstall;
mod use_stats;
mod verify;
mod view;
mod where_command;
mod write;

use crate::{
    args::{Args, Command, GlobalArgs, SearchEmbedder, stdin},
    config::Settings,
    exit::Failure,
    output::{CommandOutput, OutputOptions},
    project_records,
    scope::Scope,
    spaces,
};
use memdir_core::{
    Error, List, Memdir, MemoryPath, Version,
    internal::base::{
        limits,
        text::{self, counted},
    },
};
use std::collections::BTreeSet;

type Outcome = Result<CommandOutput, Failure>;

/// What a command needs, whether it writes, and how to run it.
struct Plan<'a> {
    needs: Needs<'a>,
    /// It writes files, so a file-size limit must not kill the process.
    writes: bool,
    /// `--project` selects conversations instead of the memory.
    project_is_filter: bool,
    /// `--dir` and `--project` may name a memory that does not exist.
    may_be_new: bool,
}

/// What a command needs, with the function that runs it.
enum Needs<'a> {
    /// Neither settings nor memories.
    Nothing(Box<dyn FnOnce() -> Outcome + 'a>),
    /// The settings and the scope they describe; it opens what else it needs.
    Settings(Box<dyn FnOnce(&Settings, &Scope) -> Outcome + 'a>),
    /// An open space.
    Space(Box<dyn FnOnce(&OpenSpace<'_>) -> Outcome + 'a>),
    /// An open space with its search index, and the embedder of the command line.
    Search(Option<SearchEmbedder>, Box<dyn FnOnce(&OpenSpace<'_>) -> Outcome + 'a>),
}

/// An open space, and what it was opened from.
struct OpenSpace<'a> {
    memdir: &'a Memdir,
    /// `None` in the scratch directory of `memdir demo`.
    origin: Option<(&'a Settings, &'a Scope)>,
}

/// The name of a mount in tables: its prefix, `(project)`, or `(root)` with `--dir`.
fn mount_label(prefix: &str, in_dir: bool) -> String {
    match (prefix, in_dir) {
        ("", false) => "(project)".to_owned(),
        ("", true) => "(root)".to_owned(),
        (prefix, _) => format!("{prefix}/"),
    }
}

/// The table of commands.
fn plan(args: &Args, output: OutputOptions) -> Plan<'_> {
    let global = &args.global;
    let Some(command) = &args.command else { return space(status::run) };
    match command {
        Command::Admin(args) if args.uses_indexes() => settings(move |settings, _| admin::reindex(args, settings)).writes().may_be_new(),
        Command::Admin(args) => without_space(move || admin::run(args, global)).writes(),
        Command::Adopt(args) => settings(move |settings, scope| adopt::run(args, global, settings, scope)).writes().may_be_new(),
        Command::Bench(args) => without_space(move || bench::run(args, global.dir.as_deref(), output)).writes(),
        Command::Chats(args) => settings(move |settings, scope| chats::run(args, global.project.as_deref(), settings, scope, output))
            .writes()
            .filters_projects(),
        Command::Check(args) => space(move |space| check::run(args, space)).writes_if(args.fix),
        Command::Complete(args) => without_space(move || Ok(complete::run(&args.words))),
        Command::Completions(args) => without_space(move || Ok(completions::run(args))),
        Command::Config(args) => match &args.what {
            None => settings(config::run).may_be_new(),
            Some(what) => without_space(move || config::change(what, global)).writes(),
        },
        Command::Cues(args) => space(move |space| cues::run(args, space)).writes(),
        Command::Delete(args) => space(move |space| delete::run(args, space.memdir, output)).writes(),
        Command::Demo(_) => without_space(move || demo::run(output)).writes(),
        Command::Dialects(_) => without_space(|| Ok(dialects::run())),
        Command::Diff(args) => space(move |space| diff::run(args, space.memdir)),
        Command::Doctor(args) => settings(move |settings, scope| doctor::run(args, settings, scope)).writes_if(args.fix).may_be_new(),
        Command::Dream(args) => space(move |space| dream::run(args, space, output)).writes(),
        Command::Edit(args) => space(move |space| edit::run(args, space)).writes(),
        Command::Entrypoint(args) => space(move |space| entrypoint::run(args, space.memdir)).writes_if(args.repair),
        Command::Export(args) => space(move |space| export::run(args, space.memdir, output)).writes(),
        Command::Forget(args) => settings(move |settings, scope| forget::run(args, settings, scope, output)).writes(),
        Command::Get(args) => space(move |space| get::run(args, space.memdir)),
        Command::Help(args) => without_space(move || Err(help::run(&args.command))),
        Command::History(args) => space(move |space| history::run(args, space.memdir)),
        Command::Hook(args) => without_space(move || Ok(hook::run(args, global))).writes(),
        Command::Import(args) => space(move |space| import::run(args, space.memdir, output)).writes(),
        Command::Inbox(args) => space(move |space| inbox::run(args, space, output)).writes(),
        Command::Index(args) => search(None, move |space| index::run(args, space.memdir, output)),
        Command::Init(args) => settings(move |settings, scope| init::run(args, settings, scope)).writes().may_be_new(),
        Command::Install(args) => {
            settings(move |settings, scope| install_offers::run(args, global, settings, scope, output)).writes().may_be_new()
        }
        Command::List(args) => space(move |space| list::run(args, space.memdir, output)),
        Command::Log(args) => space(move |space| log::run(args, space)).writes(),
        Command::Man(args) => without_space(move || man::run(args)).writes(),
        Command::Mcp(args) => settings(move |settings, scope| mcp::run(args, global, settings, scope)).writes().may_be_new(),
        Command::Path(args) => space(move |space| path::run(args, space.memdir)),
        Command::Projects(args) => settings(move |settings, scope| projects::run(args, settings, scope)).writes().may_be_new(),
        Command::Prompt(args) => settings(move |settings, scope| prompt::run(args, settings, scope)),
        Command::Read(args) => space(move |space| read::run(args, space.memdir)),
        Command::Recall(args) => settings(move |settings, scope| recall::run(args, settings, scope)),
        Command::Redo(args) => space(move |space| undo::redo(args, space)).writes(),
        Command::Rename(args) => space(move |space| rename::run(args, space.memdir)).writes(),
        Command::Replay(args) => settings(move |settings, scope| replay::run(args, settings, scope, output)),
        Command::Restore(args) => space(move |space| restore::run(args, space.memdir)).writes(),
        Command::Resume(args) => settings(move |settings, scope| resume::run(args, settings, scope)),
        Command::Rules(args) => settings(move |settings, scope| rules::run(args, settings, scope, output)).writes(),
        Command::Search(args) => search(args.embedder, move |space| search::run(args, space.memdir)),
        Command::Review(args) => without_space(move || review::run(args, output)),
        Command::Serve(args) => settings(move |settings, _| serve::run(args, settings)).writes().may_be_new(),
        Command::Stats(args) if args.loads => settings(stats::loads),
        Command::Stats(args) if args.cost => settings(stats::cost),
        Command::Stats(args) if args.uses => space(use_stats::run).writes(),
        Command::Stats(_) => search(None, stats::run),
        Command::Status(_) => space(status::run),
        Command::Test(_) => settings(test::run),
        Command::Token(args) => settings(move |settings, _| token::run(args, settings)).writes().may_be_new(),
        Command::Ui(args) => settings(move |settings, scope| ui::run(args, settings, scope, output)).writes(),
        Command::Undo(args) => space(move |space| undo::undo(args, space)).writes(),
        Command::Uninstall(args) => settings(move |settings, _| uninstall::run(args, settings)).writes().may_be_new(),
        Command::Verify(args) => space(move |space| verify::run(args, space)).writes(),
        Command::View(args) => space(move |space| view::run(args, space)).writes(),
        Command::Watch(_) => search(None, move |space| index::watch(space.memdir, output)),
        Command::Where(_) => settings(|settings, scope| Ok(where_command::run(settings, scope))).may_be_new(),
        Command::Write(args) => space(move |space| write::run(args, space.memdir)).writes(),
    }
}

/// Runs the command of the command line.
pub(crate) fn run(args: &Args, output: OutputOptions) -> Outcome {
    let plan = plan(args, output);
    if plan.writes {
        catch_size_limit_signal();
    }
    let project = args.global.project.clone().filter(|_| !plan.project_is_filter);
    let load = || -> Result<(Settings, Scope), Failure> {
        let settings = Settings::load(&GlobalArgs { project, ..args.global.clone() })?;
        if !plan.may_be_new {
            settings.check_dir()?;
        }
        let scope = Scope::resolve(&settings)?;
        if !plan.may_be_new {
            projects::check_typed(&settings, &scope)?;
        }
        Ok((settings, scope))
    };
    if let Needs::Nothing(run) = plan.needs {
        return run();
    }
    let (settings, scope) = load()?;
    let outcome = match plan.needs {
        Needs::Nothing(run) => run(),
        Needs::Settings(run) => run(&settings, &scope),
        Needs::Space(run) => in_scope(&settings, &scope, Ok, run),
        Needs::Search(embedder, run) => {
            let with_search = |memdir| spaces::with_search_once(memdir, &settings, embedder);
            in_scope(&settings, &scope, with_search, run)
        }
    };
    outcome.map_err(|failure| failure.in_memory(settings.typed_options()))
}

/// Opens the space of a scope, prepares it, and runs a command in it.
fn in_scope(
    settings: &Settings,
    scope: &Scope,
    prepare: impl FnOnce(Memdir) -> Result<Memdir, Failure>,
    run: Box<dyn FnOnce(&OpenSpace<'_>) -> Outcome + '_>,
) -> Outcome {
    let is_new = !settings.home.value.is_dir();
    let opened = spaces::open_lazy(settings, scope)?;
    let memdir = prepare(opened.memdir)?;
    // What an agent reads in a shell is a use, as in its tools; what a person reads is not.
    let memdir = if crate::config::agent_variable().is_some() { memdir.counting_use() } else { memdir };
    let outcome = run(&OpenSpace { memdir: &memdir, origin: Some((settings, scope)) });
    if is_new && settings.dir.is_none() {
        // The home did not exist when the space was opened, so the project could not be recorded then.
        project_records::note(&settings.home.value, &scope.project);
    }
    let mut notes = opened.notes;
    notes.extend(damage_note(memdir.store().damaged_records(), &settings.typed_options()));
    Ok(outcome?.with_notes(notes))
}

/// Describes what a command found in a damaged journal. `options` are those of the command line that select the memory.
fn damage_note(records: u64, options: &str) -> Option<String> {
    let skipped = counted(records, "damaged journal record", "damaged journal records");
    (records > 0).then(|| format!("skipped {skipped}; repair the journal with: memdir {options}doctor --fix"))
}

/// Runs a command in an open space that can be searched. Commands that need settings are not available there.
fn run_in(memdir: &Memdir, args: &Args, output: OutputOptions) -> Outcome {
    match plan(args, output).needs {
        Needs::Space(run) | Needs::Search(_, run) => run(&OpenSpace { memdir, origin: None }),
        Needs::Nothing(_) | Needs::Settings(_) => {
            Err(Failure::Usage { message: "this command is not available in the demo".into(), hint: "run the command in a shell".into() })
        }
    }
}

fn without_space<'a>(run: impl FnOnce() -> Outcome + 'a) -> Plan<'a> {
    Plan::new(Needs::Nothing(Box::new(run)))
}

fn settings<'a>(run: impl FnOnce(&Settings, &Scope) -> Outcome + 'a) -> Plan<'a> {
    Plan::new(Needs::Settings(Box::new(run)))
}

fn space<'a>(run: impl FnOnce(&OpenSpace<'_>) -> Outcome + 'a) -> Plan<'a> {
    Plan::new(Needs::Space(Box::new(run)))
}

fn search<'a>(embedder: Option<SearchEmbedder>, run: impl FnOnce(&OpenSpace<'_>) -> Outcome + 'a) -> Plan<'a> {
    Plan::new(Needs::Search(embedder, Box::new(run)))
}

impl<'a> Plan<'a> {
    fn new(needs: Needs<'a>) -> Plan<'a> {
        Plan { needs, writes: false, project_is_filter: false, may_be_new: false }
    }

    fn writes(self) -> Plan<'a> {
        self.writes_if(true)
    }

    fn writes_if(self, writes: bool) -> Plan<'a> {
        Plan { writes, ..self }
    }

    /// The command creates the memory, prints where it would be, or is configured once and not typed.
    fn may_be_new(self) -> Plan<'a> {
        Plan { may_be_new: true, ..self }
    }

    fn filters_projects(self) -> Plan<'a> {
        Plan { project_is_filter: true, ..self }
    }
}

/// Catches the signal of a file-size limit (`ulimit -f`), which kills the process by default. The write then fails with an
/// error, and the change is rolled back.
fn catch_size_limit_signal() {
    let seen = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    // If the signal cannot be caught, the limit still kills the process.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, seen);
}

/// The space without the secret rules of `--allow-secret`.
fn with_allow_list(memdir: &Memdir, rules: &[String]) -> Result<Memdir, Failure> {
    if rules.is_empty() {
        return Ok(memdir.clone());
    }
    let allow = memdir.context().allow.with_rules(rules).map_err(|why| Failure::Usage {
        message: format!("--allow-secret: {why}"),
        hint: "copy the rule name from the error that reported the secret".into(),
    })?;
    Ok(memdir.with_allow_list(allow))
}

/// Parses the name of a memory.
fn name(text: &str) -> Result<MemoryPath, Failure> {
    Ok(MemoryPath::parse(text)?)
}

/// The topic of a name that ends with `/`.
fn topic_of(text: &str) -> Option<&str> {
    text.ends_with('/').then(|| text.trim_end_matches('/'))
}

/// The memories of a topic. Fails if it has none, or if they cannot all be listed.
fn topic_memories(memdir: &Memdir, topic: &str) -> Result<Vec<MemoryPath>, Failure> {
    let listing = match topic {
        // A slash alone is more likely a mistake than the wish to change everything.
        "" => return Err(Error::explained_path("/", "the topic before `/` is empty; use a topic such as notes/").into()),
        topic => memdir.list(&List { topic: topic.into(), ..List::default() })?,
    };
    if listing.left_out > 0 {
        return Err(Failure::Usage {
            message: format!("topic \"{topic}/\" has too many memories; {} of them cannot be listed", listing.left_out),
            hint: "run the command on its subtopics one by one; nothing was changed".into(),
        });
    }
    if listing.memories.is_empty() {
        let all = memdir.list(&List::default())?.memories;
        let topics: BTreeSet<&str> = all.iter().filter_map(|memory| memory.path.parent()).collect();
        let hint = match text::near(topic, topics.into_iter(), 1).first() {
            Some(near) => format!("did you mean \"{near}/\"?"),
            None => "list the topics with: memdir list --tree".to_owned(),
        };
        return Err(Failure::Negative { code: "not_found", message: format!("topic \"{topic}/\" not found"), hint });
    }
    Ok(listing.memories.into_iter().map(|memory| memory.path).collect())
}

/// Resolves `--if-version`: a whole version, or the prefix of a current or earlier version of the memory.
fn expected(memdir: &Memdir, path: &MemoryPath, text: Option<&str>) -> Result<Option<Version>, Failure> {
    let Some(text) = text else { return Ok(None) };
    if let Ok(version) = text.parse() {
        return Ok(Some(version));
    }
    if let Some(stored) = memdir.store().get(path)?
        && stored.version.starts_with(text)
    {
        return Ok(Some(stored.version));
    }
    Ok(Some(memdir_core::internal::operations::diff::resolve_version(memdir.store(), path, text)?))
}

/// Reads a file of the command line, which may have at most `limit` bytes; `-` is standard input.
fn input(path: &std::path::Path, limit: u64) -> Result<Vec<u8>, Failure> {
    if stdin::is_stdin(path) {
        return stdin::read(limit);
    }
    let file = std::fs::File::open(path).map_err(|source| Failure::File { doing: "read", path: path.to_owned(), source })?;
    stdin::read_all(file, path, limit)
}

/// Reads a file of the command line as UTF-8.
fn input_text(path: &std::path::Path) -> Result<String, Failure> {
    to_text(path, input(path, limits::READ_FILE_BYTES)?)
}

fn to_text(path: &std::path::Path, bytes: Vec<u8>) -> Result<String, Failure> {
    let name = if stdin::is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() };
    String::from_utf8(bytes).map_err(|_| Failure::from(Error::bad_input(name, "it is not valid UTF-8")))
}
