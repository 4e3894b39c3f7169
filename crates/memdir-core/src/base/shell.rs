//! Quoting of words for command lines: POSIX shells, PowerShell and `cmd.exe`. Pure; nothing is run.

/// Quotes a word for `sh`, `bash` and `zsh`: unchanged if no character is special to them, else in single quotes.
pub fn quote_posix(word: &str) -> String {
    // Without `=`: as the first word of a line, `a=b` is an assignment.
    if is_made_of(word, "/._-+@%:,") { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// Returns an option with its value, quoted for POSIX shells. A value that begins with `-` follows `=`, because it would be read as options.
pub fn quote_option(option: &str, value: &str) -> String {
    format!("{option}{}{}", if value.starts_with('-') { '=' } else { ' ' }, quote_posix(value))
}

/// Returns the command line of `command` for the memory `name`, with further options. A name that begins with `-` comes last, after `--`,
/// because it would be read as options.
pub fn name_command(command: &str, name: &str, options: &str) -> String {
    let quoted = quote_posix(name);
    let words = if name.starts_with('-') { [command, options, "--", &quoted] } else { [command, &quoted, options, ""] };
    words.iter().copied().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Quotes a word for PowerShell: unchanged if no character is special to it, else in single quotes.
pub fn quote_powershell(word: &str) -> String {
    // Without `,`, which makes a list, and `@`, which begins one.
    if is_made_of(word, r"/\:._-+") { word.to_owned() } else { format!("'{}'", word.replace('\'', "''")) }
}

/// Escapes a word for `cmd.exe /C`. The caller wraps the whole line in quotes, which quotes inside would end, so special characters
/// are escaped with carets instead.
pub fn escape_cmd(word: &str) -> String {
    let escaped = |c: char| if is_safe(c, r"/\:._-+") { vec![c] } else { vec!['^', c] };
    word.chars().flat_map(escaped).collect()
}

fn is_made_of(word: &str, punctuation: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| is_safe(c, punctuation))
}

fn is_safe(c: char, punctuation: &str) -> bool {
    c.is_ascii_alphanumeric() || punctuation.contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_without_special_characters_are_unchanged() {
        for word in ["memdir", "/usr/bin/memdir", "--dir", "a.b_c-d+e:1"] {
            assert_eq!([quote_posix(word), quote_powershell(word), escape_cmd(word)], [word; 3]);
        }
    }

    #[test]
    fn a_name_that_looks_like_options_comes_last() {
        assert_eq!(name_command("memdir read", "a b", "--lines 5-"), "memdir read 'a b' --lines 5-");
        assert_eq!(name_command("memdir read", "-a/b", "--lines 5-"), "memdir read --lines 5- -- -a/b");
        assert_eq!(name_command("memdir history", "-a/b", ""), "memdir history -- -a/b");
    }

    #[test]
    fn special_characters_are_quoted_for_each_shell() {
        for (word, posix, powershell, cmd) in [
            ("a b", "'a b'", "'a b'", "a^ b"),
            ("it's", r"'it'\''s'", "'it''s'", "it^'s"),
            ("a=b", "'a=b'", "'a=b'", "a^=b"),
            ("a,b", "a,b", "'a,b'", "a^,b"),
            ("a@b%c", "a@b%c", "'a@b%c'", "a^@b^%c"),
            (r"C:\x", r"'C:\x'", r"C:\x", r"C:\x"),
            ("", "''", "''", ""),
        ] {
            assert_eq!([quote_posix(word), quote_powershell(word), escape_cmd(word)], [posix, powershell, cmd], "{word}");
        }
    }
}
