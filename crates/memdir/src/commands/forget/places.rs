//! Every place where memdir keeps a text: the memories of the home directory and of the space, their journals, kept conversations, other
//! files of the home directory, and derived files. With `--dir` only that directory, and what memdir keeps about it.

use super::{
    super::counted,
    ForgetReceipt,
    files::{KeptFiles, KeptList, Owner, dirs},
    state_files::{self, StateFile},
};
use crate::{
    config::Settings,
    dreams, editor,
    exit::Failure,
    install::Receipts,
    loads,
    mounts::{self, chat_archive},
    project_records,
    scope::Scope,
    spaces,
};
use memdir_chats::{ChatArchive, READERS};
use memdir_core::{
    Access, Error, ForgetFile, Memdir, Mount, Phrase, Source,
    internal::store::{
        files::{JOURNAL_FILE, count_in_journal, forget_in_journal, is_in_journal},
        mount::{journal_name, real_path},
        mounts::{ENTRYPOINT_FILE, absolute_path, page_number},
        space::Places,
    },
};
use serde::Serialize;
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Why a journal that can be read still has the words, and what removes them.
const NAMES_DIRECTORY: &str = ": it records a directory whose path contains these words; rename the directory, then run this command again";
/// The same for a journal that cannot be read.
const UNREADABLE_JOURNAL: &str = ": it cannot be read as a journal; repair it with `memdir doctor --fix`, then run this command again";

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
    /// Those of them that are removed as a whole.
    pub(super) removed_files: Vec<PathBuf>,
    /// Files that have the words and are not changed, with the reason.
    pub(super) kept: Vec<String>,
    /// The number of derived directories that exist.
    pub(super) derived: usize,
    /// Whether a derived file has the words as they are written.
    pub(super) in_derived: bool,
    /// What memdir cannot reach.
    pub(super) not_reached: Vec<String>,
    /// How many of these are files and directories that memdir should reach and could not read.
    #[serde(skip)]
    pub(super) unread: usize,
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
        let recorded = || counted(self.versions as u64, "entry", "entries");
        all.extend((self.versions > 0).then(|| format!("{} in the history", recorded())));
        all.extend(self.chats.iter().map(|chat| format!("conversation {}", chat.name)));
        all.extend(self.state_files.iter().chain(&self.removed_files).map(|file| file.display().to_string()));
        all.extend(self.kept.iter().cloned());
        all.extend(self.in_derived.then(|| "search indexes, vectors or caches".to_owned()));
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
    kept: KeptFiles,
    is_everything: bool,
}

impl<'a> ForgetPlaces<'a> {
    pub(super) fn open(settings: &'a Settings, scope: &Scope) -> Result<Self, Failure> {
        let is_everything = settings.dir.is_none();
        let home = real_path(&settings.home.value);
        let own: Vec<Mount> = scope.mounts_only().into_iter().filter(|mount| mount.source != Source::Chat).collect();
        let mut all = own.clone();
        let mut memories = vec![(None, spaces::open_mounts(settings, &own, &settings.actor.value)?)];
        let others = if is_everything { other_mounts(settings) } else { Vec::new() };
        for mount in others {
            if all.iter().any(|known| real_path(&known.root) == real_path(&mount.root)) {
                continue;
            }
            memories.push((Some(mount.root.clone()), spaces::open_mounts(settings, std::slice::from_ref(&mount), &settings.actor.value)?));
            all.push(mount);
        }
        let journals: Vec<PathBuf> = all.iter().map(|mount| real_path(&mount.journal)).collect();
        let orphans = match is_everything {
            true => dirs(&Places::new(&home).journals()).into_iter().filter(|dir| !journals.contains(&real_path(dir))).collect(),
            false => Vec::new(),
        };
        let archive = Some(chat_archive(settings)).filter(|archive| is_everything && archive.dir().is_dir());
        // Of a read-only mount or a part of a directory, only the memories count.
        let whole = all.iter().filter(|mount| mount.access == Access::ReadWrite && mount.only.is_empty());
        let mut trees: Vec<PathBuf> = whole.map(|mount| real_path(&mount.root)).chain(journals.iter().cloned()).collect();
        let cache = real_path(&settings.cache);
        trees.push(cache.clone());
        match is_everything {
            true => {
                trees.push(home.clone());
                trees.extend(backups(&settings.home.value));
            }
            false => {
                let store = memories[0].1.store();
                trees.push(real_path(dreams::shelf_of(settings, store).dir()));
                trees.extend([editor::DRAFTS, "rules", "forgotten"].map(|name| home.join(name)));
                trees.push(home.join("cues").join(format!("{}.jsonl", loads::space(store))));
                trees.extend(all.iter().map(|mount| home.join("uses").join(format!("{}.log", journal_name(&mount.root)))));
            }
        }
        let chats = READERS.iter().map(|host| home.join("chats").join(host.name)).collect();
        let kept = KeptFiles { home, cache, trees, journals, chats };
        Ok(ForgetPlaces { settings, memories, orphans, archive, kept, is_everything })
    }

