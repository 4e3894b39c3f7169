//! From signals to an ordered list. Pure, and independent of the requested number of hits.

use crate::{
    base::day::{Day, starts_with_date},
    memory::validity::Outdated,
    search::{
        index::UnitCandidate,
        ranking::{self, Scale},
    },
    store::Source,
};
use jiff::{Timestamp, tz::TimeZone};
use std::{cmp::Ordering, collections::HashSet};

/// A candidate with its score.
#[derive(Debug, Clone)]
pub(crate) struct RankedCandidate {
    pub(crate) mount: usize,
    pub(crate) source: Source,
    pub(crate) candidate: UnitCandidate,
    /// The score of the hit.
    pub(crate) score: f32,
    /// The score of the match alone, without regard to the hits above it.
    pub(crate) own_score: f32,
    /// The factor by which the age of a log reduced it.
    pub(crate) decay: Option<f32>,
    /// The number of the query that it answers best: a pasted text is several.
    pub(crate) asked: usize,
    /// Whether it can be trusted.
    pub(crate) status: OutdatedStatus,
}

/// Whether a memory is to be shown as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct OutdatedStatus {
    /// Why it ranks behind other memories.
    pub(crate) outdated: Option<Outdated>,
    /// The memory of the same mount that is shown instead, by its name in the mount.
    pub(crate) successor: Option<String>,
}

/// The half-life of a dated log's score. Nothing else is ranked by its age.
const HALF_LIFE_DAYS: f32 = 30.0;

/// Scores the candidates of all mounts, best first. Of near duplicates within a file only the first stays.
pub(super) fn fuse(
    candidates: Vec<(usize, Source, UnitCandidate)>,
    mass: f32,
    scale: Scale,
    decay: Option<Timestamp>,
    status: &dyn Fn(usize, &str) -> OutdatedStatus,
) -> Vec<RankedCandidate> {
    let mut ranked: Vec<RankedCandidate> = candidates
        .into_iter()
        .map(|(mount, source, candidate)| {
            let score = ranking::score(&candidate.parts, candidate.assistant, mass, candidate.cosine, scale);
            let age = decay.and_then(|now| log_day(&candidate.path).map(|day| days_between(day, now)));
            let decay = age.map(|days| 0.5f32.powf(days / HALF_LIFE_DAYS));
            let score = score * decay.unwrap_or(1.0);
            let status = status(mount, &candidate.path);
            RankedCandidate { mount, source, candidate, score, own_score: score, decay, asked: 0, status }
        })
        .collect();
    ranked.sort_by(order);
    collapse(ranked)
}

/// The share of the best memory's score with which a memory is taken for an answer.
const ANSWERS: f32 = 0.9;

/// Merges the candidates of several queries: each unit once, with its best score.
pub(super) fn merge(mut ranked: Vec<RankedCandidate>, min_score: f32) -> Vec<RankedCandidate> {
    ranked.iter_mut().for_each(|one| one.score = one.own_score);
    ranked.sort_by(order);
    let mut seen = HashSet::new();
    ranked.retain(|one| seen.insert((one.mount, one.candidate.path.clone(), one.candidate.first)));
    let (chats, curated) = ranked.into_iter().partition(|one| one.source == Source::Chat);
    share(collapse(curated), collapse(chats), min_score)
}

/// Orders by score; of equals a memory before a chat, then by name and line.
fn order(a: &RankedCandidate, b: &RankedCandidate) -> Ordering {
    let place = |r: &RankedCandidate| (r.source, r.mount, r.candidate.path.clone(), r.candidate.first);
    b.score.total_cmp(&a.score).then_with(|| place(a).cmp(&place(b)))
}

