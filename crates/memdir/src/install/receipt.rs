//! What was put into which file, in `MEMDIR_HOME/installed.json`: enough to take exactly that out again, and no copy of
//! what else stands in those files.

use super::{
    FileEdit, Order,
    files::{self, Done, Trouble},
    patch::Patch,
    plan,
};
use crate::hosts::{Format, Machine, Scope, Wish, wish::place};
use jiff::Timestamp;
use memdir_core::base::disk::{self, FileLock, LockWait};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// All receipts.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Receipts {
    /// The form of this file.
    version: u32,
    pub(crate) installed: Vec<Receipt>,
}

/// Which installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Installed {
    pub(crate) host: String,
    pub(crate) scope: Scope,
    /// The project, for one of a project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) project: Option<PathBuf>,
}

/// One installation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Receipt {
    #[serde(flatten)]
    pub(crate) key: Installed,
    pub(crate) at: Timestamp,
    /// The program that was put in.
    pub(crate) program: String,
    /// What stands before the verb: which memory was chosen.
    #[serde(default)]
    pub(crate) before: Vec<String>,
    pub(crate) files: Vec<Record>,
}

/// What was done to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) path: PathBuf,
    pub(crate) format: Format,
    pub(crate) wishes: Vec<Wish>,
    /// Whether it was not there.
    pub(crate) created: bool,
    /// The hash of what it was.
    pub(crate) before: String,
    /// The hash of what it became.
    pub(crate) after: String,
    /// The way back from there; nothing if somebody else wrote in between.
    pub(crate) patches: Option<Vec<Patch>>,
    pub(crate) made: Vec<Vec<String>>,
    /// What a person had there for memdir, by its place.
    #[serde(default)]
    pub(crate) was: BTreeMap<String, Value>,
    pub(crate) dirs: Vec<PathBuf>,
    pub(crate) backups: Vec<PathBuf>,
}

impl Receipts {
    const VERSION: u32 = 1;

    /// The receipts there are.
    pub(crate) fn load(home: &Path) -> Result<Receipts, Trouble> {
        let path = file(home);
        let Some(text) = files::read(&path)? else { return Ok(Receipts { version: Self::VERSION, installed: Vec::new() }) };
        let receipts: Receipts = serde_json::from_str(&text).map_err(|e| Trouble {
            path: path.clone(),
            why: format!("it cannot be read: {e}"),
            hint: "Move it away; memdir uninstall HOST then takes out what it recognises as memdir's.".into(),
        })?;
        if receipts.version > Self::VERSION {
            return Err(Trouble { path, why: "a newer memdir wrote it".into(), hint: "Use that memdir.".into() });
        }
        Ok(receipts)
    }

    /// Writes them.
    pub(crate) fn save(&self, home: &Path) -> Result<(), Trouble> {
        let path = file(home);
        let text = serde_json::to_string_pretty(self).map_err(|e| Trouble::refused(&path, e.to_string()))? + "\n";
        let was = files::read(&path)?;
        if self.installed.is_empty() && was.is_none() {
            return Ok(());
        }
        files::write(&path, &text, was.as_deref(), Scope::User)
    }

    /// The receipt of an installation.
    pub(crate) fn get(&self, key: &Installed) -> Option<&Receipt> {
        self.installed.iter().find(|receipt| receipt.key == *key)
    }

    /// Adds what was done to a receipt, or begins one.
    pub(crate) fn add(&mut self, order: &Order<'_>, records: Vec<Record>) {
        let key = order.key();
        let mut receipt = match self.installed.iter().position(|receipt| receipt.key == key) {
            Some(at) => self.installed.remove(at),
            None => Receipt { key, at: order.now, program: String::new(), before: Vec::new(), files: Vec::new() },
        };
        (receipt.at, receipt.program) = (order.now, order.machine.exe.clone());
        // A setting alone chooses no memory.
        if records.iter().flat_map(|record| &record.wishes).any(|wish| !matches!(wish, Wish::Setting { .. })) {
            receipt.before.clone_from(&order.machine.before);
        }
        for mut record in records {
            // What an installation put there is no person's.
            let put: Vec<String> = self
                .of_file(&record.path)
                .chain(receipt.files.iter().filter(|known| known.path == record.path))
                .flat_map(|known| known.wishes.iter().map(place))
                .collect();
            record.was.retain(|place, _| !put.contains(place));
            match receipt.files.iter_mut().find(|known| known.path == record.path) {
                Some(known) => *known = known.clone().join(record),
                None => receipt.files.push(record),
            }
        }
        self.installed.push(receipt);
        self.installed.sort_by(|a, b| (&a.key.host, a.key.scope, &a.key.project).cmp(&(&b.key.host, b.key.scope, &b.key.project)));
    }