    /// Finds the places that have the words.
    pub(super) fn find(&self, phrase: &Phrase) -> Result<FoundPlaces, Failure> {
        let mut found = FoundPlaces::default();
        let leftovers = self.leftovers(phrase);
        for (dir, memdir) in self.memories.iter().filter(|(dir, _)| is_kept(dir, &leftovers)) {
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
        let KeptList { files, dirs: directories, unread } = self.kept.list(&self.memories);
        found.removed_files.clone_from(&leftovers);
        let is_left = |path: &Path| leftovers.iter().any(|left| path.starts_with(left));
        for (file, owner) in files.iter().filter(|(file, _)| !is_left(file)) {
            let place = self.kept.place(file);
            let state = StateFile { path: file, place: place.as_deref() };
            match owner {
                Owner::Derived if !found.in_derived => found.in_derived = state_files::content_has(file, phrase),
                Owner::Other if state.has(phrase) => {
                    found
                        .kept
                        .push(format!("{}: it is not a memory, so memdir does not change it; remove the words yourself", file.display()));
                }
                Owner::State if state.has(phrase) => match state.reason_to_keep(phrase) {
                    Some(why) => found.kept.push(format!("{}: {why}", file.display())),
                    None if state.is_removed(phrase) => found.removed_files.push(file.clone()),
                    None => found.state_files.push(file.clone()),
                },
                _ => {}
            }
        }
        // Folders of memories go with the memories in them.
        let is_folder = |dir: &&PathBuf| files.iter().any(|(file, owner)| *owner == Owner::Memory && file.starts_with(dir));
        let roots: Vec<PathBuf> = self.roots().collect();
        let named = directories.iter().filter(|dir| state_files::name_has(dir, phrase));
        let named = named.filter(|dir| roots.iter().any(|root| root.starts_with(dir)) || !is_folder(dir));
        found.kept.extend(
            named
                .filter(|dir| !dir.starts_with(&self.kept.cache) && !is_left(dir))
                .map(|dir| format!("{}: {}", dir.display(), self.why_named(dir))),
        );
        found.derived = self.derived().len();
        found.unread = unread.len();
        found.not_reached = unread;
        found.not_reached.extend(self.not_reached());
        let packed = files.iter().filter(|(file, owner)| matches!(owner, Owner::State | Owner::Other) && state_files::is_packed(file));
        found.not_reached.extend(packed.map(|(file, _)| format!("{}, which is compressed; check the file yourself", file.display())));
        Ok(found)
    }

    /// Forgets the words everywhere. Each step is complete in itself and is repeated by the next run if this one is interrupted. A
    /// step that fails does not keep the others from being done.
    pub(super) fn forget(&self, phrase: &Phrase) -> Result<ForgetReceipt, Failure> {
        let mut receipt = ForgetReceipt::default();
        let leftovers = self.leftovers(phrase);
        for dir in &leftovers {
            match fs::remove_dir_all(dir) {
                Ok(()) => receipt.state_files += 1,
                Err(source) => receipt.remaining.push(Failure::File { doing: "remove", path: dir.clone(), source }.text().message),
            }
        }
        for (_, memdir) in self.memories.iter().filter(|(dir, _)| is_kept(dir, &leftovers)) {
            match memdir.forget(phrase) {
                Ok(forgotten) => {
                    receipt.redacted += forgotten.redacted.len();
                    receipt.removed += forgotten.removed;
                    receipt.versions += forgotten.versions;
                }
                Err(error) => receipt.remaining.push(error.to_string()),
            }
        }
        for journal in self.orphans.iter().filter(|journal| journal.is_dir()) {
            match forget_in_journal(journal, phrase) {
                Ok(forgotten) => receipt.versions += forgotten,
                // It is found again as a file.
                Err(Error::Corrupt { .. } | Error::Unavailable { .. }) => {}
                Err(error) => receipt.remaining.push(error.to_string()),
            }
        }
        if let Some(archive) = &self.archive {
            match archive.forget_matching(&|text| phrase.is_in(text)) {
                Ok(outcome) => (receipt.turns, receipt.chats) = (outcome.turns, outcome.removed.len()),
                Err(error) => receipt.remaining.push(error.to_string()),
            }
        }
        let files = self.kept.list(&self.memories).files;
        for (file, _) in files.iter().filter(|(_, owner)| *owner == Owner::State) {
            let place = self.kept.place(file);
            let state = StateFile { path: file, place: place.as_deref() };
            if state.has(phrase) && state.reason_to_keep(phrase).is_none() {
                match state.forget(phrase) {
                    Ok(()) => receipt.state_files += 1,
                    Err(error) => receipt.remaining.push(error.text().message),
                }
            }
        }
        for dir in self.derived() {
            match fs::remove_dir_all(&dir) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    let error = Failure::File { doing: "remove", path: dir, source };
                    receipt.remaining.push(error.text().message);
                }
                _ => receipt.derived += 1,
            }
        }
        Ok(receipt)
    }

    /// Reads every file again, whichever program wrote it, and adds to the receipt their number, what still has the words, and what
    /// could not be read.
    pub(super) fn verify(&self, phrase: &Phrase, receipt: &mut ForgetReceipt) -> Result<(), Failure> {
        let left = self.find(phrase)?;
        let mut remaining = left.remaining();
        let mut known: BTreeSet<PathBuf> = BTreeSet::new();
        for (dir, memdir) in &self.memories {
            let found = left.memories.iter().filter(|memory| memory.dir == *dir).flat_map(|memory| &memory.files);
            known.extend(found.filter_map(|file| absolute_path(memdir.store(), &file.path)).map(|path| real_path(&path)));
        }
        let files = self.kept.list(&self.memories).files;
        let is_log = |file: &Path| file.file_name().is_some_and(|name| name == JOURNAL_FILE);
        for (file, owner) in &files {
            let (has, why) = match owner {
                Owner::Memory => (!known.contains(file) && state_files::content_has(file, phrase), ""),
                // Its records are reported already.
                Owner::Journal if is_log(file) && left.versions > 0 => (false, ""),
                Owner::Journal if is_log(file) => {
                    match is_in_journal(file.parent().unwrap_or(file), phrase) {
                        Ok(has) => (has, NAMES_DIRECTORY),
                        // What cannot be read as a journal is read as bytes.
                        Err(_) => (state_files::content_has(file, phrase), UNREADABLE_JOURNAL),
                    }
                }
                Owner::Journal => (state_files::content_has(file, phrase), ""),
                Owner::Chats => (left.chats.is_empty() && state_files::chat_has(file, phrase).unwrap_or(true), ""),
                // These are read by `find`.
                Owner::Derived | Owner::State | Owner::Other => (false, ""),
            };
            if has {
                remaining.push(format!("{}{why}", file.display()));
            }
        }
        receipt.read_again = files.len().saturating_sub(left.unread);
        receipt.unread += left.unread;
        // A step that failed is a reason; what it left is among the rest.
        receipt.remaining.extend(remaining);
        receipt.not_reached.extend(left.not_reached);
        Ok(())
    }

    /// Directories that `memdir projects rename` or `merge` left behind, with the words in their names: memories of projects without a
    /// memory, whose own directories are gone, and their histories.
    fn leftovers(&self, phrase: &Phrase) -> Vec<PathBuf> {
        let home = &self.kept.home;
        let places = Places::new(home);
        let mut out = Vec::new();
        for dir in dirs(&places.projects()).into_iter().filter(|dir| self.is_everything && state_files::name_has(dir, phrase)) {
            let id = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let records = || project_records::ids(home).into_iter().filter_map(|other| Some((project_records::read(home, &other)?, other)));
            let is_used = records().any(|(record, other)| (other == id || record.memory.as_ref() == Some(&id)) && record.root.is_dir());
            let is_own = self.memories[0].1.store().mounts().iter().any(|mount| mount.root == dir);
            if !is_used && !is_own && holds_nothing(&dir) {
                let journal = places.journal(&dir);
                let inbox = Some(places.inboxes().join(&id)).filter(|inbox| holds_nothing(inbox));
                out.extend([dir, journal].into_iter().chain(inbox).filter(|dir| dir.is_dir()));
            }
        }
        out
    }

    /// Why a directory keeps its name, and what changes it.
    fn why_named(&self, dir: &Path) -> String {
        let below = dir.strip_prefix(&self.kept.home).map(|below| below.iter().filter_map(|part| part.to_str()).collect());
        let below: Vec<&str> = below.unwrap_or_default();
        match below.as_slice() {
            // Its id has the words, so the message cannot name it.
            ["projects" | "inbox", _] => concat!(
                "it is named after a project; rename the project's working directory and, in that directory, run: ",
                "memdir projects rename ID NEW && memdir projects adopt NEW (list the IDs with `memdir projects`); then run this command again"
            )
            .to_owned(),
            ["journal", _] => "it is named after the directory whose history it holds; rename that directory instead".to_owned(),
            ["people" | "teams" | "agents", _] | ["agents-local", _, _] | ["people", _, "agents", _] => {
                "memdir does not rename this directory; rename the person, team or agent that it is named after".to_owned()
            }
            _ => "memdir does not rename this directory; rename the directory yourself".to_owned(),
        }
    }

    /// The roots of all memories, of journals and of what memdir names after them.
    fn roots(&self) -> impl Iterator<Item = PathBuf> {
        let mounts = self.memories.iter().flat_map(|(_, memdir)| memdir.store().mounts());
        mounts.map(|mount| real_path(&mount.root)).chain(self.kept.journals.iter().cloned())
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
        if let Some(dir) = &self.settings.dir {
            out.push(format!("memdir's other memories, conversations and usage counts, because {} is set", dir.origin));
        }
        if !self.orphans.is_empty() {
            // The name of a journal is the name of the directory, and a hash.
            let name = |journal: &PathBuf| {
                let name = journal.file_name().unwrap_or_default().to_string_lossy().into_owned();
                name.rsplit_once('-').map_or(name.clone(), |(dir, _)| dir.to_owned())
            };
            let names: Vec<String> = self.orphans.iter().map(name).collect();
            out.push(format!(
                "memories in directories that memdir cannot locate although it has their history (for example, directories used with --dir): {}; for each directory that still exists, run: memdir --dir DIR forget WORDS",
                names.join(", ")
            ));
        }
        out.push("the hosts' own transcripts, memories and caches".to_owned());
        out.push("other machines, backups, exports and your shell history".to_owned());
        out
    }
}

