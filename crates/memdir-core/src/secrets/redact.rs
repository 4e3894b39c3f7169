//! Redaction: replaces secrets in text. Never reports the value that was replaced.

use super::{SecretFinding, SecretSeverity, disjoint, scan, strict};
use crate::base::frame;
use std::borrow::Cow;

/// Redacts text before it is shown or injected: replaces every secret that a write would refuse with `[secret: RULE]`.
///
/// Everything that enters a conversation unasked goes through this function: prompts, session texts, recalled memories, search
/// hits, lists and entrypoint lines. What a caller may write back (reads, resources, exports) must not, so that a read followed
/// by a write changes nothing.
///
/// Line breaks stay, so that line numbers stay true; redacting twice changes nothing. A suspected secret stays readable: it was
/// written with a warning, and hiding a wrong guess would lose the memory. Redact before cutting: a secret that is cut off is not
/// recognised any more.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut findings = scan(text);
    findings.retain(|finding| finding.severity == SecretSeverity::Refuse);
    replace(text, &findings)
}

/// Prepares a text that is injected into a conversation: its secrets are redacted, and it neither opens nor closes a frame.
pub fn injected(text: &str) -> Cow<'_, str> {
    match redact(text) {
        Cow::Borrowed(text) => frame::neutral(text),
        Cow::Owned(text) => Cow::Owned(frame::neutral(&text).into_owned()),
    }
}

/// Redacts text before it is kept without a review, such as a conversation: replaces suspected secrets too. A wrong guess costs a
/// word of a conversation; a missed secret would be found by every search.
pub fn redact_strict(text: &str) -> Cow<'_, str> {
    let mut findings = scan(text);
    findings.extend(strict::find(text));
    replace(text, &disjoint(findings))
}

fn replace<'t>(text: &'t str, findings: &[SecretFinding]) -> Cow<'t, str> {
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
