//! `memdir chats forget`: deletes imported conversations with their index and vectors, and never imports them again.

use super::{super::counted, directory, time};
use crate::{
    args::ChatsForget,
    config::Settings,
    exit::Failure,
    mounts::chat_archive,
    output::{CommandOutput, Printer},
    spaces,
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

/// Number of deleted messages per file that are searched for afterwards.
const PROOFS: usize = 3;

#[derive(Serialize)]
struct ForgetReport {
    #[serde(flatten)]
    gone: Gone,
    /// Number of searches for deleted messages.
    searched_again: usize,
    /// Number of these searches that still found the message: 0.
    found_again: usize,
}

pub(crate) fn run(args: &ChatsForget, settings: &Settings) -> Result<CommandOutput, Failure> {
    if args.session.is_none() && args.project.is_none() && args.before.is_none() {
        return Err(Failure::Usage {
            message: "nothing selected".into(),
            hint: "use an id that `memdir chats` lists, --project DIR or --before DATE".into(),
        });
    }
    let keep = chat_archive(settings);
    let session = args.session.as_deref().map(|session| keep.find(session)).transpose()?;
    let rule = Rule {
        session: session.map(|kept| kept.name()),
        project: args.project.as_deref().map(|dir| directory(dir, settings)).transpose()?,
        before: args.before.as_deref().map(|date| time("before", date)).transpose()?,
        ..Rule::default()
    };
    let before = turns(&keep)?;
    let gone = keep.forget(&rule, SystemClock.now())?;
    let (searched_again, found_again) = verify_deleted(settings, &keep, &before, &gone)?;
    Ok(CommandOutput::new(ForgetReport { gone, searched_again, found_again }, show))
}

/// The title and messages of imported conversations, by file.
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

/// Rebuilds index and vectors without the deleted messages, then searches for those. Returns the number of searches, and how many
/// of them found something.
fn verify_deleted(settings: &Settings, keep: &Keep, before: &Turns, gone: &Gone) -> Result<(usize, usize), Failure> {
    let lost: Vec<&PathBuf> = gone.removed.iter().chain(&gone.shortened).collect();
    let Some((memdir, index)) = spaces::open_kept(settings)?.filter(|_| !lost.is_empty()) else { return Ok((0, 0)) };
    match fs::remove_dir_all(&index) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => return Err(Failure::File { doing: "remove", path: index, source }),
        _ => {}
    }
    memdir.searcher()?.index(memdir.store(), true, &|_| {})?;
    let after = turns(keep)?;
    let (mut searched, mut found) = (0, 0);
    for path in lost {
        let (title, remaining) = after.get(path).map_or(("", &[][..]), |(title, remaining)| (title.as_str(), remaining.as_slice()));
        let earlier = before.get(path).map_or(&[][..], |(_, earlier)| earlier.as_slice());
        let deleted =
            earlier.iter().filter(|section| !section.text.is_empty() && !remaining.iter().any(|other| other.text == section.text));
        for section in deleted.take(PROOFS) {
            searched += 1;
            if is_title_of(title, section) {
                found += 1;
                continue;
            }
            let query: String = section.text.chars().take(200).collect();
            let search = Search { max_results: 20, min_score: 0.0, ..Search::new(query) };
            let answer = memdir.searcher()?.search(memdir.store(), &search)?;
            let name = path.strip_prefix(keep.dir()).unwrap_or(path).with_extension("").to_string_lossy().into_owned();
            // A hit may be a part of the message.
            let is_match = |hit: &memdir_core::search::Hit| hit.path.as_str().contains(&name) && section.text.contains(hit.text.trim());
            found += usize::from(answer.hits.iter().any(is_match));
        }
    }
    Ok((searched, found))
}

/// Whether a title is the beginning of a message.
fn is_title_of(title: &str, section: &Section) -> bool {
    let normalized = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let title = normalized(title.trim_end_matches('…'));
    !title.is_empty() && normalized(&section.text).starts_with(&title)
}

fn show(report: &ForgetReport, printer: &mut Printer<'_>) -> io::Result<()> {
    let gone = &report.gone;
    let shortened = match gone.shortened.len() {
        0 => String::new(),
        others => format!(", and {} of {others} more", counted(gone.turns, "message", "messages")),
    };
    printer.line(format!("deleted {}{shortened}", counted(gone.removed.len() as u64, "conversation", "conversations")))?;
    if report.searched_again > 0 {
        let searches = counted(report.searched_again as u64, "search", "searches");
        printer.line(format!("verified with {searches}: {} found deleted text", report.found_again))?;
    }
    printer.note("the files of the hosts are unchanged");
    Ok(())
}
