//! Whether a command line runs a command. Parses as much of shell syntax as keeps tripwires from being bypassed: chains, pipes,
//! assignments, wrappers that run the rest of their arguments, scripts for another shell, the program's directory, git's own
//! options. Never runs anything.

use crate::base::{
    glob::{Glob, is_glob},
    steps,
};

/// The maximum nesting of scripts within scripts.
const MAX_DEPTH: usize = 4;

/// Programs that run their arguments as a command: their options with a value, and the number of their own arguments.
const WRAPPERS: &[(&str, &[&str], usize)] = &[
    ("sudo", &["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "--user", "--group", "--chdir"], 0),
    ("doas", &["-u", "-C"], 0),
    ("env", &["-u", "-C", "--unset", "--chdir"], 0),
    ("xargs", &["-n", "-I", "-P", "-L", "-d", "-a", "-s", "-E"], 0),
    ("timeout", &["-k", "-s", "--kill-after", "--signal"], 1),
    ("nice", &["-n", "--adjustment"], 0),
    ("ionice", &["-c", "-n", "-p"], 0),
    ("stdbuf", &["-i", "-o", "-e"], 0),
    ("time", &["-f", "-o"], 0),
    ("command", &[], 0),
    ("exec", &["-a"], 0),
    ("nohup", &[], 0),
    ("setsid", &[], 0),
    ("then", &[], 0),
    ("do", &[], 0),
    ("else", &[], 0),
    ("if", &[], 0),
    ("while", &[], 0),
    ("until", &[], 0),
    ("!", &[], 0),
    ("$", &[], 0),
    ("{", &[], 0),
];

/// Shells, which run a script given as an argument.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "fish", "busybox"];

/// Options of git with a value, before its subcommand.
const GIT: &[&str] = &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"];

/// Whether the line, or one of its commands, matches. A pattern without wildcards matches by its whole words.
pub(super) fn matches(pattern: &str, line: &str) -> bool {
    let pattern = pattern.trim();
    let glob = if is_glob(pattern) { Glob::text(pattern).ok() } else { None };
    let one = |command: &str| match &glob {
        Some(glob) => glob.matches(command),
        None => command.strip_prefix(pattern).is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace)),
    };
    !pattern.is_empty() && (one(line.trim()) || commands(line).iter().any(|command| one(command)))
}

/// Returns the commands of a line, each with single spaces between its words and without what precedes the program.
pub fn commands(line: &str) -> Vec<String> {
    let mut all = Vec::new();
    collect(line, MAX_DEPTH, &mut all);
    all
}

fn collect(line: &str, deep: usize, out: &mut Vec<String>) {
    steps::count(line.len());
    let (mut start, mut quote) = (0, None);
    let mut chars = line.char_indices();
    while let Some((at, c)) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => drop(chars.next()),
            ('\'' | '"', None) => quote = Some(c),
            (_, Some(open)) if c == open => quote = None,
            (';' | '|' | '&' | '\n' | '(' | ')' | '`', None) => {
                command(&line[start..at], deep, out);
                start = at + 1;
            }
            _ => {}
        }
    }
    command(&line[start..], deep, out);
}

fn command(text: &str, deep: usize, out: &mut Vec<String>) {
    let words = split_words(text);
    let mut rest = unwrapped(&words);
    let Some(program) = rest.first().map(|word| program_name(word)) else { return };
    let script = script(&program, rest);
    if let Some(script) = script.filter(|_| deep > 0) {
        collect(&script, deep - 1, out);
    }
    out.push(joined(&program, &rest[1..]));
    if program == "git" {
        rest = skip_options(&rest[1..], GIT);
        out.push(joined(&program, rest));
    }
}

/// A command with single spaces between its words.
fn joined(program: &str, words: &[&str]) -> String {
    let mut all = program.to_owned();
    for word in words {
        steps::count(word.len() + 1);
        all.push(' ');
        all.push_str(word);
    }
    all
}

