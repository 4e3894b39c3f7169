//! The hosts whose transcripts can be read, one module each. To add one, add its module and its line in [`READERS`].

pub mod claude_code;
pub mod codex;
pub mod copilot;
pub mod cursor;
pub mod folder;
pub mod gemini;
pub mod openclaw;
pub mod opencode;

use crate::{
    roots::Roots,
    source::{ChatSource, Reader},
};
use serde::{Deserialize, Deserializer, de};

/// The readers of all hosts, in the order in which hosts are listed.
pub const READERS: &[&Reader] = &[
    &claude_code::READER,
    &codex::READER,
    &gemini::READER,
    &opencode::READER,
    &openclaw::READER,
    &cursor::READER,
    &copilot::READER,
    &folder::READER,
];

/// Returns the reader of the host with this name.
pub fn reader(name: &str) -> Option<&'static Reader> {
    READERS.iter().copied().find(|reader| reader.name == name)
}

/// Opens the sources of all hosts. Hosts that are not installed have no sessions.
pub fn open_sources(roots: &Roots) -> Vec<Box<dyn ChatSource>> {
    READERS.iter().filter_map(|reader| (reader.open)(roots)).collect()
}

/// Deserializes the name of a host.
impl<'de> Deserialize<'de> for &'static Reader {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let names = || READERS.iter().map(|reader| format!("`{}`", reader.name)).collect::<Vec<_>>().join(", ");
        reader(&name).ok_or_else(|| de::Error::custom(format!("unknown host `{name}`, expected one of {}", names())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_host_has_its_own_resume_command() {
        let line = |reader: &Reader, dir: Option<&str>| {
            reader.resume_command("s", Some("ab-12"), dir.map(Path::new)).map(|resume| resume.to_string())
        };
        let all: Vec<_> = READERS.iter().map(|reader| line(reader, Some("/home/ada/app"))).collect();
        assert_eq!(
            all,
            [
                Some("cd /home/ada/app && claude --resume ab-12".to_owned()),
                Some("cd /home/ada/app && codex resume ab-12".to_owned()),
                Some("cd /home/ada/app && gemini --resume ab-12".to_owned()),
                Some("cd /home/ada/app && opencode -s ab-12".to_owned()),
                Some("openclaw tui --session ab-12".to_owned()),
                Some("cd /home/ada/app && cursor-agent --resume ab-12".to_owned()),
                Some("cd /home/ada/app && copilot --resume ab-12".to_owned()),
                None,
            ]
        );
        assert_eq!(line(&codex::READER, None).as_deref(), Some("codex resume ab-12"));
        assert_eq!(codex::READER.resume_command("s", None, None).map(|resume| resume.to_string()).as_deref(), Some("codex resume s"));
        assert_eq!(openclaw::READER.resume_command("s", None, None), None, "OpenClaw needs the key of the conversation");
    }

    #[test]
    fn a_session_id_can_never_become_more_than_one_word() {
        let resume = |id, dir: Option<&str>| claude_code::READER.resume_command(id, None, dir.map(Path::new));
        assert_eq!(resume("x; rm -rf ~ '", Some("/a b")).unwrap().to_string(), r"cd '/a b' && claude --resume 'x; rm -rf ~ '\'''");
        assert_eq!(resume("--dangerously-skip-permissions", None), None);
    }

    #[test]
    fn names_are_unique_and_known() {
        for host in READERS {
            assert_eq!(reader(host.name), Some(*host));
        }
        let error = serde_json::from_str::<Vec<&'static Reader>>(r#"["emacs"]"#).unwrap_err().to_string();
        assert!(error.starts_with("unknown host `emacs`, expected one of `claude-code`, `codex`,"), "{error}");
    }
}
