//! Globs that are cheap to compile: a thousand tripwires are matched in a new process, where a regular expression for each would
//! take a hundred times as long to compile as to match.
//!
//! `?` matches one character, `*` any run within a path part, `**` any run, `**/` any number of folders, `[a-z]` and `[!a-z]` a
//! set, `{a,b}` alternatives; a backslash escapes the next character. The steps are bounded by pattern length times text length.

use super::{limits, steps};

/// A compiled pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    choices: Vec<Vec<GlobToken>>,
    separator: Option<char>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum GlobToken {
    Char(char),
    One,
    Set { not: bool, ranges: Vec<(char, char)> },
    Run,
    Any,
    Folders,
}

/// The maximum number of alternatives of a pattern with braces.
const MAX_CHOICES: usize = 64;

impl Glob {
    /// Compiles a glob for paths: `*` does not match `/`.
    pub fn path(pattern: &str) -> Result<Glob, String> {
        Glob::new(pattern, Some('/'))
    }

    /// Compiles a glob for any text: `*` matches everything.
    pub fn text(pattern: &str) -> Result<Glob, String> {
        Glob::new(pattern, None)
    }

    fn new(pattern: &str, separator: Option<char>) -> Result<Glob, String> {
        if pattern.len() > limits::GLOB_BYTES {
            return Err(format!("it is longer than {} bytes", limits::GLOB_BYTES));
        }
        // Every brace is expanded by a recursive call, whether or not it has alternatives.
        if pattern.bytes().filter(|&byte| byte == b'{').count() > MAX_CHOICES {
            return Err(format!("it has more than {MAX_CHOICES} opening braces"));
        }
        let choices = expand_braces(pattern)?;
        Ok(Glob { choices: choices.iter().map(|choice| tokens(choice)).collect::<Result<_, _>>()?, separator })
    }

    /// Whether the whole text matches.
    pub fn matches(&self, text: &str) -> bool {
        self.choices.iter().any(|tokens| fits(tokens, self.separator, text))
    }
}

/// Whether a text contains a special character of globs.
pub fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{', '\\'])
}

/// Escapes a name, so that a pattern matches exactly this name.
pub fn escape(name: &str) -> String {
    // A backslash is literal inside of brackets only.
    globset::escape(name).replace('\\', "[\\]")
}

/// Expands the braces of a pattern.
fn expand_braces(pattern: &str) -> Result<Vec<String>, String> {
    steps::count(pattern.len());
    let Some((open, close, commas)) = first_brace(pattern)? else { return Ok(vec![pattern.to_owned()]) };
    let mut out = Vec::new();
    let mut start = open + 1;
    for end in commas.into_iter().chain([close]) {
        out.extend(expand_braces(&format!("{}{}{}", &pattern[..open], &pattern[start..end], &pattern[close + 1..]))?);
        start = end + 1;
        if out.len() > MAX_CHOICES {
            return Err(format!("it has more than {MAX_CHOICES} alternatives"));
        }
    }
    Ok(out)
}

type Brace = (usize, usize, Vec<usize>);

fn first_brace(pattern: &str) -> Result<Option<Brace>, String> {
    let (mut open, mut depth, mut commas) = (0, 0, Vec::new());
    let mut bytes = pattern.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'{' => {
                depth += 1;
                open = if depth == 1 { at } else { open };
            }
            b',' if depth == 1 => commas.push(at),
            b'}' if depth == 1 => return Ok(Some((open, at, commas))),
            b'}' if depth > 1 => depth -= 1,
            _ => {}
        }
    }
    if depth > 0 { Err("it has an unclosed `{`".into()) } else { Ok(None) }
}

fn tokens(pattern: &str) -> Result<Vec<GlobToken>, String> {
    let mut out = Vec::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let starts_part = out.last().is_none_or(|last| matches!(last, GlobToken::Char('/') | GlobToken::Folders));
        rest = &rest[c.len_utf8()..];
        let token = match c {
            '*' if rest.starts_with("*/") && starts_part => {
                rest = &rest[2..];
                GlobToken::Folders
            }
            '*' if rest.starts_with('*') => {
                rest = rest.trim_start_matches('*');
                GlobToken::Any
            }
            '*' => GlobToken::Run,
            '?' => GlobToken::One,
            '[' => {
                let (set, tail) = set(rest).ok_or("it has an unclosed `[`")?;
                rest = tail;
                set
            }
            '\\' => {
                let next = rest.chars().next().ok_or("it ends with a backslash")?;
                rest = &rest[next.len_utf8()..];
                GlobToken::Char(next)
            }
            _ => GlobToken::Char(c),
        };
        out.push(token);
    }
    Ok(out)
}

fn set(rest: &str) -> Option<(GlobToken, &str)> {
    let inner = rest.strip_prefix(['!', '^']).unwrap_or(rest);
    let not = inner.len() < rest.len();
    // A `]` that comes first is a member.
    let end = inner.char_indices().skip(1).find(|(_, c)| *c == ']')?.0;
    let members: Vec<char> = inner[..end].chars().collect();
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < members.len() {
        let range = at + 2 < members.len() && members[at + 1] == '-';
        ranges.push((members[at], if range { members[at + 2] } else { members[at] }));
        at += if range { 3 } else { 1 };
    }
    Some((GlobToken::Set { not, ranges }, &inner[end + 1..]))
}

