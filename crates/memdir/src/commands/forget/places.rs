//! Every place where memdir keeps a text: the memories of the home directory and of the space, their journals, kept conversations, other
//! files of the home directory, and derived files. With `--dir` only that directory and what is derived from it.

use super::{super::counted, Receipt, state_files};
use crate::{
    config::Settings,
    exit::Failure,
    mounts::{self, chat_archive},
    project_records,
    scope::Scope,
    spaces,
};
use memdir_chats::{ChatArchive, READERS};
use memdir_core::{
    Access, Error, ForgetFile, Memdir, Mount, Phrase, Source,
    internal::store::{
        files::{count_in_journal, forget_in_journal, real_path},
        space::Places,
    },
};
use serde::Serialize;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The places that have the words.
#[derive(Serialize, Default)]
pub(super) struct FoundPlaces {
    /// The memories.
    pub(super) memories: Vec<FoundMemory>,
    /// The number of versions and names in the histories.
    pub(super) versions: usize,
    /// Kept conversations.
    pub(super) chats: Vec<FoundChat>,
    /// Other files of the home directory.
    pub(super) state_files: Vec<PathBuf>,
    /// Files that have the words and are not changed, with the reason.
    pub(super) kept: Vec<String>,
    /// The number of derived directories that exist.
    pub(super) derived: usize,
    /// Whether a derived file has the words as they are written.
    pub(super) in_derived: bool,
    /// What memdir cannot reach.
    pub(super) not_reached: Vec<String>,
}

impl FoundPlaces {
    /// Whether no place has the words.
    pub(super) fn is_empty(&self) -> bool {
        self.remaining().is_empty()
    }

    /// What has the words, in words.
    pub(super) fn remaining(&self) -> Vec<String> {
        let memories = self.memories.iter().flat_map(|memory| {
            memory.files.iter().map(|file| match &file.read_only {
                Some(why) => format!("{}: {why}", memory.shown(file.path.as_str())),
                None => memory.shown(file.path.as_str()),
            })
        });
        let mut all: Vec<String> = memories.collect();
        all.extend((self.versions > 0).then(|| format!("{} in the history", self.versions)));
        all.extend(self.chats.iter().map(|chat| format!("conversation {}", chat.name)));
        all.extend(self.state_files.iter().map(|file| file.display().to_string()));
        all.extend(self.kept.iter().cloned());
        all.extend(self.in_derived.then(|| "derived files".to_owned()));
        all
    }
}

/// Files of one memory that have the words.
#[derive(Serialize)]
pub(super) struct FoundMemory {
    /// The directory of a memory outside of the space.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dir: Option<PathBuf>,
    /// The files.
    pub(super) files: Vec<ForgetFile>,
}

impl FoundMemory {
    /// A name of it, with the directory if it is not in the space.
    pub(super) fn shown(&self, path: &str) -> String {
        match &self.dir {
            Some(dir) => dir.join(path).display().to_string(),
            None => path.to_owned(),
        }
    }
}

/// A kept conversation that has the words.
#[derive(Serialize)]
pub(super) struct FoundChat {
    /// Its name.
    pub(super) name: String,
    /// The number of turns that have the words.
    pub(super) turns: u64,
    /// The lines of these turns that have the words.
    pub(super) lines: Vec<String>,
}

/// The places where memdir keeps texts.
pub(super) struct ForgetPlaces<'a> {
    settings: &'a Settings,
    /// The memories, each with its directory if it is not in the space.
    memories: Vec<(Option<PathBuf>, Memdir)>,
    /// Journals of directories that are not known.
    orphans: Vec<PathBuf>,
    archive: Option<ChatArchive>,
    /// The roots of memories, which are not looked through as other files.
    roots: Vec<PathBuf>,
    is_everything: bool,
}

