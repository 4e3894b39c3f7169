//! Finds secrets in text by the shape of well-known tokens. Pure; never stores, returns or prints a value.
//!
//! An ordinary memory is read once against a table of the rules' literal words. Only a line that holds such a word is
//! looked at by that word's rules, whose expressions are compiled when first needed.

mod near;
mod rules;
mod strict;
mod words;

use crate::base::text::truncate_bytes;
use regex::{Regex, RegexBuilder};
use rules::{Needs, RULES, Reach, Rule};
use std::{borrow::Cow, ops::Range, sync::OnceLock};

/// How sure a rule is, and so what a write does about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The shape has a name: the write is refused.
    Refuse,
    /// It may be a secret: the write is made and the writer told.
    Warn,
}

/// A place that looks like a secret.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    /// The rule's name.
    pub rule: &'static str,
    /// The line it begins on, 1-based.
    pub line: u64,
    /// The bytes of the value in the text that was scanned.
    #[serde(skip)]
    pub span: Range<usize>,
    /// What a write does about it.
    pub severity: Severity,
}

/// Everything in the text that looks like a secret, in the order of the text, no two overlapping.
pub fn scan(text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (rule, line) in candidates(text) {
        find_in(text, rule, &line, &mut findings);
    }
    disjoint(findings)
}

/// What `new` has and `old` had not: a change answers only for what it adds.
pub fn added(old: &str, new: &str) -> Vec<Finding> {
    let mut findings = scan(new);
    findings.retain(|finding| !old.contains(&new[finding.span.clone()]));
    findings
}

/// The text with every refused secret replaced by its rule's name. Lines stay where they are, so that numbers stay true.
/// What is only suspected stays readable: it was written with a warning, and hiding a wrong guess would lose the memory.
pub fn mask(text: &str) -> Cow<'_, str> {
    let mut findings = scan(text);
    findings.retain(|finding| finding.severity == Severity::Refuse);
    without(text, &findings)
}

/// The text with everything replaced that may be a secret, suspected ones too: for what nobody has looked at before it is
/// kept. A wrong guess costs a word of a conversation, a right one would be found by every search.
pub fn mask_all(text: &str) -> Cow<'_, str> {
    let mut findings = scan(text);
    findings.extend(strict::find(text));
    without(text, &disjoint(findings))
}

fn without<'t>(text: &'t str, findings: &[Finding]) -> Cow<'t, str> {
    let mut out = String::new();
    let mut done = 0;
    for finding in findings {
        out.push_str(&text[done..finding.span.start]);
        out.push_str("[secret: ");
        out.push_str(finding.rule);
        out.push(']');
        out.extend(text[finding.span.clone()].chars().filter(|&c| c == '\n'));
        done = finding.span.end;
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// Names and meanings of all rules, in the order of the table: for help, documents and `allow` settings.
pub fn rules() -> impl Iterator<Item = (&'static str, Severity, &'static str)> {
    RULES.iter().map(|rule| (rule.name, rule.severity, rule.what))
}

/// What a person has declared harmless. Never filled from anything a model said.
#[derive(Debug, Clone, Default)]
pub struct Allow {
    rules: Vec<String>,
    values: Vec<Regex>,
}

impl Allow {
    /// Rules to leave out by name, and expressions for values to leave out. An unknown name or a bad expression is an error
    /// in words: a switch that silently does nothing would be taken for one that works.
    pub fn new(rules: &[String], values: &[String]) -> Result<Self, String> {
        if let Some(unknown) = rules.iter().find(|name| RULES.iter().all(|rule| rule.name != name.as_str())) {
            return Err(format!("there is no rule named {unknown:?}"));
        }
        let values = values.iter().map(|pattern| Regex::new(pattern).map_err(|err| format!("{pattern:?}: {err}")));
        Ok(Allow { rules: rules.to_vec(), values: values.collect::<Result<_, _>>()? })
    }

    /// The same with more rules left out.
    pub fn with_rules(&self, rules: &[String]) -> Result<Self, String> {
        let more = Allow::new(rules, &[])?;
        Ok(Allow { rules: [self.rules.as_slice(), &more.rules].concat(), values: self.values.clone() })
    }

    /// The findings that stay. `text` is the text that was scanned.
    pub fn filter(&self, text: &str, mut findings: Vec<Finding>) -> Vec<Finding> {
        findings.retain(|finding| {
            let value = &text[finding.span.clone()];
            !self.rules.iter().any(|rule| rule == finding.rule) && !self.values.iter().any(|pattern| pattern.is_match(value))
        });
        findings
    }
}

/// The first line of a place worth looking at.
struct Line {
    number: u64,
    start: usize,
}

/// The longest key in armour that is found whole. Bounds the work for a text made of nothing but headers.
const BLOCK_BYTES: usize = 64 << 10;

static PATTERNS: [OnceLock<Regex>; RULES.len()] = [const { OnceLock::new() }; RULES.len()];

/// Where each rule has to look, once per rule and line. Reads the text once, however long its lines are.
fn candidates(text: &str) -> Vec<(usize, Line)> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut looked = [usize::MAX; RULES.len()];
    let (mut number, mut start) = (1, 0);
    for (at, three) in bytes.windows(3).enumerate() {
        if three[0] == b'\n' {
            (number, start) = (number + 1, at + 1);
        } else if words::may_begin(three) {
            for rule in words::at(&bytes[at..]) {
                if std::mem::replace(&mut looked[rule], start) != start {
                    found.push((rule, Line { number, start }));
                }
            }
        }
    }
    found
}

