//! `memdir chats forget`: removes conversations from the archive, with their index and vectors, and prevents them from being archived again.

use super::{counted, directory};
use crate::{
    args::ChatsForgetArgs,
    config::Settings,
    exit::Failure,
    mounts::{self, chat_archive},
    output::{CommandOutput, Printer},
    spaces,
};
use memdir_chats::{ChatArchive, ChatSection, ForgetOutcome, ForgetRule};
use memdir_core::{
    Clock as _, Phrase, Search, SystemClock,
    internal::base::{text, time::parse_since},
};
use serde::Serialize;
use std::{collections::BTreeMap, fs, io, path::PathBuf};

/// The number of forgotten turns per file that are searched for afterwards.
const VERIFIED_TURNS: usize = 3;

#[derive(Serialize)]
struct Forgot {
    #[serde(flatten)]
    outcome: ForgetOutcome,
    /// The number of searches for forgotten turns that were made afterwards.
    searched_again: usize,
    /// The number of those that found one: 0 unless something is wrong.
    found_again: usize,
    /// Candidates that quoted only forgotten conversations, and went with them.
    candidates: usize,
}

pub(crate) fn run(args: &ChatsForgetArgs, settings: &Settings) -> Result<CommandOutput, Failure> {
    if args.session.is_none() && args.project.is_none() && args.before.is_none() {
        return Err(Failure::Usage {
            message: "no conversations selected".into(),
            hint: "pass a conversation id, --project or --before; list the conversations with: memdir chats".into(),
        });
    }
    let archive = chat_archive(settings);
    let session = args.session.as_deref().map(|session| archive.find(session)).transpose()?;
    let rule = ForgetRule {
        session: session.map(|chat| chat.name()),
        project: args.project.as_deref().map(|dir| directory(dir, settings)).transpose()?,
        before: args.before.as_deref().map(|before| parse_since("--before", before, &SystemClock)).transpose()?,
        ..ForgetRule::default()
    };
    let before = turns(&archive)?;
    let names: BTreeMap<PathBuf, String> = archive.list()?.chats.into_iter().map(|file| (file.path, file.chat.name())).collect();
    let outcome = archive.forget(&rule, SystemClock.now())?;
    let candidates = forget_candidates(settings, &names, &outcome)?;
    let (searched_again, found_again) = verify(settings, &archive, &before, &outcome)?;
    Ok(CommandOutput::new(Forgot { outcome, searched_again, found_again, candidates }, show))
}

/// Forgets the candidates, open and rejected, that quote only conversations which are gone, with their history. Returns their number.
fn forget_candidates(settings: &Settings, names: &BTreeMap<PathBuf, String>, outcome: &ForgetOutcome) -> Result<usize, Failure> {
    let gone: Vec<&String> = outcome.removed.iter().filter_map(|path| names.get(path)).collect();
    let mut count = 0;
    if gone.is_empty() {
        return Ok(count);
    }
    for mount in mounts::all_inboxes(settings) {
        let memdir = spaces::open_mounts(settings, &[mount], &settings.actor.value)?;
        let candidates = memdir.inbox()?.open.into_iter().chain(memdir.rejected_candidates()?);
        for candidate in candidates {
            if candidate.sessions.is_empty() || !candidate.sessions.iter().all(|session| gone.contains(&session)) {
                continue;
            }
            // Its text is forgotten in the history as well, by the longest part that is written in the file as it was typed.
            let parts = candidate.words.split(['"', '\\', '\n', '…']);
            let words = parts.max_by_key(|part| part.len()).unwrap_or_default();
            memdir.forget(&Phrase::parse(text::truncate_bytes(words, 1_000)).or_else(|_| Phrase::parse(&candidate.name))?)?;
            count += 1;
        }
    }
    Ok(count)
}

/// The titles and turns of the archive, by file.
type Turns = BTreeMap<PathBuf, (String, Vec<ChatSection>)>;

fn turns(archive: &ChatArchive) -> Result<Turns, Failure> {
    let mut all = Turns::new();
    for file in archive.list()?.chats {
        if let Some((chat, sections)) = archive.read(file.chat.host, &file.chat.key)? {
            all.insert(file.path, (chat.title, sections));
        }
    }
    Ok(all)
}

