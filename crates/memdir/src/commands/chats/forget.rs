//! `memdir chats forget`: removes what was kept, with its index and vectors, and never takes it in again.

use super::{directory, time};
use crate::{
    args::ChatsForget,
    config::Settings,
    exit::Failure,
    output::{Answer, Page},
    wire::{self, keep},
};
use memdir_core::{
    chats::{
        forget::{Gone, Rule},
        keep::{Keep, Section},
    },
    search::Search,
    time::{Clock as _, SystemClock},
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
    };
    let before = turns(&keep)?;
    let gone = keep.forget(&rule, SystemClock.now())?;
    let (searched_again, found_again) = prove(settings, &keep, &before, &gone)?;
    Ok(Answer::new(Forgot { gone, searched_again, found_again }, show))
}

/// What is kept, by file.
fn turns(keep: &Keep) -> Result<BTreeMap<PathBuf, Vec<Section>>, Failure> {
    let mut all = BTreeMap::new();
    for file in keep.list()?.chats {
        if let Some((_, sections)) = keep.read(file.kept.host, &file.kept.key)? {
            all.insert(file.path, sections);
        }
    }
    Ok(all)
}

/// Makes index and vectors anew without what is gone, and searches for it.
fn prove(settings: &Settings, keep: &Keep, before: &BTreeMap<PathBuf, Vec<Section>>, gone: &Gone) -> Result<(usize, usize), Failure> {
    let lost: Vec<&PathBuf> = gone.removed.iter().chain(&gone.shortened).collect();
    let Some((memdir, index)) = wire::open_chats(settings)?.filter(|_| !lost.is_empty()) else { return Ok((0, 0)) };
    match fs::remove_dir_all(&index) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => return Err(Failure::File { doing: "remove", path: index, source }),
        _ => {}
    }
    memdir.searcher()?.index(memdir.store(), true, &|_| {})?;
    let after = turns(keep)?;
    let (mut searched, mut found) = (0, 0);
    for path in lost {
        let stays: Vec<&str> = after.get(path).into_iter().flatten().map(|section| section.text.as_str()).collect();
        let went = before.get(path).into_iter().flatten().filter(|section| !stays.contains(&section.text.as_str()));
        for section in went.filter(|section| !section.text.is_empty()).take(PROOFS) {
            searched += 1;
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

fn show(forgot: &Forgot, page: &mut Page<'_>) -> io::Result<()> {
    let gone = &forgot.gone;
    let shortened =
        if gone.shortened.is_empty() { String::new() } else { format!(", and {} turns of {} others", gone.turns, gone.shortened.len()) };
    page.line(format!("Forgot {} conversations{shortened}.", gone.removed.len()))?;
    if forgot.searched_again > 0 {
        page.line(format!("Searched for it again {} times: found {} times.", forgot.searched_again, forgot.found_again))?;
    }
    page.note("the hosts' own files were not touched");
    Ok(())
}
