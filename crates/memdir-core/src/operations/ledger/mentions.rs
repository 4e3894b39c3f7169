//! Finds the names of memories in a text: in the answer of an agent, and in the overview that a conversation starts with. Pure, and
//! linear in the text.

use crate::base::path::strip_md;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the memories that a text names. A name of one plain word, such as `deploy`, counts only as `deploy.md`, `` `deploy` `` or
/// `[[deploy]]`: otherwise every answer about deploying would cite it.
pub fn cited_names(text: &str, names: &BTreeSet<String>) -> BTreeSet<String> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '/' | '-' | '_' | '.' | '\'' | '+' | '@');
    let mut found = BTreeSet::new();
    let mut start = None;
    let mut before = None;
    // A blank at the end, so that the last word ends too.
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        if is_part(c) {
            start.get_or_insert((at, before));
        } else if let Some((from, opened_by)) = start.take() {
            let is_marked = matches!((opened_by, c), (Some('`'), '`') | (Some('['), ']'));
            found.extend(cited(&text[from..at], is_marked, names));
        }
        before = Some(c);
    }
    found
}

fn cited(word: &str, is_marked: bool, names: &BTreeSet<String>) -> Option<String> {
    // A sentence may end after the name.
    let word = word.trim_end_matches(['.', '\'']);
    let name = strip_md(word);
    let is_distinct = is_marked || name.len() != word.len() || name.contains(['/', '-', '_', '.']);
    is_distinct.then(|| names.get(name).cloned()).flatten()
}

/// Returns the memories whose lines an overview or an entrypoint has, each with the size of its lines in bytes:
/// `- notes/deploy — never on Fridays`, or `- [Deploy](notes/deploy.md) — never on Fridays`, where the link is relative to the mount with
/// this prefix.
pub fn listed_lines(text: &str, prefix: &str, names: &BTreeSet<String>) -> BTreeMap<String, usize> {
    let mut sizes = BTreeMap::new();
    for line in text.lines() {
        if let Some(name) = line_name(line, prefix, names) {
            *sizes.entry(name).or_insert(0) += line.len() + 1;
        }
    }
    sizes
}

fn line_name(line: &str, prefix: &str, names: &BTreeSet<String>) -> Option<String> {
    let rest = line.strip_prefix("- ")?;
    let name = rest.split(" — ").next().unwrap_or_default().trim_end();
    if let Some(name) = names.get(name) {
        return Some(name.clone());
    }
    let (target, _) = rest.split_once("](")?.1.split_once(')')?;
    let target = strip_md(target.trim_start_matches('<').trim_end_matches('>'));
    let name = if prefix.is_empty() { target.to_owned() } else { format!("{prefix}/{target}") };
    names.get(&name).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> BTreeSet<String> {
        list.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn an_answer_cites_names_but_not_plain_words() {
        let known = names(&["deploy", "notes/deploy", "user/style", "日本/設定", "a-b"]);
        let cited = |text: &str| cited_names(text, &known).into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(cited("We deploy on Monday."), "");
        assert_eq!(cited("See deploy.md."), "deploy");
        assert_eq!(cited("See `deploy` and [[deploy]]"), "deploy");
        assert_eq!(cited("As notes/deploy says, (user/style.md) too."), "notes/deploy user/style");
        assert_eq!(cited("other/notes/deploy, notes/deployment, xa-b"), "");
        assert_eq!(cited("「日本/設定」を見て"), "日本/設定");
        assert_eq!(cited(""), "");
    }

    #[test]
    fn an_overview_lists_names_and_links() {
        let known = names(&["deploy", "team/deploy", "notes/x y"]);
        let text = "# Memory\n- deploy — never on Fridays\n- notes/x y\n- [Deploy](deploy.md) — title\n- not there — x\ndeploy\n";
        let listed = |text: &str, prefix: &str| listed_lines(text, prefix, &known).into_iter().collect::<Vec<_>>();
        assert_eq!(listed(text, ""), [("deploy".to_owned(), 62), ("notes/x y".to_owned(), 12)]);
        assert_eq!(listed("- [Deploy](<deploy.md>) — x", "team"), [("team/deploy".to_owned(), 30)]);
    }
}
