//! Finds secrets in text by the shape of well-known tokens, and redacts them. Pure; never stores, returns or prints a value. The rules are
//! fixed when memdir is built; settings can only allow what they find.
//!
//! An ordinary memory is scanned once for the literals of all rules. Only on a line with such a literal are the regular
//! expressions of its rules run; each is compiled when it is first needed.

mod false_positives;
mod prefilter;
mod redact;
mod rules;
mod strict;

pub use redact::{injected, redact, redact_strict};

use crate::base::{steps, text::LineCounter};
use regex::{Regex, RegexBuilder};
use rules::{MatchExtent, Needs, RULES, SecretRule};
use std::{
    collections::{BTreeMap, HashSet},
    ops::Range,
    sync::OnceLock,
};

/// Secrets of a change that are searched in the old text one by one; further ones count as added.
const SECRET_SEARCHES: usize = 100;

/// How certain a rule is, which decides what a write does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SecretSeverity {
    /// The token has a known shape: the write is refused.
    Refuse,
    /// It may be a secret: the write succeeds with a warning.
    Warn,
}

/// A range of text that looks like a secret.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct SecretFinding {
    /// The rule's name.
    pub rule: &'static str,
    /// The line it begins on, 1-based.
    pub line: u64,
    /// The bytes of the value in the scanned text.
    #[serde(skip)]
    pub span: Range<usize>,
    /// What a write does about it.
    pub severity: SecretSeverity,
}

/// Returns everything in the text that looks like a secret, in the order of the text, without overlaps.
pub fn scan(text: &str) -> Vec<SecretFinding> {
    let mut findings = Vec::new();
    // A rule that reads on below its line is run once, from its first line to the end of the text: from every line it would take
    // quadratic time on a text that consists of headers only.
    let mut has_read_on = [false; RULES.len()];
    for (rule, line) in candidates(text) {
        if !has_read_on[rule] {
            let is_run = match_rule(text, rule, &line, &mut findings);
            has_read_on[rule] = is_run && RULES[rule].reach == MatchExtent::Block;
        }
    }
    disjoint(findings)
}

/// Returns the secrets of `new` that are not in `old`: a change is responsible only for what it adds.
pub fn added(old: &str, new: &str) -> Vec<SecretFinding> {
    let mut findings = scan(new);
    if findings.is_empty() {
        return findings;
    }
    let known: HashSet<&str> = scan(old).iter().map(|finding| &old[finding.span.clone()]).collect();
    // The value may be in `old` without the words that make it a secret. That search reads all of `old`, so it has a limit; beyond
    // it a value counts as added.
    let mut searches = 0;
    findings.retain(|finding| {
        let value = &new[finding.span.clone()];
        let is_known = known.contains(value) || {
            searches += 1;
            searches <= SECRET_SEARCHES && old.contains(value)
        };
        !is_known
    });
    findings
}

/// Lists the name, severity and description of all rules, in the order of the table.
pub fn rules() -> impl Iterator<Item = (&'static str, SecretSeverity, &'static str)> {
    RULES.iter().map(|rule| (rule.name, rule.severity, rule.what))
}

/// The allow list: rules and values that the user has declared harmless. Never filled from anything a model wrote.
#[derive(Debug, Clone, Default)]
pub struct Allow {
    rules: Vec<String>,
    values: Vec<Regex>,
}

impl Allow {
    /// Creates an allow list of rule names and of regular expressions for values. An unknown name or an invalid expression is an
    /// error: a setting that silently does nothing would be taken for one that works.
    pub fn new(rules: &[String], values: &[String]) -> Result<Self, String> {
        if let Some(unknown) = rules.iter().find(|name| RULES.iter().all(|rule| rule.name != name.as_str())) {
            return Err(format!("unknown secret rule {unknown:?}"));
        }
        let values = values.iter().map(|pattern| Regex::new(pattern).map_err(|err| format!("{pattern:?}: {err}")));
        Ok(Allow { rules: rules.to_vec(), values: values.collect::<Result<_, _>>()? })
    }

    /// Returns the list with more rules.
    pub fn with_rules(&self, rules: &[String]) -> Result<Self, String> {
        let more = Allow::new(rules, &[])?;
        Ok(Allow { rules: [self.rules.as_slice(), &more.rules].concat(), values: self.values.clone() })
    }