/// Whether a memory is neither removed already nor a leftover.
fn is_kept(dir: &Option<PathBuf>, leftovers: &[PathBuf]) -> bool {
    dir.as_ref().is_none_or(|dir| dir.is_dir() && !leftovers.contains(dir))
}

/// Whether a directory of memories has no file but the entrypoint and its pages at its root.
fn holds_nothing(dir: &Path) -> bool {
    has_only(dir, &|name| name == ENTRYPOINT_FILE || page_number(ENTRYPOINT_FILE, name).is_some())
}

/// Whether a directory has no file but these at its root. One that cannot be read may have others.
fn has_only(dir: &Path, is_expected: &dyn Fn(&str) -> bool) -> bool {
    let is_fine = |entry: fs::DirEntry| {
        is_expected(&entry.file_name().to_string_lossy()) || (entry.path().is_dir() && has_only(&entry.path(), &|_| false))
    };
    fs::read_dir(dir).is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(is_fine)))
}

/// The copies that installations made of the hosts' files.
fn backups(home: &Path) -> Vec<PathBuf> {
    // Receipts that cannot be read are found as a file of the home directory.
    let receipts = Receipts::load(home).map(|receipts| receipts.installed).unwrap_or_default();
    let backups = receipts.into_iter().flat_map(|receipt| receipt.files).flat_map(|file| file.backups);
    backups.filter(|backup| backup.is_file()).collect()
}

/// The memories below the home directory, the inboxes, the mounts of the settings, and the team memories of known projects.
fn other_mounts(settings: &Settings) -> Vec<Mount> {
    let home = &settings.home.value;
    let places = settings.places();
    let mut roots = vec![places.user()];
    roots.extend(dirs(&places.projects()));
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
    let configured = mounts::all_configured(settings);
    roots.extend(configured.iter().map(|mount| mount.root.clone()));
    roots.retain(|root| root.is_dir());
    let memories = roots.iter().map(|root| mounts::one_directory(settings, root, &configured));
    memories.chain(mounts::all_inboxes(settings)).collect()
}
