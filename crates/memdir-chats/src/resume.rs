//! The command that takes up a conversation again in its host.

use super::Host;
use memdir_core::search::chats::ResumeCommand;
use std::path::Path;

/// The command for a session; nothing where the host has none, or the id could be taken for an option.
pub fn resume_command(host: Host, id: &str, dir: Option<&Path>) -> Option<ResumeCommand> {
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
    Some(ResumeCommand { dir, argv: argv.iter().map(|&word| word.to_owned()).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_has_its_own_command() {
        let line = |host, dir: Option<&str>| resume_command(host, "ab-12", dir.map(Path::new)).map(|resume| resume.to_string());
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
        let resume = resume_command(Host::ClaudeCode, "x; rm -rf ~ '", Some(Path::new("/a b"))).unwrap();
        assert_eq!(resume.to_string(), r"cd '/a b' && claude --resume 'x; rm -rf ~ '\'''");
        assert_eq!(resume_command(Host::ClaudeCode, "--dangerously-skip-permissions", None), None);
    }
}