/// Skips assignments and wrappers.
fn unwrapped<'a>(words: &'a [&'a str]) -> &'a [&'a str] {
    let mut rest = words;
    while let Some((first, after)) = rest.split_first() {
        let assigns = first.split_once('=').is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
        let program = program_name(first);
        match WRAPPERS.iter().find(|(wrapper, ..)| *wrapper == program) {
            _ if assigns => rest = after,
            Some((_, options, own)) => {
                let after = skip_options(after, options);
                rest = after.get(*own..).unwrap_or_default();
            }
            None => break,
        }
    }
    rest
}

/// Skips a program's options, some of which have a value.
fn skip_options<'a>(words: &'a [&'a str], with_value: &[&str]) -> &'a [&'a str] {
    let mut rest = words;
    while let Some((first, after)) = rest.split_first().filter(|(first, _)| first.starts_with('-') && first.len() > 1) {
        rest = if with_value.contains(first) { after.get(1..).unwrap_or_default() } else { after };
    }
    rest
}

/// The script that a shell or `eval` runs.
fn script(program: &str, words: &[&str]) -> Option<String> {
    if program == "eval" {
        return Some(words[1..].iter().map(|word| unquoted(word)).collect::<Vec<_>>().join(" "));
    }
    let is_shell = SHELLS.contains(&program);
    let given = words.iter().position(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'));
    given.filter(|_| is_shell).and_then(|at| words.get(at + 1)).map(|word| unquoted(word))
}

/// The name of a program without its directory.
fn program_name(word: &str) -> String {
    let word = unquoted(word);
    word.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(&word).to_owned()
}

/// Splits a command into words, which keep their quotes.
fn split_words(command: &str) -> Vec<&str> {
    let (mut words, mut start, mut quote) = (Vec::new(), None, None);
    let mut chars = command.char_indices();
    while let Some((at, c)) = chars.next() {
        match (c, quote) {
            (c, None) if c.is_whitespace() => {
                words.extend(start.take().map(|start| &command[start..at]));
                continue;
            }
            ('\\', None | Some('"')) => drop(chars.next()),
            ('\'' | '"', None) => quote = Some(c),
            (_, Some(open)) if c == open => quote = None,
            _ => {}
        }
        start.get_or_insert(at);
    }
    words.extend(start.map(|start| &command[start..]));
    words
}

/// A word without its quotes, as the program receives it.
fn unquoted(word: &str) -> String {
    let (mut out, mut quote) = (String::new(), None);
    let mut chars = word.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => out.extend(chars.next()),
            ('\'' | '"', None) => quote = Some(c),
            (_, Some(open)) if c == open => quote = None,
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_command_is_recognised_wherever_it_is() {
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
            "bash -lc 'git push'",
            "bash -lc \"cd x && git push\"",
            "/bin/sh -c 'bash -c \"git push\"'",
            "sudo -u ada git push",
            "env A=b C='d e' git push",
            "env -u A git push",
            "xargs git push < list",
            "cat list | xargs -n 1 -I{} git push {}",
            "timeout -k 5 10 git push",
            "nohup nice -n 5 git push &",
            "git -C ../x push",
            "git --no-pager -c a.b=c -C 'x y' push --force",
            "eval 'git push'",
            "'git' push",
            "while git push; do sleep 1; done",
        ];
        for line in pushes {
            assert!(matches("git push", line), "{line}");
            assert!(matches("git push*", line), "{line}");
        }
        for line in [
            "git pushx", "echo 'x; git push'", "git commit -m \"then; git push\"", "legit push", "git", "", "bash -lc",
            "bash x.sh 'git push'", "sudo -u git push", "git -C push", "echo git push", "git log -c push",
        ] {
            assert!(!matches("git push", line), "{line}");
        }
        assert!(matches("*--force*", "git push --force origin"));
        assert!(!matches("", "git push"));
    }
}