/// Merges memories and chats into one list. As long as a memory with enough score is left, chats never outnumber the memories above
/// them: there are a hundred times as many turns as memories, and a memory was kept on purpose. What the user wrote in a chat, which
/// is mostly the same question, is below all memories that answer it. A chat never scores more than the hit above it.
pub(super) fn share(memories: Vec<RankedCandidate>, chats: Vec<RankedCandidate>, min_score: f32) -> Vec<RankedCandidate> {
    let is_good = |ranked: &RankedCandidate| ranked.score >= min_score;
    let (good, weak): (Vec<RankedCandidate>, Vec<RankedCandidate>) = memories.into_iter().partition(is_good);
    let good = outdated_last(good);
    let (good_chats, weak_chats): (Vec<RankedCandidate>, Vec<RankedCandidate>) = chats.into_iter().partition(is_good);
    let mut all = Vec::with_capacity(good.len() + good_chats.len() + weak.len() + weak_chats.len());
    let (answers, questions): (Vec<RankedCandidate>, Vec<RankedCandidate>) =
        good_chats.into_iter().partition(|chat| good.is_empty() || chat.candidate.assistant);
    let answering = good.first().map_or(f32::INFINITY, |best| ANSWERS * best.score);
    let (mut good, mut answers, mut questions) =
        (good.into_iter().peekable(), answers.into_iter().peekable(), questions.into_iter().peekable());
    let (mut taken, mut taken_chats) = (0_usize, 0_usize);
    while let Some(memory) = good.peek() {
        let question = questions.peek().filter(|_| memory.score < answering);
        let is_question = question.is_some_and(|question| answers.peek().is_none_or(|answer| order(question, answer) == Ordering::Less));
        let chat = if is_question { question } else { answers.peek() };
        if taken_chats <= taken && chat.is_some_and(|chat| order(chat, memory) == Ordering::Less) {
            all.extend(if is_question { questions.next() } else { answers.next() });
            taken_chats += 1;
        } else {
            all.extend(good.next());
            taken += 1;
        }
    }
    let mut others: Vec<RankedCandidate> = answers.chain(questions).collect();
    others.sort_by(order);
    all.extend(others);
    let mut above = f32::INFINITY;
    for ranked in &mut all {
        ranked.score = ranked.score.min(above);
        above = ranked.score;
    }
    let mut rest: Vec<RankedCandidate> = weak.into_iter().chain(weak_chats).collect();
    rest.sort_by(order);
    all.extend(rest);
    all
}

/// Moves outdated memories below the others, with at most their scores. A superseded memory is left out if its successor is above it, by
/// itself or for another memory.
fn outdated_last(memories: Vec<RankedCandidate>) -> Vec<RankedCandidate> {
    let (current, outdated): (Vec<RankedCandidate>, Vec<RankedCandidate>) =
        memories.into_iter().partition(|one| one.status.outdated.is_none());
    let mut shown: HashSet<(usize, String)> = HashSet::new();
    let mut all: Vec<RankedCandidate> = Vec::with_capacity(current.len() + outdated.len());
    for mut one in current.into_iter().chain(outdated) {
        let is_new = shown.insert((one.mount, one.status.successor.clone().unwrap_or_else(|| one.candidate.path.clone())));
        if is_new || one.status.successor.is_none() {
            one.score = one.score.min(all.last().map_or(f32::INFINITY, |above| above.score));
            all.push(one);
        }
    }
    all
}

fn collapse(ranked: Vec<RankedCandidate>) -> Vec<RankedCandidate> {
    let mut kept: Vec<RankedCandidate> = Vec::with_capacity(ranked.len());
    for next in ranked {
        let same_file = |k: &&RankedCandidate| k.mount == next.mount && k.candidate.path == next.candidate.path;
        if !kept.iter().filter(same_file).any(|k| k.candidate.sketch.is_near(&next.candidate.sketch)) {
            kept.push(next);
        }
    }
    kept
}

/// The date of a log: `logs/2024/05/...`, `memory/2024-05-01.md`, `2024-05-01.md`. Other files are evergreen.
pub(super) fn log_day(path: &str) -> Option<Day> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if starts_with_date(name.as_bytes()) {
        return Day::find(&name[..10]);
    }
    let (_, rest) = path.split_once("logs/").filter(|(before, _)| before.is_empty() || before.ends_with('/'))?;
    let mut parts = rest.split('/');
    let (year, month) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let day = parts.next().and_then(|name| name.get(..2)).and_then(|digits| digits.parse().ok()).unwrap_or(1);
    Day::new(year, month, day)
}

fn days_between(day: Day, now: Timestamp) -> f32 {
    let date = jiff::civil::Date::new(day.year as i16, day.month.max(1) as i8, day.day.max(1) as i8);
    let then = date.ok().and_then(|date| date.to_zoned(TimeZone::UTC).ok()).map_or(now, |zoned| zoned.timestamp());
    ((now.as_second() - then.as_second()) as f32 / 86_400.0).max(0.0)
}