fn find_in(text: &str, at: usize, line: &Line, findings: &mut Vec<Finding>) {
    let rule = &RULES[at];
    let rest = &text[line.start..];
    let first = &rest[..rest.find('\n').unwrap_or(rest.len())];
    if !shows(first, rule.needs) {
        return;
    }
    let window = match rule.reach {
        Reach::Line => first,
        Reach::Block => truncate_bytes(rest, BLOCK_BYTES),
    };
    let pattern = PATTERNS[at].get_or_init(|| compile(rule.pattern));
    for captures in pattern.captures_iter(window) {
        let whole = captures.get_match();
        if rule.reach == Reach::Block && window[..whole.start()].contains('\n') {
            break; // It begins on a later line, which is a candidate of its own.
        }
        let value = captures.name("v").unwrap_or(whole);
        let Some(severity) = judge(rule, &captures, value.as_str()) else { continue };
        let span = line.start + value.start()..line.start + value.end();
        findings.push(Finding { rule: rule.name, line: line.number, span, severity });
    }
}

fn shows(line: &str, needs: Needs) -> bool {
    match needs {
        Needs::Byte(byte) => line.as_bytes().contains(&byte),
        Needs::Long(length) => line.as_bytes().split(u8::is_ascii_whitespace).any(|run| run.len() >= length),
        Needs::Run(length) => {
            line.as_bytes().split(u8::is_ascii_whitespace).any(|run| run.len() >= length && run.iter().any(u8::is_ascii_digit))
        }
    }
}

/// Tokens are ASCII. Without Unicode tables an expression compiles several times faster.
fn compile(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).unicode(false).build().expect("the table's patterns are tested")
}

fn judge(rule: &Rule, captures: &regex::Captures<'_>, value: &str) -> Option<Severity> {
    if near::is_placeholder(value) || near::entropy(value) < rule.entropy {
        return None;
    }
    if matches!(rule.needs, Needs::Long(_)) && !value.bytes().any(|byte| byte.is_ascii_digit()) && !near::is_random_letters(value) {
        return None;
    }
    match rule.judge {
        Some(judge) => judge(captures, value),
        None => Some(rule.severity),
    }
}

/// Of findings that overlap the surer one stays, then the one whose rule comes first in the table.
fn disjoint(mut findings: Vec<Finding>) -> Vec<Finding> {
    let place = |name: &str| RULES.iter().position(|rule| rule.name == name).unwrap_or(RULES.len());
    findings.sort_by_key(|finding| (finding.severity, place(finding.rule), finding.span.start));
    let mut kept: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        if kept.iter().all(|other| other.span.end <= finding.span.start || finding.span.end <= other.span.start) {
            kept.push(finding);
        }
    }
    kept.sort_by_key(|finding| finding.span.start);
    kept
}