    /// Returns the findings that are not allowed. `text` is the scanned text.
    pub fn filter(&self, text: &str, mut findings: Vec<SecretFinding>) -> Vec<SecretFinding> {
        findings.retain(|finding| {
            let value = &text[finding.span.clone()];
            !self.rules.iter().any(|rule| rule == finding.rule) && !self.values.iter().any(|pattern| pattern.is_match(value))
        });
        findings
    }
}

/// The line on which a rule is run.
struct CandidateLine {
    number: u64,
    start: usize,
}

static PATTERNS: [OnceLock<Regex>; RULES.len()] = [const { OnceLock::new() }; RULES.len()];

/// Returns which rules to run on which lines, each pair once. Reads the text once, however long its lines are.
fn candidates(text: &str) -> Vec<(usize, CandidateLine)> {
    let bytes = text.as_bytes();
    steps::count(bytes.len());
    let mut found = Vec::new();
    let mut looked = [usize::MAX; RULES.len()];
    let (mut number, mut start) = (1, 0);
    for (at, three) in bytes.windows(3).enumerate() {
        if three[0] == b'\n' {
            (number, start) = (number + 1, at + 1);
        } else if prefilter::may_begin(three) {
            for rule in prefilter::rules_at(&bytes[at..]) {
                if std::mem::replace(&mut looked[rule], start) != start {
                    found.push((rule, CandidateLine { number, start }));
                }
            }
        }
    }
    found
}

/// Runs a rule from a line. Returns whether the line has what the rule needs.
fn match_rule(text: &str, at: usize, line: &CandidateLine, findings: &mut Vec<SecretFinding>) -> bool {
    let rule = &RULES[at];
    let rest = &text[line.start..];
    let first = &rest[..rest.find('\n').unwrap_or(rest.len())];
    steps::count(first.len());
    if !fulfils(first, rule.needs) {
        return false;
    }
    let window = match rule.reach {
        MatchExtent::Line => first,
        MatchExtent::Block => rest,
    };
    steps::count(window.len());
    let pattern = PATTERNS[at].get_or_init(|| compile(rule.pattern));
    let mut lines = LineCounter::new(window);
    for captures in pattern.captures_iter(window) {
        let whole = captures.get_match();
        let value = captures.name("v").unwrap_or(whole);
        let Some(severity) = match_severity(rule, &captures, value.as_str()) else { continue };
        let span = line.start + value.start()..line.start + value.end();
        let number = line.number + lines.line_at(whole.start()) - 1;
        findings.push(SecretFinding { rule: rule.name, line: number, span, severity });
    }
    true
}

fn fulfils(line: &str, needs: Needs) -> bool {
    match needs {
        Needs::Byte(byte) => line.as_bytes().contains(&byte),
        Needs::Long(length) => line.as_bytes().split(u8::is_ascii_whitespace).any(|run| run.len() >= length),
        Needs::Run(length) => {
            line.as_bytes().split(u8::is_ascii_whitespace).any(|run| run.len() >= length && run.iter().any(u8::is_ascii_digit))
        }
    }
}

/// Compiles a rule. Tokens are ASCII, and without Unicode tables an expression compiles several times faster.
fn compile(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).build().expect("the table's patterns are tested")
}

/// The severity of a match, or `None` if it only resembles a secret.
fn match_severity(rule: &SecretRule, captures: &regex::Captures<'_>, value: &str) -> Option<SecretSeverity> {
    if false_positives::is_placeholder(value) || false_positives::entropy(value) < rule.entropy {
        return None;
    }
    if matches!(rule.needs, Needs::Long(_))
        && !value.bytes().any(|byte| byte.is_ascii_digit())
        && !false_positives::is_random_letters(value)
    {
        return None;
    }
    match rule.review {
        Some(review) => review(captures, value),
        None => Some(rule.severity),
    }
}

/// Removes overlaps: the more certain finding stays, then the one whose rule comes first in the table.
fn disjoint(mut findings: Vec<SecretFinding>) -> Vec<SecretFinding> {
    let place = |name: &str| RULES.iter().position(|rule| rule.name == name).unwrap_or(RULES.len());
    findings.sort_by_cached_key(|finding| (finding.severity, place(finding.rule), finding.span.start));
    let mut kept: BTreeMap<usize, SecretFinding> = BTreeMap::new();
    for finding in findings {
        steps::count(1);
        // The findings that are kept do not overlap, so only the last one that begins before this one's end can overlap it.
        let overlaps = kept.range(..finding.span.end).next_back().is_some_and(|(_, other)| other.span.end > finding.span.start);
        if !overlaps {
            kept.insert(finding.span.start, finding);
        }
    }
    kept.into_values().collect()
}