impl<'a> ForgetPlaces<'a> {
    pub(super) fn open(settings: &'a Settings, scope: &Scope) -> Result<Self, Failure> {
        let is_everything = settings.dir.is_none();
        let own: Vec<Mount> = scope.mounts_only().into_iter().filter(|mount| mount.source != Source::Chat).collect();
        let mut roots: Vec<PathBuf> = own.iter().map(|mount| real_path(&mount.root)).collect();
        let mut journals: Vec<PathBuf> = own.iter().map(|mount| mount.journal.clone()).collect();
        let mut memories = vec![(None, spaces::open_mounts(settings, &own, &settings.actor.value)?)];
        let configured: Vec<Mount> = settings.config.mounts.iter().map(|mount| mounts::configured(settings, mount)).collect();
        let others = if is_everything { other_roots(&settings.home.value) } else { Vec::new() };
        for root in others {
            let real = real_path(&root);
            if roots.contains(&real) {
                continue;
            }
            let mount = mounts::one_directory(settings, &root, &configured);
            journals.push(mount.journal.clone());
            memories.push((Some(root), spaces::open_mounts(settings, &[mount], &settings.actor.value)?));
            roots.push(real);
        }
        let known: Vec<PathBuf> = journals.iter().map(|journal| real_path(journal)).collect();
        let orphans = match is_everything {
            true => dirs(&settings.home.value.join("journal")).into_iter().filter(|dir| !known.contains(&real_path(dir))).collect(),
            false => Vec::new(),
        };
        let archive = Some(chat_archive(settings)).filter(|archive| is_everything && archive.dir().is_dir());
        Ok(ForgetPlaces { settings, memories, orphans, archive, roots, is_everything })
    }

    /// Finds the places that have the words.
    pub(super) fn find(&self, phrase: &Phrase) -> Result<FoundPlaces, Failure> {
        let mut found = FoundPlaces::default();
        for (dir, memdir) in &self.memories {
            let in_memory = memdir.find_forgettable(phrase)?;
            found.versions += in_memory.versions;
            if !in_memory.files.is_empty() {
                found.memories.push(FoundMemory { dir: dir.clone(), files: in_memory.files });
            }
        }
        for journal in &self.orphans {
            // A file that is not a journal is found as a file.
            found.versions += count_in_journal(journal, phrase).unwrap_or(0);
        }
        if let Some(archive) = &self.archive {
            for (file, turns) in archive.matching(&|text| phrase.is_in(text))? {
                let lines = turns.iter().flat_map(|turn| turn.text.lines()).filter(|line| phrase.is_in(line)).map(str::to_owned);
                found.chats.push(FoundChat { name: file.chat.name(), turns: turns.len() as u64, lines: lines.collect() });
            }
        }
        for file in self.state_files() {
            if !state_files::has(&file, phrase) {
                continue;
            }
            match state_files::stays(&file) {
                Some(why) => found.kept.push(format!("{}: {why}", file.display())),
                None => found.state_files.push(file),
            }
        }
        let derived = self.derived();
        found.derived = derived.len();
        found.in_derived = derived.iter().any(|dir| files(dir).iter().any(|file| state_files::has(file, phrase)));
        found.not_reached = self.not_reached();
        Ok(found)
    }

