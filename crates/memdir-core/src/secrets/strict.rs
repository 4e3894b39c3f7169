//! What is a secret where nobody looks before it is kept, as in a conversation: any value given to a password, and what
//! follows `Bearer`. In a memory these would refuse too much.

use super::{Finding, Severity, near};
use regex::Regex;
use std::sync::LazyLock;

/// Names of rules with their shapes; the group `v` is the value.
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

/// Everything of these shapes, in no order.
pub(super) fn find(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    for (rule, shape) in SHAPES.iter() {
        for captures in shape.captures_iter(text) {
            let Some(value) = captures.name("v") else { continue };
            if is_secret(value.as_str()) {
                found.push(Finding { rule, line: 0, span: value.range(), severity: Severity::Warn });
            }
        }
    }
    found
}

/// A word, a name of a variable and a call are none; whatever has a digit or a sign in it may be one.
fn is_secret(value: &str) -> bool {
    let is_mixed = value.chars().any(|c| c.is_ascii_digit() || "!@#$%^&*+?~".contains(c));
    is_mixed && !near::is_placeholder(value) && !value.starts_with(['$', '%', '/', '.', '~', '*']) && !value.contains("::")
}
