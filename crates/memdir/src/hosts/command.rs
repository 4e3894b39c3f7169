//! Command lines in hosts' settings: written for a shell, and recognized as memdir's. Nothing is run.

use super::HookEvent;
use memdir_core::internal::base::shell::{escape_cmd, quote_posix, quote_powershell};
use serde_json::Value;

/// The shell in which a host runs a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shell {
    /// `sh`, `bash` or `zsh`.
    Posix,
    /// The same for hosts that take a failing hook as a refusal: a missing program must not block the agent.
    PosixIgnoringErrors,
    /// PowerShell.
    PowerShell,
    /// The same, ignoring errors.
    PowerShellIgnoringErrors,
    /// `cmd.exe /C` with the line as one argument.
    Cmd,
}

impl Shell {
    /// The line that runs `program` with `args`.
    pub(crate) fn line(self, program: &str, args: &[String]) -> String {
        let join = |quote: fn(&str) -> String| {
            let args = args.iter().map(|arg| quote(arg));
            std::iter::once(quote(program)).chain(args).collect::<Vec<_>>().join(" ")
        };
        let powershell = || {
            let line = join(quote_powershell);
            // A quoted word is a string to PowerShell unless the call operator precedes it.
            if line.starts_with('\'') { format!("& {line}") } else { line }
        };
        match self {
            Shell::Posix => join(quote_posix),
            Shell::PosixIgnoringErrors => format!("{} || true", join(quote_posix)),
            Shell::PowerShell => powershell(),
            Shell::PowerShellIgnoringErrors => format!("try {{ {} }} catch {{}}", powershell()),
            Shell::Cmd => join(escape_cmd),
        }
    }
}

/// Whether a path, of any operating system, is a memdir program.
pub(crate) fn is_memdir(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    name.strip_suffix(".exe").unwrap_or(&name).starts_with("memdir")
}

/// Whether a value in a host's settings starts memdir's server. `programs` are further paths of memdir, whatever their names.
pub(crate) fn is_our_server(value: &Value, programs: &[String]) -> bool {
    let (command, args) = match &value["command"] {
        Value::Array(words) => (words.first(), words.get(1..).unwrap_or_default()),
        command => (Some(command), value["args"].as_array().map_or(&[][..], Vec::as_slice)),
    };
    let program = command.and_then(Value::as_str).unwrap_or_default();
    is_ours(program, programs) && args.iter().any(|arg| arg == "mcp")
}

/// Whether a value in a host's settings runs memdir's hook `host event`, in any form.
pub(crate) fn is_our_hook(value: &Value, host: &str, event: HookEvent, programs: &[String]) -> bool {
    let words = format!(" hook {host} {}", event.name());
    match value {
        Value::String(line) => mentions_memdir(line, programs) && line.contains(&words),
        Value::Array(values) => values.iter().any(|value| is_our_hook(value, host, event, programs)),
        Value::Object(map) => {
            let args = value["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let tail: String = args.flat_map(|arg| [" ", arg]).chain([" "]).collect();
            let runs = value["command"].as_str().is_some_and(|program| is_ours(program, programs));
            (runs && tail.contains(&format!("{words} "))) || map.values().any(|value| is_our_hook(value, host, event, programs))
        }
        _ => false,
    }
}

fn is_ours(program: &str, programs: &[String]) -> bool {
    is_memdir(program) || programs.iter().any(|known| known == program)
}

/// Whether a command line mentions memdir or one of these programs.
fn mentions_memdir(line: &str, programs: &[String]) -> bool {
    let quotes: [fn(&str) -> String; 3] = [quote_posix, quote_powershell, escape_cmd];
    line.contains("memdir") || programs.iter().any(|program| quotes.iter().any(|quote| line.contains(&quote(program))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shell_gets_words_it_keeps_whole() {
        let args = ["hook", "codex", "stop"].map(str::to_owned);
        let lines = |program: &str| {
            let shells = [Shell::Posix, Shell::PosixIgnoringErrors, Shell::PowerShell, Shell::PowerShellIgnoringErrors, Shell::Cmd];
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

    /// A program in a directory with a comma was quoted but not called, so PowerShell printed its path.
    #[test]
    fn powershell_calls_every_quoted_program() {
        assert_eq!(Shell::PowerShell.line(r"C:\a,b\memdir.exe", &[]), r"& 'C:\a,b\memdir.exe'");
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

    /// Checked with the shell itself.
    #[test]
    fn sh_reads_back_the_words_that_were_quoted() {
        for word in ["/a b/memdir", "it's", "$HOME `x` \"y\"", "a\\b", "semi;colon&|<>", "new\nline", "a=b", ""] {
            let line = Shell::Posix.line("printf", &["%s".to_owned(), word.to_owned()]);
            #[expect(clippy::disallowed_methods, reason = "a test may start a child")]
            let out = std::process::Command::new("sh").args(["-c", &line]).output().unwrap();
            assert_eq!(String::from_utf8(out.stdout).unwrap(), word, "{line}");
        }
    }
}
