//! What the tests read out of a Markdown page: its links, anchors, paragraphs and sentences.

use regex::Regex;
use std::{borrow::Cow, collections::HashSet};

/// The page without the commands that its examples need first.
pub(super) fn without_setup(text: &str) -> Cow<'_, str> {
    Regex::new(r"(?s)<!-- setup\n.*?\n-->").unwrap().replace_all(text, "")
}

/// The lines outside of code blocks and comments, with inline code replaced by a word.
fn prose(text: &str) -> Vec<String> {
    let text = without_setup(text);
    let code = Regex::new("`[^`]*`").unwrap();
    let mut fence = None;
    let mut lines = Vec::new();
    for line in text.lines() {
        let mark = line.trim_start().chars().take_while(|c| *c == '`').count();
        match fence {
            None if mark >= 3 => fence = Some(mark),
            Some(open) if mark >= open => fence = None,
            Some(_) => {}
            None => lines.push(code.replace_all(line, "code").into_owned()),
        }
    }
    lines
}

/// The targets of inline links, images and reference definitions.
pub(super) fn links(text: &str) -> Vec<String> {
    let link = Regex::new(r#"\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)|(?:src|href)="([^"]+)""#).unwrap();
    let text = prose(text);
    let found = text.iter().flat_map(|line| link.captures_iter(line));
    found.filter_map(|found| found.iter().skip(1).flatten().next().map(|target| target.as_str().to_owned())).collect()
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
pub(super) fn anchors(text: &str) -> HashSet<String> {
    let mut anchors = HashSet::new();
    let mut in_code = false;
    for line in text.lines() {
        in_code ^= line.starts_with("```");
        let Some(heading) = line.strip_prefix('#').filter(|_| !in_code) else { continue };
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        anchors.insert(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
    }
    anchors
}

/// Paragraphs and list items, each on one line. Tables, headings and comments are left out.
pub(super) fn paragraphs(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut open = false;
    for line in prose(text) {
        let line = line.trim();
        let begins =
            line.starts_with("- ") || line.starts_with("* ") || line.split_once(". ").is_some_and(|(n, _)| n.parse::<u8>().is_ok());
        if line.is_empty() || line.starts_with(['|', '#', '<']) {
            open = false;
        } else if open && !begins {
            let last = out.last_mut().unwrap();
            last.push(' ');
            last.push_str(line);
        } else {
            out.push(line.trim_start_matches(['-', '*', ' ']).to_owned());
            open = true;
        }
    }
    out
}

/// A full stop inside of a word, as in a file name, ends no sentence.
pub(super) fn sentences(paragraph: &str) -> Vec<String> {
    let end = Regex::new(r"[.!?](?:\s+|$)").unwrap();
    end.split(paragraph).filter(|sentence| !sentence.trim().is_empty()).map(str::to_owned).collect()
}
