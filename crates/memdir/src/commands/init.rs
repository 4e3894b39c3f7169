//! `memdir init`: creates a memory directory with an entrypoint, for one person or for a team.

use crate::{
    args::InitArgs,
    config::Settings,
    exit::Failure,
    mounts,
    output::{CommandOutput, Printer},
    scope::Scope,
};
use memdir_core::{
    Access, Actor, EntrypointMode, FileStore, Memdir, MemoryPath, Mount, Write,
    internal::{
        base::shell,
        store::{
            mount::real_path,
            mounts::{ENTRYPOINT_FILE as MAIN, FALLBACK_ENTRYPOINT_FILE as FALLBACK, PAGE_GLOB},
            space::Places,
        },
    },
};
use serde::Serialize;
use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

/// The text of a new entrypoint.
const ENTRYPOINT: &str = "# Memory\n";

#[derive(Serialize)]
struct Initialized {
    root: PathBuf,
    prefix: String,
    /// The files and directories that did not exist before.
    created: Vec<String>,
    /// The directory to commit if it is in a repository, as git finds it from the current directory.
    #[serde(skip)]
    committed: Option<String>,
    /// The options that select this memory, for the next command.
    #[serde(skip)]
    options: String,
}

pub(crate) fn run(args: &InitArgs, settings: &Settings, scope: &Scope) -> Result<CommandOutput, Failure> {
    scope.must_be_on()?;
    let (mut mounts, notes) = (scope.mounts_only(), scope.notes.clone());
    if args.team {
        mounts = vec![team_mount(settings, scope)?];
    }
    // A part cannot have the entrypoint of the whole. The team memory is created as a whole.
    let mount = mounts.into_iter().find(|mount| mount.prefix.is_empty() && (args.team || settings.only.is_empty()));
    let mount = mount.ok_or_else(|| Failure::Usage {
        message: "cannot initialize: only parts of the memory are selected".into(),
        hint: "omit --only".into(),
    })?;
    let (root, existed) = (mount.root.clone(), mount.root.is_dir());
    let vault = FileStore::open(&[mount])?;
    let mut notes = notes;
    notes.extend(vault.problems().into_iter().map(|trouble| trouble.what));
    let memdir = Memdir::new(Arc::new(vault), Actor { name: settings.actor.value.clone(), session: None });
    let mut created = Vec::new();
    if !existed {
        created.push(".".to_owned());
    }
    if memdir.entrypoint("")?.path.is_none() {
        memdir.write(&Write::create(MemoryPath::parse(MAIN)?, ENTRYPOINT))?;
        created.push(MAIN.to_owned());
    }
    if args.team && settings.dir.is_none() && create_attributes(&root)? {
        created.push(".gitattributes".to_owned());
    }
    debug_assert!(root.join(MAIN).exists() || root.join(FALLBACK).exists());
    let prefix = if args.team { "team" } else { "" };
    let committed = (args.team && settings.dir.is_none()).then(|| {
        let is_top = real_path(&settings.cwd) == real_path(&scope.project.checkout);
        if is_top { ".memdir".to_owned() } else { shell::quote_posix(&root.display().to_string()) }
    });
    let initialized = Initialized { root, prefix: prefix.into(), created, committed, options: settings.typed_options() };
    Ok(CommandOutput::new(initialized, show).with_notes(notes))
}

/// The mount of the team memory: in the directory of `--dir`, else in the repository.
fn team_mount(settings: &Settings, scope: &Scope) -> Result<Mount, Failure> {
    let refused = |message| {
        let is_outside_git = settings.dir.is_none() && scope.project.git.is_none();
        let hint = if is_outside_git { "run the command in a git repository, or omit --team" } else { "omit --team" };
        Failure::Usage { message, hint: hint.into() }
    };
    let Some(dir) = &settings.dir else {
        return match scope.why_no_team(&settings.home.value) {
            Some(message) => Err(refused(message)),
            None => {
                let mount = settings.places().team_mount(Places::team(&scope.project.checkout));
                Ok(Mount { prefix: String::new(), ..mount })
            }
        };
    };
    let root = dir.value.join("team");
    if root.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
        return Err(refused(mounts::not_a_directory(&root)));
    }
    let configured = mounts::all_configured(settings);
    let whole = mounts::one_directory(settings, &dir.value, &configured);
    if let Some(why) = why_no_team_below(&whole) {
        return Err(refused(format!("{} cannot have a team memory: {why}", dir.value.display())));
    }
    Ok(mounts::one_directory(settings, &root, &configured))
}

/// Why a directory cannot have a team memory, by its settings.
fn why_no_team_below(mount: &Mount) -> Option<&'static str> {
    if mount.access != Access::ReadWrite {
        Some("it is read-only")
    } else if !mount.only.is_empty() {
        Some("only some of its files are used as memories")
    } else if mount.entrypoint != EntrypointMode::Kept {
        Some("memdir does not maintain its MEMORY.md")
    } else {
        None
    }
}

/// Creates `.gitattributes`, which makes git keep the entrypoint lines of both sides of a merge; returns false if it exists.
fn create_attributes(root: &Path) -> Result<bool, Failure> {
    let path = root.join(".gitattributes");
    let created = std::fs::File::create_new(&path).and_then(|mut file| writeln!(file, "{MAIN} merge=union\n{PAGE_GLOB} merge=union"));
    match created {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(source) => Err(Failure::File { doing: "write", path, source }),
    }
}

fn show(initialized: &Initialized, printer: &mut Printer<'_>) -> io::Result<()> {
    let root = printer.strong(&initialized.root.display().to_string());
    if initialized.created.is_empty() {
        printer.line(format!("already initialized: {root}"))?;
    } else if initialized.created.iter().any(|name| name == ".") {
        printer.line(format!("created {root} with {MAIN}"))?;
    } else {
        printer.line(format!("created {} in {root}", initialized.created.join(" and ")))?;
    }
    let options = &initialized.options;
    match (initialized.prefix.as_str(), &initialized.committed) {
        ("", _) => printer.line(format!("next: memdir {options}write NAME TEXT")),
        (prefix, None) => printer.line(format!("next: memdir {options}write {prefix}/NAME TEXT")),
        (prefix, Some(dir)) => printer.line(format!("next: memdir {options}write {prefix}/NAME TEXT; share it with: git add {dir}")),
    }
}