/// Simulates the pattern as an automaton: scans the text once with the set of possible positions in the pattern.
fn fits(tokens: &[GlobToken], separator: Option<char>, text: &str) -> bool {
    let mut here = vec![false; tokens.len() + 1];
    let mut next = here.clone();
    enter(tokens, &mut here, 0);
    for c in text.chars() {
        next.fill(false);
        steps::count(tokens.len());
        for (at, token) in tokens.iter().enumerate().filter(|(at, _)| here[*at]) {
            let inside = Some(c) != separator;
            match token {
                GlobToken::Char(wanted) if *wanted == c => enter(tokens, &mut next, at + 1),
                GlobToken::One if inside => enter(tokens, &mut next, at + 1),
                GlobToken::Set { not, ranges } if inside && ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *not => {
                    enter(tokens, &mut next, at + 1);
                }
                GlobToken::Run if inside => enter(tokens, &mut next, at),
                GlobToken::Any => enter(tokens, &mut next, at),
                GlobToken::Folders => {
                    next[at] = true;
                    if c == '/' {
                        enter(tokens, &mut next, at + 1);
                    }
                }
                _ => {}
            }
        }
        std::mem::swap(&mut here, &mut next);
        if !here.contains(&true) {
            return false;
        }
    }
    here[tokens.len()]
}

/// Adds a position; a token that may match nothing adds the next position too.
fn enter(tokens: &[GlobToken], set: &mut [bool], at: usize) {
    set[at] = true;
    if matches!(tokens.get(at), Some(GlobToken::Run | GlobToken::Any | GlobToken::Folders)) && !set[at + 1] {
        enter(tokens, set, at + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::Glob;
    use proptest::prelude::*;

    #[test]
    fn patterns_mean_what_people_expect() {
        let table: &[(&str, &[&str], &[&str])] = &[
            ("src/*.rs", &["src/a.rs", "src/.rs"], &["src/a/b.rs", "a.rs", "src/a.rsx"]),
            ("src/**", &["src/a", "src/a/b.rs", "src/"], &["src", "xsrc/a"]),
            ("**/a.rs", &["a.rs", "x/a.rs", "x/y/a.rs"], &["xa.rs", "a.rs/x"]),
            ("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["ab", "a/xb"]),
            ("*.{sql,ddl}", &["x.sql", "x.ddl"], &["x.sq", "x.{sql,ddl}"]),
            ("{a,b{1,2}}x", &["ax", "b1x", "b2x"], &["bx", "b12x"]),
            ("[a-c]?[!0-9]", &["axy", "b1z"], &["dxy", "ax1", "ax"]),
            ("[]x]", &["]", "x"], &["y"]),
            (r"\*\{", &["*{"], &["a{", "*"]),
            ("é*", &["é", "éa"], &["e"]),
            ("", &[""], &["a"]),
        ];
        for (pattern, yes, no) in table {
            let glob = Glob::path(pattern).unwrap();
            yes.iter().for_each(|text| assert!(glob.matches(text), "{pattern} should match {text}"));
            no.iter().for_each(|text| assert!(!glob.matches(text), "{pattern} should not match {text}"));
        }
        assert!(Glob::text("git push*").unwrap().matches("git push origin/main"));
    }

    #[test]
    fn invalid_patterns_are_rejected() {
        for pattern in ["[a", "{a", "a\\", &"{a,b}".repeat(9)] {
            assert!(Glob::path(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn matching_time_is_bounded_by_pattern_length_times_text_length() {
        let glob = Glob::text(&format!("{}b", "a*".repeat(100))).unwrap();
        assert!(!glob.matches(&"a".repeat(4_000)));
    }

    proptest! {
        #[test]
        fn agrees_with_globset(pattern in "[ab/*?]{0,8}", text in "[ab/]{0,8}") {
            // The meaning of three stars in a row is not standardized.
            prop_assume!(!pattern.contains("***") && !pattern.contains("**"));
            let theirs = globset::GlobBuilder::new(&pattern).literal_separator(true).build();
            if let (Ok(ours), Ok(theirs)) = (Glob::path(&pattern), theirs) {
                prop_assert_eq!(ours.matches(&text), theirs.compile_matcher().is_match(&text), "{} on {:?}", pattern, text);
            }
        }

        #[test]
        fn folders_agree_with_globset(parts in prop::collection::vec("[ab]|\\*|\\*\\*|a\\*", 1..5), text in prop::collection::vec("[ab]{1,2}", 1..5)) {
            let (pattern, text) = (parts.join("/"), text.join("/"));
            let theirs = globset::GlobBuilder::new(&pattern).literal_separator(true).build().unwrap().compile_matcher();
            prop_assert_eq!(Glob::path(&pattern).unwrap().matches(&text), theirs.is_match(&text), "{} on {:?}", pattern, text);
        }
    }
}
