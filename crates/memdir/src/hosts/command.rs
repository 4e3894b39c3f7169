//! A command line in the words of a shell. Paths with spaces, quotes and dollars come out as one word; nothing is run.

/// Who reads a hook's command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shell {
    /// `sh`, `bash`, `zsh`.
    Sh,
    /// The same, for hosts that take a failing hook for a refusal: a program that is gone must not stop them.
    ShForgiving,
    /// PowerShell.
    PowerShell,
    /// The same, forgiving.
    PowerShellForgiving,
    /// `cmd.exe /C`, given the line as one argument.
    Cmd,
}

impl Shell {
    /// The line that runs `program` with `args`.
    pub(crate) fn line(self, program: &str, args: &[String]) -> String {
        let words = |quote: fn(&str) -> String| {
            let args = args.iter().map(|arg| quote(arg));
            std::iter::once(quote(program)).chain(args).collect::<Vec<_>>().join(" ")
        };
        // An unquoted word is a command everywhere; a quoted one is a string to PowerShell, unless called.
        let called = || if is_plain(program) { words(power) } else { format!("& {}", words(power)) };
        match self {
            Shell::Sh => words(sh),
            Shell::ShForgiving => format!("{} || true", words(sh)),
            Shell::PowerShell => called(),
            Shell::PowerShellForgiving => format!("try {{ {} }} catch {{}}", called()),
            Shell::Cmd => words(cmd),
        }
    }
}

/// Whether a path, of any system, is a memdir program.
pub(crate) fn is_memdir(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    name.strip_suffix(".exe").unwrap_or(&name).starts_with("memdir")
}

/// Whether a line for a shell names memdir, or one of these programs, which are memdir by another name.
pub(crate) fn names(line: &str, programs: &[String]) -> bool {
    let quoted = |program: &String| [sh, power, cmd].map(|quote| quote(program)).iter().any(|word| line.contains(word.as_str()));
    line.contains("memdir") || programs.iter().any(quoted)
}

/// Letters, digits and signs that mean nothing to any of the shells.
fn is_plain(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '\\' | ':' | '.' | '_' | '-' | '+' | ',');
    !word.is_empty() && word.chars().all(plain)
}

fn sh(word: &str) -> String {
    if is_plain(word) && !word.contains('\\') { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

fn power(word: &str) -> String {
    // A comma makes a list.
    if is_plain(word) && !word.contains(',') { word.to_owned() } else { format!("'{}'", word.replace('\'', "''")) }
}

/// The line reaches `cmd` wrapped in quotes of its caller's, so quotes inside would end it: carets escape instead.
fn cmd(word: &str) -> String {
    let escaped = |c: char| if is_plain(&c.to_string()) && c != ',' { vec![c] } else { vec!['^', c] };
    word.chars().flat_map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shell_gets_words_it_keeps_whole() {
        let args = ["hook", "codex", "stop"].map(str::to_owned);
        let lines = |program: &str| {
            let shells = [Shell::Sh, Shell::ShForgiving, Shell::PowerShell, Shell::PowerShellForgiving, Shell::Cmd];
            shells.map(|shell| shell.line(program, &args)).join("\n")
        };
        insta::assert_snapshot!(lines("/usr/bin/memdir"), @"
        /usr/bin/memdir hook codex stop
        /usr/bin/memdir hook codex stop || true
        /usr/bin/memdir hook codex stop
        try { /usr/bin/memdir hook codex stop } catch {}
        /usr/bin/memdir hook codex stop
        ");
        insta::assert_snapshot!(lines(r"C:\Program Files\it's\memdir.exe"), @r"
        'C:\Program Files\it'\''s\memdir.exe' hook codex stop
        'C:\Program Files\it'\''s\memdir.exe' hook codex stop || true
        & 'C:\Program Files\it''s\memdir.exe' hook codex stop
        try { & 'C:\Program Files\it''s\memdir.exe' hook codex stop } catch {}
        C:\Program^ Files\it^'s\memdir.exe hook codex stop
        ");
    }

    #[test]
    fn a_program_is_known_by_its_name_on_any_system() {
        for (program, ours) in [
            ("/usr/bin/memdir", true),
            (r"C:\Program Files\memdir\memdir.exe", true),
            (r"C:\x\MEMDIR.EXE", true),
            ("memdir", true),
            ("/opt/memdir/other", false),
            ("", false),
        ] {
            assert_eq!(is_memdir(program), ours, "{program}");
        }
    }

    /// The shell itself is the judge of what is one word.
    #[test]
    fn sh_reads_back_what_was_meant() {
        for word in ["/a b/memdir", "it's", "$HOME `x` \"y\"", "a\\b", "semi;colon&|<>", "new\nline", ""] {
            let line = Shell::Sh.line("printf", &["%s".to_owned(), word.to_owned()]);
            #[expect(clippy::disallowed_methods, reason = "a test may start a child")]
            let out = std::process::Command::new("sh").args(["-c", &line]).output().unwrap();
            assert_eq!(String::from_utf8(out.stdout).unwrap(), word, "{line}");
        }
    }
}
