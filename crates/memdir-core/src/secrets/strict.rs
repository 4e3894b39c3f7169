//! Additional shapes for text that is kept without a review, such as a conversation: any value given to a password, and what
//! follows `Bearer`. For memories these would refuse too much.

use super::{SecretFinding, SecretSeverity, false_positives};
use crate::base::steps;
use regex::{Captures, Match, Regex};
use std::sync::LazyLock;

/// What a value is, which decides how much like a secret it must look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueKind {
    /// A word after a name, in prose or code.
    Named,
    /// The argument of an option or a variable for a password: whatever it is, it is one.
    Argument,
}

/// A value in quotes or without them. One of the groups takes part in a match.
const VALUE: &str = r#"(?:'(?P<a>[^'\n]+)'|"(?P<b>[^"\n]+)"|(?P<c>[^\s"'`;|&<>()]+))"#;

/// Rule names with their expressions; one of the groups `v`, `a`, `b` and `c` is the value.
static SHAPES: LazyLock<[(&str, ValueKind, Regex); 6]> = LazyLock::new(|| {
    [
        (
            "password",
            ValueKind::Named,
            shape(
                r#"(?i:passw(?:or)?d|passphrase|passwort|pwd|_pass)["'`]?[ \t]*(?:=>|:=|[:=])[ \t]*\\?["'`]?(?P<v>[^\s"'`,;<>(){}\[\]\\]{6,})"#,
            ),
        ),
        (
            "bearer-token",
            ValueKind::Named,
            shape(r#"(?i:bearer|authorization["'`]?[ \t]*[:=][ \t]*["'`]?(?:basic|token))[ \t]+(?P<v>[A-Za-z0-9._~+/=-]{12,})"#),
        ),
        // `--password=x`, `PGPASSWORD=x psql`, `MYSQL_PWD=x mysql`.
        (
            "command-password",
            ValueKind::Argument,
            shape(&format!(
                r"(?:--[a-z-]*(?:password|passwd|passphrase|pass)|\b[A-Z0-9_]*(?:PASSWORD|PASSWD|PASSPHRASE|_PWD|_PASS))={VALUE}"
            )),
        ),
        // `mysql -px`, `sshpass -p x`, `redis-cli -a x`, `unzip -P x`. The option belongs to the same command of the line.
        (
            "command-password",
            ValueKind::Argument,
            shape(&format!(
                r"\b(?:sshpass[ \t]+-p[ \t]*|(?:(?:mysql|mariadb)[a-z-]*|7za?)[ \t](?:[^;|&\n]*?[ \t])?-p|(?:redis-cli[ \t](?:[^;|&\n]*?[ \t])?(?:-a|--pass)|(?:mongo[a-z]*|(?:docker|podman|oc|az|registry)[ \t]+login)[ \t](?:[^;|&\n]*?[ \t])?(?:-p|--password)|(?:sqlcmd|(?:un)?zip)[ \t](?:[^;|&\n]*?[ \t])?-P|openssl[ \t](?:[^;|&\n]*?[ \t])?-k|ldap[a-z]+[ \t](?:[^;|&\n]*?[ \t])?-w)[ \t]+){VALUE}"
            )),
        ),
        // `curl -u ada:x`, `http --auth ada:x`, `smbclient -U ada%x`, `openssl -passin pass:x`.
        (
            "command-password",
            ValueKind::Argument,
            shape(
                r#"(?:\b(?:curl|https?)[ \t](?:[^;|&\n]*?[ \t])?(?:-u[ \t]*|--user[ =]|--proxy-user[ =]|-a[ \t]+|--auth[ =])["']?[^\s:"'/]+:|\b(?:smb|rpc)client[ \t](?:[^;|&\n]*?[ \t])?-U[ \t]*["']?[^\s%"']+%|-pass(?:in|out)?[ \t]+pass:)(?P<v>[^\s"'`;|&<>]+)"#,
            ),
        ),
        // `echo x | sudo -S`.
        (
            "command-password",
            ValueKind::Argument,
            shape(&format!(r"\becho[ \t]+{VALUE}[ \t]*\|[ \t]*sudo[ \t]+(?:-[A-Za-z]+[ \t]+)*-[A-Za-z]*S")),
        ),
    ]
});

fn shape(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the patterns are tested")
}

/// Returns everything of these shapes, in no particular order.
pub(super) fn find(text: &str) -> Vec<SecretFinding> {
    let mut found = Vec::new();
    for (rule, given, shape) in SHAPES.iter() {
        steps::count(text.len());
        for captures in shape.captures_iter(text) {
            let Some(value) = value(&captures) else { continue };
            let is_kept = match given {
                ValueKind::Named => is_secret(value.as_str()),
                ValueKind::Argument => is_argument(value.as_str()),
            };
            if is_kept {
                found.push(SecretFinding { rule, line: 0, span: value.range(), severity: SecretSeverity::Warn });
            }
        }
    }
    found
}

fn value<'t>(captures: &Captures<'t>) -> Option<Match<'t>> {
    let mut groups = captures.iter().skip(1).flatten();
    groups.next()
}

/// Whether a value may be a secret: it has a digit or a sign, and is not a variable, a path or a call.
fn is_secret(value: &str) -> bool {
    let is_mixed = value.chars().any(|c| c.is_ascii_digit() || "!@#$%^&*+?~".contains(c));
    is_mixed && !false_positives::is_placeholder(value) && !value.starts_with(['$', '%', '/', '.', '~', '*']) && !value.contains("::")
}

/// Whether the argument for a password is one, and not a variable, a placeholder or what was redacted before.
fn is_argument(value: &str) -> bool {
    !value.starts_with(['$', '%', '<', '{', '[', '*']) && !value.contains("${") && !value.contains("$(")
}