    /// Forgets an installation. A file it shares with another becomes the other's.
    pub(crate) fn drop(&mut self, key: &Installed) {
        let Some(at) = self.installed.iter().position(|receipt| receipt.key == *key) else { return };
        for record in self.installed.remove(at).files {
            let shared = self.installed.iter_mut().flat_map(|receipt| &mut receipt.files).find(|other| other.path == record.path);
            if let Some(other) = shared {
                *other = record.join(other.clone());
                continue;
            }
            // A directory that stays because another's file is in it goes with that file.
            for dir in record.dirs.into_iter().rev().filter(|dir| dir.exists()) {
                let within = self.installed.iter_mut().flat_map(|receipt| &mut receipt.files).find(|other| other.path.starts_with(&dir));
                within.into_iter().for_each(|other| other.dirs.insert(0, dir.clone()));
            }
        }
    }

    /// Whether another installation put something into the same place of the same file.
    pub(crate) fn shared(&self, key: &Installed, path: &Path, wish: &Wish) -> bool {
        let others = self.installed.iter().filter(|receipt| receipt.key != *key);
        let mut records = others.flat_map(|receipt| &receipt.files).filter(|record| record.path == path);
        records.any(|record| record.wishes.iter().any(|other| place(other) == place(wish)))
    }

    /// The programs that were put in, and this one: memdir, whatever they are called.
    pub(crate) fn known(&self, machine: &Machine) -> Vec<String> {
        self.installed.iter().map(|receipt| receipt.program.clone()).chain([machine.exe.clone()]).collect()
    }

    fn of_file<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = &'a Record> {
        self.installed.iter().flat_map(|receipt| &receipt.files).filter(move |record| record.path == path)
    }
}

impl Record {
    /// Whether it stands for a receipt that is lost.
    pub(crate) fn is_guessed(&self) -> bool {
        self.after.is_empty()
    }

    /// What another installation into the same file adds to what is known of it.
    fn join(self, other: Record) -> Record {
        // Without anybody in between, the two ways back are one; the one that came first says what was there.
        let (first, later) = if other.after == self.before { (other, self) } else { (self, other) };
        let follows = later.before == first.after;
        let kept = first.wishes.into_iter().filter(|wish| !later.wishes.iter().any(|newer| place(newer) == place(wish)));
        Record {
            wishes: kept.chain(later.wishes.iter().cloned()).collect(),
            // Whichever of them made it: who came first is not known where somebody else wrote in between.
            created: first.created || later.created,
            patches: first.patches.zip(later.patches).filter(|_| follows).map(|(first, later)| [first, later].concat()),
            made: [first.made, later.made].concat(),
            was: later.was.into_iter().chain(first.was).collect(),
            dirs: [first.dirs, later.dirs].concat(),
            backups: [first.backups, later.backups].concat(),
            before: first.before,
            after: later.after,
            path: first.path,
            format: first.format,
        }
    }
}

/// What is kept of an edit that was made.
pub(crate) fn record(edit: &FileEdit, done: &Done) -> Record {
    Record {
        path: edit.part.file.clone(),
        format: edit.part.format,
        wishes: plan::wishes(edit),
        created: edit.before.is_none(),
        before: hash(edit.before.as_deref().unwrap_or_default()),
        after: hash(&edit.after),
        patches: Some(edit.patches.clone()),
        made: edit.made.clone(),
        was: edit.was.clone(),
        dirs: done.dirs.clone(),
        backups: done.touched.backup.iter().cloned().collect(),
    }
}

/// The hash of a file's text.
pub(crate) fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// One installer at a time.
pub(crate) fn lock(home: &Path) -> Result<Option<FileLock>, Trouble> {
    disk::create_private_dir(home).map_err(|e| Trouble::io(home, "make", &e))?;
    let path = home.join("installed.lock");
    FileLock::acquire(&path, LockWait::Forever).map_err(|e| Trouble::io(&path, "lock", &e))
}

fn file(home: &Path) -> PathBuf {
    home.join("installed.json")
}
