//! `memdir init`: a directory of memories with its entrypoint, for one person or for a team.

use crate::{
    args::Init as Typed,
    config::Settings,
    exit::Failure,
    output::{Answer, Page},
    scope::Scope,
    wire,
};
use memdir_core::{
    base::path::MemoryPath,
    memdir::Memdir,
    operations::write::Write,
    store::{
        Access, Actor, Entrypoint,
        files::{Mount, Vault},
        mounts::{ENTRYPOINT_FILE as MAIN, FALLBACK_ENTRYPOINT_FILE as FALLBACK},
        space::Places,
    },
};
use serde::Serialize;
use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

/// What a new entrypoint says to whoever opens it.
const FIRST_LINES: &str = "# Memory\n";
/// Two people's lines are both kept when their branches meet.
const ATTRIBUTES: &str = "MEMORY.md merge=union\nMEMORY.page-*.md merge=union\n";

#[derive(Serialize)]
struct Made {
    root: PathBuf,
    prefix: String,
    /// What was not there before.
    created: Vec<String>,
    /// Whether it is in a repository, to be committed.
    #[serde(skip)]
    committed: bool,
}

pub(crate) fn run(args: &Typed, settings: &Settings, scope: &Scope) -> Result<Answer, Failure> {
    scope.must_be_on()?;
    super::survive_size_limit();
    let (mut mounts, notes) = (scope.plain_mounts(), scope.notes.clone());
    if args.team {
        mounts = vec![team_mount(settings, scope)?];
    }
    let mount = mounts.into_iter().find(|mount| mount.prefix.is_empty());
    let mount = mount.ok_or_else(|| Failure::Usage { message: "there is no unprefixed mount".into(), hint: "Give --dir.".into() })?;
    let (root, existed) = (mount.root.clone(), mount.root.is_dir());
    let vault = Vault::open(&[mount])?;
    let mut notes = notes;
    notes.extend(vault.troubles().into_iter().map(|trouble| trouble.what));
    let memdir = Memdir::new(Arc::new(vault), Actor { name: settings.actor.value.clone(), session: None });
    let mut created = Vec::new();
    if !existed {
        created.push(".".to_owned());
    }
    if memdir.entrypoint("")?.path.is_none() {
        memdir.write(&Write::create(MemoryPath::parse(MAIN)?, FIRST_LINES))?;
        created.push(MAIN.to_owned());
    }
    if args.team && settings.dir.is_none() && attributes(&root)? {
        created.push(".gitattributes".to_owned());
    }
    debug_assert!(root.join(MAIN).exists() || root.join(FALLBACK).exists());
    let prefix = if args.team { "team" } else { "" };
    let committed = args.team && settings.dir.is_none();
    Ok(Answer::new(Made { root, prefix: prefix.into(), created, committed }, show).with_notes(notes))
}

/// Where the team's memory is: in the directory that is the whole memory, else in the repository.
fn team_mount(settings: &Settings, scope: &Scope) -> Result<Mount, Failure> {
    let refused = |message| {
        let hint = "Leave --team out for a memory of your own; in a git repository's checkout --team makes one to share.";
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
        return Err(refused(format!("{} is no directory of its own, so it is no team memory", root.display())));
    }
    let configured: Vec<Mount> = settings.config.mounts.iter().map(|mount| wire::configured(settings, mount)).collect();
    let whole = wire::one_directory(settings, &dir.value, &configured);
    if whole.entrypoint != Entrypoint::Kept || !whole.only.is_empty() || whole.access != Access::ReadWrite {
        return Err(refused(format!("the settings serve only a part of {}, so it has no team memory", dir.value.display())));
    }
    Ok(wire::one_directory(settings, &root, &configured))
}

/// Makes `.gitattributes`; one that is there is the person's.
fn attributes(root: &Path) -> Result<bool, Failure> {
    let path = root.join(".gitattributes");
    let made = std::fs::File::create_new(&path).and_then(|mut file| file.write_all(ATTRIBUTES.as_bytes()));
    match made {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(source) => Err(Failure::File { doing: "write", path, source }),
    }
}

fn show(made: &Made, page: &mut Page<'_>) -> io::Result<()> {
    let root = page.strong(&made.root.display().to_string());
    if made.created.is_empty() {
        page.line(format!("{root} is a memory already"))?;
    } else {
        page.line(format!("Made {root} with {MAIN}"))?;
    }
    match made.prefix.as_str() {
        "" => page.line("Next: memdir write NAME TEXT"),
        prefix if !made.committed => page.line(format!("Next: memdir write {prefix}/NAME TEXT")),
        prefix => page.line(format!("Next: memdir write {prefix}/NAME TEXT, and git add .memdir so that others have it")),
    }
}