    /// Forgets the words everywhere. Each step is complete in itself and is repeated by the next run if this one is interrupted.
    pub(super) fn forget(&self, phrase: &Phrase) -> Result<Receipt, Failure> {
        let mut receipt = Receipt::default();
        for (_, memdir) in &self.memories {
            let forgotten = memdir.forget(phrase)?;
            receipt.redacted += forgotten.redacted.len();
            receipt.removed += forgotten.removed;
            receipt.versions += forgotten.versions;
        }
        for journal in &self.orphans {
            receipt.versions += match forget_in_journal(journal, phrase) {
                // It stays among what remains.
                Err(Error::Corrupt { .. } | Error::Unavailable { .. }) => 0,
                forgotten => forgotten?,
            };
        }
        if let Some(archive) = &self.archive {
            let outcome = archive.forget_matching(&|text| phrase.is_in(text))?;
            (receipt.turns, receipt.chats) = (outcome.turns, outcome.removed.len());
        }
        for file in self.state_files() {
            if state_files::stays(&file).is_none() && state_files::has(&file, phrase) {
                state_files::forget(&file, phrase)?;
                receipt.state_files += 1;
            }
        }
        for dir in self.derived() {
            match fs::remove_dir_all(&dir) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Failure::File { doing: "remove", path: dir, source });
                }
                _ => receipt.derived += 1,
            }
        }
        Ok(receipt)
    }

    /// The files of the home directory that are neither memories, journals, conversations nor derived; and the state of sessions.
    fn state_files(&self) -> Vec<PathBuf> {
        if !self.is_everything {
            return Vec::new();
        }
        let home = real_path(&self.settings.home.value);
        let mut skipped: Vec<PathBuf> = self.roots.clone();
        skipped.extend([home.join("journal"), real_path(&self.settings.cache)]);
        skipped.extend(READERS.iter().map(|host| home.join("chats").join(host.name)));
        let mut all = Vec::new();
        let mut open = vec![home];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
                let path = entry.path();
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && !skipped.contains(&path) => open.push(path),
                    Ok(kind) if kind.is_file() => all.push(path),
                    _ => {}
                }
            }
        }
        all.extend(files(&self.settings.cache.join("sessions")));
        all.sort();
        all
    }

    /// The directories of derived files: all of the cache, except for the state of sessions.
    fn derived(&self) -> Vec<PathBuf> {
        dirs(&self.settings.cache).into_iter().filter(|dir| dir.file_name().is_none_or(|name| name != "sessions")).collect()
    }

    fn not_reached(&self) -> Vec<String> {
        let mut out = Vec::new();
        for (_, memdir) in &self.memories {
            for mount in memdir.store().mounts() {
                if mount.root.ancestors().any(|dir| dir.join(".git").exists()) {
                    out.push(format!("the git history of {}", mount.root.display()));
                }
                if mount.access == Access::ReadOnly {
                    out.push(format!("{}, which is mounted read-only", mount.root.display()));
                }
            }
        }
        if !self.is_everything {
            out.push("the other memories and conversations of memdir, because of --dir or MEMDIR_DIR".to_owned());
        }
        if !self.orphans.is_empty() {
            let journals = counted(self.orphans.len() as u64, "directory", "directories");
            out.push(format!("memories of {journals} that memdir only knows by the journal; run: memdir --dir DIR forget WORDS"));
        }
        out.push("the hosts' own transcripts, memories and caches".to_owned());
        out.push("other machines, backups, exports, and the history of your shell".to_owned());
        out
    }
}

/// The roots of all memories below the home directory, and of the team memories of known projects.
fn other_roots(home: &Path) -> Vec<PathBuf> {
    let mut roots = vec![home.join("user")];
    roots.extend(dirs(&home.join("projects")));
    roots.extend(dirs(&home.join("agents")));
    roots.extend(dirs(&home.join("agents-local")).iter().flat_map(|project| dirs(project)));
    for person in dirs(&home.join("people")) {
        roots.push(person.join("user"));
        roots.extend(dirs(&person.join("agents")));
    }
    roots.extend(dirs(&home.join("teams")));
    for id in project_records::ids(home) {
        let team = project_records::read(home, &id).map(|record| Places::team(&record.root));
        roots.extend(team.filter(|team| mounts::is_team(home, team)));
    }
    roots.retain(|root| root.is_dir());
    roots
}

/// The directories in a directory.
fn dirs(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> =
        entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect();
    all.sort();
    all
}

/// The files below a directory.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(kind) if kind.is_file() => all.push(entry.path()),
                _ => {}
            }
        }
    }
    all.sort();
    all
}
