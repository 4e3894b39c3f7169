//! Whether a command line runs a command. Understands as much of a shell as keeps tripwires from being stepped over: chains,
//! pipes, assignments and `sudo` in front, the program's directory. Never runs anything.

use crate::glob::{Glob, is_glob};

/// Whether the line, or one of the commands it is made of, fits. A pattern without wildcards fits by its whole words.
pub(super) fn fits(pattern: &str, line: &str) -> bool {
    let pattern = pattern.trim();
    let glob = if is_glob(pattern) { Glob::text(pattern).ok() } else { None };
    let one = |command: &str| match &glob {
        Some(glob) => glob.matches(command),
        None => command.strip_prefix(pattern).is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace)),
    };
    !pattern.is_empty() && (one(line.trim()) || commands(line).iter().any(|command| one(command)))
}

/// The commands of a line, each as words with single spaces, without what stands before the program.
fn commands(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    let (mut start, mut quote) = (0, None);
    let mut chars = line.char_indices();
    while let Some((at, c)) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => drop(chars.next()),
            ('\'' | '"', None) => quote = Some(c),
            (_, Some(open)) if c == open => quote = None,
            (';' | '|' | '&' | '\n' | '(' | ')' | '`', None) => {
                out.extend(plain(&line[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    out.extend(plain(&line[start..]));
    out
}

fn plain(command: &str) -> Option<String> {
    let before = |word: &&str| {
        let assigns = word.split_once('=').is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
        assigns || matches!(*word, "sudo" | "env" | "command" | "exec" | "nohup" | "time" | "then" | "do" | "else" | "!" | "$" | "{")
    };
    let mut words = command.split_whitespace().skip_while(before);
    let program = words.next()?;
    let program = program.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(program);
    Some(words.fold(program.to_owned(), |all, word| format!("{all} {word}")))
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_command_is_recognised_wherever_it_stands() {
        let pushes = [
            "git push",
            "git  push origin main",
            "cd x && git push --force",
            "make test; git push",
            "FOO=1 sudo /usr/bin/git push",
            "if true; then git push; fi",
            "(git push)",
            "true | git push",
            "echo `git push`",
            "echo 'a' && git push",
        ];
        for line in pushes {
            assert!(fits("git push", line), "{line}");
            assert!(fits("git push*", line), "{line}");
        }
        for line in ["git pushx", "echo 'x; git push'", "git commit -m \"then; git push\"", "legit push", "git", ""] {
            assert!(!fits("git push", line), "{line}");
        }
        assert!(fits("*--force*", "git push --force origin"));
        assert!(!fits("", "git push"));
    }
}
