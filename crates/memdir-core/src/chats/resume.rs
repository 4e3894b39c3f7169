//! The command that takes up a conversation again in its host.

use super::Host;
use std::{
    fmt,
    path::{Path, PathBuf},
};

/// How to take up a conversation: a command and where to run it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Resume {
    /// The directory it belongs to: hosts look for a session among those of the current one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dir: Option<PathBuf>,
    /// The program and its arguments.
    pub argv: Vec<String>,
}

impl Resume {
    /// The command for a session; nothing where the host has none, or the id could be taken for an option.
    pub fn of(host: Host, id: &str, dir: Option<&Path>) -> Option<Resume> {
        if id.is_empty() || id.starts_with('-') {
            return None;
        }
        let argv: &[&str] = match host {
            Host::ClaudeCode => &["claude", "--resume", id],
            Host::Codex => &["codex", "resume", id],
            Host::Gemini => &["gemini", "--resume", id],
            Host::Opencode => &["opencode", "-s", id],
            Host::Openclaw => &["openclaw", "tui", "--session", id],
            Host::Cursor => &["cursor-agent", "--resume", id],
            Host::Folder => return None,
        };
        // OpenClaw's sessions belong to an agent, not to a directory.
        let dir = if host == Host::Openclaw { None } else { dir.map(Path::to_owned) };
        Some(Resume { dir, argv: argv.iter().map(|&word| word.to_owned()).collect() })
    }
}

/// As one line for a POSIX shell.
impl fmt::Display for Resume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(dir) = &self.dir {
            write!(f, "cd {} && ", quoted(&dir.display().to_string()))?;
        }
        let words: Vec<_> = self.argv.iter().map(|word| quoted(word)).collect();
        f.write_str(&words.join(" "))
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_has_its_own_command() {
        let line = |host, dir: Option<&str>| Resume::of(host, "ab-12", dir.map(Path::new)).map(|resume| resume.to_string());
        let all: Vec<_> = Host::ALL.into_iter().map(|host| line(host, Some("/home/ada/app"))).collect();
        assert_eq!(
            all,
            [
                Some("cd /home/ada/app && claude --resume ab-12".to_owned()),
                Some("cd /home/ada/app && codex resume ab-12".to_owned()),
                Some("cd /home/ada/app && gemini --resume ab-12".to_owned()),
                Some("cd /home/ada/app && opencode -s ab-12".to_owned()),
                Some("openclaw tui --session ab-12".to_owned()),
                Some("cd /home/ada/app && cursor-agent --resume ab-12".to_owned()),
                None,
            ]
        );
        assert_eq!(line(Host::Codex, None).as_deref(), Some("codex resume ab-12"));
    }

    #[test]
    fn a_session_id_can_never_become_more_than_one_word() {
        let resume = Resume::of(Host::ClaudeCode, "x; rm -rf ~ '", Some(Path::new("/a b"))).unwrap();
        assert_eq!(resume.to_string(), r"cd '/a b' && claude --resume 'x; rm -rf ~ '\'''");
        assert_eq!(Resume::of(Host::ClaudeCode, "--dangerously-skip-permissions", None), None);
    }
}
