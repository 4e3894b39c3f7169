//! `memdir chats forget`: removes what was kept, with its index and vectors, and never takes it in again.

use super::{counted, directory, time};
use crate::{
    args::ChatsForget,
    config::Settings,
    exit::Failure,
    output::{Answer, Page},
    wire::{self, keep},
};
use memdir_chats::{
    forget::{Gone, Rule},
    keep::{Keep, Section},
};
use memdir_core::{
    base::time::{Clock as _, SystemClock},
    search::Search,
};
use serde::Serialize;
use std::{collections::BTreeMap, fs, io, path::PathBuf};

/// Turns that are searched for again, of each file that lost some.
const PROOFS: usize = 3;

#[derive(Serialize)]
struct Forgot {
    #[serde(flatten)]
    gone: Gone,
    /// Searches for what was forgotten that were made afterwards.
    searched_again: usize,
    /// Those that still found it: none.
    found_again: usize,
}

pub(crate) fn run(args: &ChatsForget, settings: &Settings) -> Result<Answer, Failure> {
    if args.session.is_none() && args.project.is_none() && args.before.is_none() {
        return Err(Failure::Usage {
            message: "say what to forget".into(),
            hint: "Give a SESSION as memdir chats lists it, or --project DIR, or --before DATE; with both of these, what fits both goes."
                .into(),
        });
    }
    let keep = keep(settings);
    let session = args.session.as_deref().map(|session| keep.find(session)).transpose()?;
    let rule = Rule {
        session: session.map(|kept| kept.name()),
        project: args.project.as_deref().map(|dir| directory(dir, settings)).transpose()?,
        before: args.before.as_deref().map(|date| time("before", date)).transpose()?,
        ..Rule::default()
    };
    let before = turns(&keep)?;
    let gone = keep.forget(&rule, SystemClock.now())?;
    let (searched_again, found_again) = prove(settings, &keep, &before, &gone)?;
    Ok(Answer::new(Forgot { gone, searched_again, found_again }, show))
}

/// What is kept, by file: title and turns.
type Turns = BTreeMap<PathBuf, (String, Vec<Section>)>;

fn turns(keep: &Keep) -> Result<Turns, Failure> {
    let mut all = Turns::new();
    for file in keep.list()?.chats {
        if let Some((kept, sections)) = keep.read(file.kept.host, &file.kept.key)? {
            all.insert(file.path, (kept.title, sections));
        }
    }
    Ok(all)
}

/// Makes index and vectors anew without what is gone, and searches for it.
fn prove(settings: &Settings, keep: &Keep, before: &Turns, gone: &Gone) -> Result<(usize, usize), Failure> {
    let lost: Vec<&PathBuf> = gone.removed.iter().chain(&gone.shortened).collect();
    let Some((memdir, index)) = wire::open_kept(settings)?.filter(|_| !lost.is_empty()) else { return Ok((0, 0)) };
    match fs::remove_dir_all(&index) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => return Err(Failure::File { doing: "remove", path: index, source }),
        _ => {}
    }
    memdir.searcher()?.index(memdir.store(), true, &|_| {})?;
    let after = turns(keep)?;
    let (mut searched, mut found) = (0, 0);
    for path in lost {
        let (title, stays) = after.get(path).map_or(("", &[][..]), |(title, stays)| (title.as_str(), stays.as_slice()));
        let was = before.get(path).map_or(&[][..], |(_, was)| was.as_slice());
        let went = was.iter().filter(|section| !section.text.is_empty() && !stays.iter().any(|stays| stays.text == section.text));
        for section in went.take(PROOFS) {
            searched += 1;
            if is_title_of(title, section) {
                found += 1;
                continue;
            }
            let words: String = section.text.chars().take(200).collect();
            let search = Search { max_results: 20, min_score: 0.0, ..Search::new(words) };
            let answer = memdir.searcher()?.search(memdir.store(), &search)?;
            let name = path.strip_prefix(keep.dir()).unwrap_or(path).with_extension("").to_string_lossy().into_owned();
            // A part of it may be meant too.
            let is_it = |hit: &memdir_core::search::Hit| hit.path.as_str().contains(&name) && section.text.contains(hit.text.trim());
            found += usize::from(answer.hits.iter().any(is_it));
        }
    }
    Ok((searched, found))
}

/// Whether a title is the beginning of what went.
fn is_title_of(title: &str, section: &Section) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let title = words(title.trim_end_matches('…'));
    !title.is_empty() && words(&section.text).starts_with(&title)
}

fn show(forgot: &Forgot, page: &mut Page<'_>) -> io::Result<()> {
    let gone = &forgot.gone;
    let shortened = match gone.shortened.len() {
        0 => String::new(),
        others => format!(", and {} of {}", counted(gone.turns, "turn"), counted(others as u64, "other")),
    };
    page.line(format!("Forgot {}{shortened}.", counted(gone.removed.len() as u64, "conversation")))?;
    if forgot.searched_again > 0 {
        let (searched, found) = (counted(forgot.searched_again as u64, "time"), counted(forgot.found_again as u64, "time"));
        page.line(format!("Searched for it again {searched}: found {found}."))?;
    }
    page.note("the hosts' own files were not touched");
    Ok(())
}