/// Rebuilds the index and vectors, and searches for what was forgotten. Returns the number of searches and of those that found it.
fn verify(settings: &Settings, archive: &ChatArchive, before: &Turns, outcome: &ForgetOutcome) -> Result<(usize, usize), Failure> {
    let changed: Vec<&PathBuf> = outcome.removed.iter().chain(&outcome.shortened).collect();
    let Some((memdir, index)) = spaces::open_archived_chats(settings)?.filter(|_| !changed.is_empty()) else { return Ok((0, 0)) };
    match fs::remove_dir_all(&index) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => return Err(Failure::File { doing: "remove", path: index, source }),
        _ => {}
    }
    memdir.searcher()?.index(memdir.store(), true, &|_| {})?;
    let after = turns(archive)?;
    let (mut searched, mut found) = (0, 0);
    for path in changed {
        let (title, left) = after.get(path).map_or(("", &[][..]), |(title, left)| (title.as_str(), left.as_slice()));
        let all = before.get(path).map_or(&[][..], |(_, all)| all.as_slice());
        let forgotten = all.iter().filter(|section| !section.text.is_empty() && !left.iter().any(|left| left.text == section.text));
        for section in forgotten.take(VERIFIED_TURNS) {
            searched += 1;
            // The title may come from a turn that is kept and begins alike.
            if title_quotes(title, section) && !left.iter().any(|kept| title_quotes(title, kept)) {
                found += 1;
                continue;
            }
            let words: String = section.text.chars().take(200).collect();
            let search = Search { max_results: 20, min_score: 0.0, ..Search::new(words) };
            let answer = memdir.searcher()?.search(memdir.store(), &search)?;
            let name = path.strip_prefix(archive.dir()).unwrap_or(path).with_extension("").to_string_lossy().into_owned();
            // The hit may be in a part of the conversation, and a turn that is kept may repeat what was forgotten.
            let is_forgotten = |hit: &memdir_core::Hit| {
                let text = without_heading(&hit.text);
                let is_in = |section: &ChatSection| section.text.contains(text);
                hit.path.as_str().contains(&name) && !text.is_empty() && is_in(section) && !left.iter().any(is_in)
            };
            found += usize::from(answer.hits.iter().any(is_forgotten));
        }
    }
    Ok((searched, found))
}

/// The text of a turn, or of a part of it, without the line that names the speaker and the time.
fn without_heading(text: &str) -> &str {
    text.strip_prefix("## ").map_or(text, |rest| rest.split_once('\n').map_or("", |(_, text)| text)).trim()
}

/// Whether a title is the beginning of a forgotten section.
fn title_quotes(title: &str, section: &ChatSection) -> bool {
    let title = text::one_line(title.trim_end_matches('…'));
    !title.is_empty() && text::one_line(&section.text).starts_with(&title)
}

fn show(forgot: &Forgot, printer: &mut Printer<'_>) -> io::Result<()> {
    let outcome = &forgot.outcome;
    let (removed, shortened) = (outcome.removed.len() as u64, outcome.shortened.len() as u64);
    let turns = counted(outcome.turns, "turn", "turns");
    printer.line(match (removed, shortened) {
        (_, 0) => format!("forgot {}", counted(removed, "conversation", "conversations")),
        (0, _) => format!("forgot {turns} of {}", counted(shortened, "conversation", "conversations")),
        _ => {
            format!("forgot {} and {turns} of {}", counted(removed, "conversation", "conversations"), counted(shortened, "other", "others"))
        }
    })?;
    if forgot.searched_again > 0 {
        let (found, searches) = (forgot.found_again, counted(forgot.searched_again as u64, "search", "searches"));
        printer.line(match found {
            0 => format!("verified: the deleted text was not found ({searches})"),
            _ => format!(
                "not verified: {found} of {searches} still found deleted text; to remove it everywhere, pass words of it to: memdir forget"
            ),
        })?;
    }
    if forgot.candidates > 0 {
        printer.line(format!(
            "forgot {} that quoted only these conversations",
            counted(forgot.candidates as u64, "inbox candidate", "inbox candidates")
        ))?;
    }
    printer.note("the hosts' own transcripts are unchanged");
    Ok(())
}
