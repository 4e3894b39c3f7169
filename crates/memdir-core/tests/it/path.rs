//! Names that are refused, names that are not.

use memdir_core::{InvalidName, MemoryPath};
use proptest::prelude::*;

#[test]
fn names_that_could_escape_or_confuse_are_refused_with_a_reason() {
    let long = "x".repeat(256);
    let deep = ["d"; 33].join("/");
    let refused = [
        "", " ", "a//b", "a/", "/a", "/etc/passwd", "a/ /b", ".", "..", "../memory-evil/x.md", "a/../../memory2/s", "a/./b", "..\\x",
        "a\\b", "C:\\x", "C:x", "c:", "\\\\server\\share", "//server/share", "a\0b", "a\nb", "a\u{7f}b", "a\u{202e}b", "~", "~/x",
        "%2e%2e/x", "%2E%2e%2fx", "a%2fb", "a%5cb", "a%00b", "%252e%252e%252fx", "\u{ff0e}\u{ff0e}/x", "\u{ff0e}\u{ff0e}\u{ff0f}x",
        "a\u{ff0f}b", "a\u{ff3c}b", "\u{2025}/x", "CON", "con.md", "a/NUL", "nul.txt", "COM1", "lpt9.md", "...", "aux", ".git",
        ".git/config", "a/.GIT/x", "a.", "a ", " a", ".memdir-x-0.tmp", &long, &deep,
    ];
    for name in refused {
        match MemoryPath::parse(name) {
            Err(InvalidName { why, .. }) => assert!(why.len() > 10, "{name:?}: {why}"),
            other => panic!("{name:?} gave {other:?}"),
        }
    }
}

#[test]
fn ordinary_names_in_any_script_are_accepted() {
    for name in [
        "deploy", "notes/deploy.md", "a.b.c", "日本語/メモ", "préférences", "100%", "50%25 off", "c++", "x y", "-flag", "console", "com10",
        "ab:c", ".hidden.md", "team/x", "🙂",
    ] {
        assert!(MemoryPath::parse(name).is_ok(), "{name}: {:?}", MemoryPath::parse(name));
    }
}

#[test]
fn prefixes_hold_part_by_part() {
    let path = MemoryPath::parse("team/deploy").unwrap();
    assert!(path.is_under("team") && path.is_under("") && path.is_under("team/deploy"));
    assert!(!path.is_under("tea") && !path.is_under("team/dep"));
    assert_eq!(path.strip_prefix("team").unwrap().as_str(), "deploy");
    assert_eq!(path.strip_prefix("team/deploy"), None);
}

proptest! {
    #[test]
    fn no_accepted_name_leaves_its_directory(name in "[./\\\\a%25eE\u{ff0e}\u{ff0f}~: ]{0,12}") {
        if let Ok(path) = MemoryPath::parse(&name) {
            prop_assert!(!path.as_str().starts_with('/') && !path.as_str().contains('\\'));
            prop_assert!(path.parts().all(|part| !part.is_empty() && part != "." && part != ".."));
        }
    }

    #[test]
    fn accepted_names_stay_the_same_when_parsed_again(name in "\\PC{1,20}") {
        if let Ok(path) = MemoryPath::parse(&name) {
            prop_assert_eq!(MemoryPath::parse(path.as_str()).unwrap(), path);
        }
    }
}
