//! Additional shapes for text that is kept without a review, such as a conversation: any value given to a password, and what
//! follows `Bearer`. For memories these would refuse too much.

use super::{SecretFinding, SecretSeverity, false_positives};
use crate::base::steps;
use regex::Regex;
use std::sync::LazyLock;

/// Rule names with their expressions; the group `v` is the value.
static SHAPES: LazyLock<[(&str, Regex); 2]> = LazyLock::new(|| {
    [
        (
            "password",
            shape(
                r#"(?i:passw(?:or)?d|passphrase|passwort|pwd|_pass)["'`]?[ \t]*(?:=>|:=|[:=])[ \t]*\\?["'`]?(?P<v>[^\s"'`,;<>(){}\[\]\\]{6,})"#,
            ),
        ),
        (
            "bearer-token",
            shape(r#"(?i:bearer|authorization["'`]?[ \t]*[:=][ \t]*["'`]?(?:basic|token))[ \t]+(?P<v>[A-Za-z0-9._~+/=-]{12,})"#),
        ),
    ]
});

fn shape(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the patterns are tested")
}

/// Returns everything of these shapes, in no particular order.
pub(super) fn find(text: &str) -> Vec<SecretFinding> {
    let mut found = Vec::new();
    for (rule, shape) in SHAPES.iter() {
        steps::count(text.len());
        for captures in shape.captures_iter(text) {
            let Some(value) = captures.name("v") else { continue };
            if is_secret(value.as_str()) {
                found.push(SecretFinding { rule, line: 0, span: value.range(), severity: SecretSeverity::Warn });
            }
        }
    }
    found
}

/// Whether a value may be a secret: it has a digit or a sign, and is not a variable, a path or a call.
fn is_secret(value: &str) -> bool {
    let is_mixed = value.chars().any(|c| c.is_ascii_digit() || "!@#$%^&*+?~".contains(c));
    is_mixed && !false_positives::is_placeholder(value) && !value.starts_with(['$', '%', '/', '.', '~', '*']) && !value.contains("::")
}
