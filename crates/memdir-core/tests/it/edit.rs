//! Edits: literal and by regular expression, with errors that help.

use memdir_core::{
    Error, Needle,
    internal::memory::edit::{EditedText, edit},
};
use proptest::prelude::*;

fn literal(text: &str, needle: &str, with: &str, all: bool) -> Result<(String, usize), String> {
    shown(edit(text, &Needle::Literal(needle.into()), with, all))
}

fn regex(text: &str, needle: &str, with: &str, all: bool) -> Result<(String, usize), String> {
    shown(edit(text, &Needle::Regex(needle.into()), with, all))
}

fn shown(result: memdir_core::Result<EditedText>) -> Result<(String, usize), String> {
    result.map(|edited| (edited.text, edited.count)).map_err(|error| error.to_string())
}

fn ok(text: &str, count: usize) -> Result<(String, usize), String> {
    Ok((text.to_owned(), count))
}

fn err(why: &str) -> Result<(String, usize), String> {
    Err(why.to_owned())
}

#[test]
fn one_place_is_replaced_exactly() {
    assert_eq!(literal("a (b) $!1 c", "(b) $!1", "$!0.*", false), ok("a $!0.* c", 1));
    assert_eq!(literal("ab ab", "ab", "", true), ok(" ", 2));
    assert_eq!(literal("aaa", "aa", "b", true), ok("ba", 1));
}

#[test]
fn several_places_are_counted_and_named() {
    assert_eq!(
        literal("x\nx y x\n", "x", "z", false),
        err("the text to replace occurs 3 times, on lines 1, 2; add surrounding text so that it occurs once")
    );
    let many = literal(&"x\n".repeat(20), "x", "z", false).unwrap_err();
    assert!(many.contains("occurs 20 times, on lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …;"), "{many}");
    assert!(regex("x1 x2", r"x\d", "z", false).unwrap_err().contains("matches 2 times, on line 1;"));
}

#[test]
fn a_missing_text_is_reported_with_the_nearest_line() {
    let none = "the text to replace does not occur in the memory";
    let text = "# Deploy\n\nRun the  big script first.\nThen rest.\n";
    assert_eq!(literal(text, "Run the big\nscript", "", false), err(&format!("{none}; it occurs with different whitespace on line 3")));
    assert_eq!(
        literal(text, "then REST", "", false),
        err(&format!("{none}; it occurs with different capitalization or whitespace on line 4"))
    );
    assert_eq!(
        literal(text, "Run the big skript first", "", false),
        err(&format!("{none}; the most similar line is line 3: \"Run the  big script first.\""))
    );
    assert_eq!(literal(text, "quite something else", "", false), err(none));
    assert_eq!(literal(text, "", "x", false), err("the text to replace is empty; use text that occurs in the memory"));
}

#[test]
fn line_endings_of_the_memory_are_kept() {
    assert_eq!(literal("a\r\nb\r\nc", "a\nb", "x\ny", false), ok("x\r\ny\r\nc", 1));
    assert_eq!(literal("a\r\nb", "b", "x\ny", false), ok("a\r\nx\r\ny", 1));
    assert_eq!(literal("a\r\nb\nc", "b\nc", "x\ny", false), ok("a\r\nx\ny", 1), "mixed line ends stay as they are given");
    assert_eq!(literal("a\nb", "b", "x\r\ny", false), ok("a\nx\r\ny", 1));
    assert_eq!(regex("a\r\nb", "b", "x\ny", false), ok("a\r\nx\r\ny", 1));
    assert_eq!(
        regex("a\r\nb", r"a\nb", "", false),
        err(r"the regular expression matches nothing in the memory; lines in this memory end with `\r\n`, so use `\r?\n`")
    );
}

#[test]
fn python_patterns_keep_their_semantics() {
    let cases = [
        // pattern, text, with, result
        (r"^b.*?$", "a\nbc\nd", "X", "a\nX\nd"),
        (r"a.c", "a\nc", "X", "X"),
        (r"(?<=## T\n)", "## T\nx", "new\n", "## T\nnew\nx"),
        (r"(?<!\d)7(?!\d)", "77 7", "X", "77 X"),
        (r"(\w)\1", "abccd", "[$!1]", "ab[c]d"),
        (r"(?P<q>['\x22]).*?(?P=q)", "say 'hi' now", "<$!0>", "say <'hi'> now"),
        (r"c\Z", "c\nc", "X", "c\nX"),
        (r"\Ac", "c\nc", "X", "X\nc"),
        (r"{x}", "a {x} b", "X", "a X b"),
        (r"a{,2}b", "aaab", "X", "aX"),
        (r"a{2}", "aaa", "X", "Xa"),
        (r"[[]x]", "[x]", "X", "X"),
        (r"[]x]+", "a]x]b", "X", "aXb"),
        (r"[^]]+", "]ab]", "X", "]X]"),
        (r"[a&&b]+", "x&a&b", "X", "xX"),
        (r"\<b\>", "<b>", "X", "X"),
        (r"\/\-\:\#\ \'", "/-:# '", "X", "X"),
        (r"(?i)ABC", "xabc", "X", "xX"),
        (r"(?a)\w+", "abc", "X", "X"),
        (r"(?ai:B)c", "abc", "X", "aX"),
        (r"(?#note)b", "abc", "X", "aXc"),
        (r"(a)?(?(1)b|c)", "ab", "X", "X"),
        (r"\x41\u0042\103", "ABC", "X", "X"),
        (r"(?>a+)b", "aab", "X", "X"),
        (r"ß+", "aßß", "$!0$!0", "aßßßß"),
        (r"(a)|(b)", "b", "[$!1|$!2]", "[|b]"),
        (r"b", "abc", r"\1 $1 $!x $! \n", r"a\1 $1 $!x $! \nc"),
    ];
    for (pattern, text, with, expected) in cases {
        assert_eq!(regex(text, pattern, with, false), ok(expected, 1), "{pattern}");
    }
    assert_eq!(regex("a\nb\n", "^(?=.)", "> ", true), ok("> a\n> b\n", 2));
    assert_eq!(regex("a1b22", r"\d+", "<$!0>", true), ok("a<1>b<22>", 2));
}

#[test]
fn patterns_that_do_not_apply_are_errors_with_a_reason() {
    assert_eq!(regex("abc", "x", "", false), err("the regular expression matches nothing in the memory"));
    assert_eq!(regex("abc", "", "", false), err("the regular expression is empty; use one that matches the text to replace"));
    let everywhere = "the regular expression matches the empty string; make it match at least one character";
    assert_eq!(regex("abc", "x*", "-", true), err(everywhere));
    assert_eq!(regex("abc", "b", "$!1", false), err("the replacement refers to group $!1, but the regular expression has no groups"));
    assert!(matches!(edit("a", &Needle::Regex("(".into()), "", false), Err(Error::BadInput { .. })));
    assert!(matches!(edit("a", &Needle::Regex("a**".into()), "", false), Err(Error::BadInput { .. })));
}

#[test]
fn a_match_over_lines_that_matches_again_inside_is_ambiguous() {
    let text = "start\none\nstart\ntwo\nend\n";
    assert_eq!(
        regex(text, "start.*?end", "X", false),
        err(
            "the match that begins on line 1 is ambiguous: the regular expression matches again inside it; make it more specific, for example with `.*?` instead of `.*`"
        )
    );
    assert_eq!(regex(text, r"start\ntwo.*?end", "X", false), ok("start\none\nX\n", 1));
    assert_eq!(regex("aXaXb", "a.*?b", "-", false), ok("-", 1), "on one line the first match is replaced");
}

#[test]
fn steps_are_bounded_for_every_pattern() {
    let text = format!("{}!", "a".repeat(5_000));
    assert_eq!(regex(&text, "(a+)+$", "", false), err("the regular expression matches nothing in the memory"));
    let steps =
        "the regular expression takes too many steps on this memory; make it more specific and avoid nested repetition such as `(a+)+`";
    for pattern in [r"(a+)+(?=b)$", r"(a|aa)+\1b", r"(?=(a+)+b)x"] {
        let result = regex(&text, pattern, "", false);
        assert!(result == err(steps) || result == err("the regular expression matches nothing in the memory"), "{pattern}: {result:?}");
    }
    let many = regex(&"ab ".repeat(5_000), "a(?=b)", "x", true).unwrap_err();
    assert_eq!(
        many,
        "the regular expression needs backtracking, for example for look-around or a backreference, and matches more than 2000 times; make it more specific"
    );
    assert_eq!(regex(&"ab ".repeat(5_000), "ab", "x", true).map(|(_, count)| count), Ok(5_000));
    for huge in [r"((a{100}){100}){100}", r"((a{100}){100}){100}(?=b)"] {
        assert!(regex("aaa", huge, "", false).is_err(), "{huge}");
    }
}

/// Each match may look at the rest of the text, for an alternative that begins like it and never ends.
#[test]
fn the_bytes_that_all_matches_look_at_are_bounded() {
    let pattern = "a[^z]*z|a";
    assert_eq!(regex(&"a".repeat(2_000), pattern, "b", true), ok(&"b".repeat(2_000), 2_000));
    // The bound is on what the matches may look at, so that a pattern that looks at little reaches it quickly.
    assert_eq!(regex(&"a".repeat(100_000), "a", "b", true), ok(&"b".repeat(100_000), 100_000));
    assert_eq!(
        regex(&"a".repeat(1_000_000), "a", "b", true),
        err("the regular expression matches at least 8627 times in a text of 976.6 KB, which takes too long; make it more specific")
    );
    assert_eq!(regex(&format!("{}a{}", "-".repeat(8_000_000), "-".repeat(8_000_000)), pattern, "b", true).map(|(_, count)| count), Ok(1));
}

#[test]
fn the_size_of_an_edited_memory_is_bounded() {
    let text = "a".repeat(100_000);
    let with = "b".repeat(100_000);
    for needle in [Needle::Literal("a".into()), Needle::Regex("a".into()), Needle::Regex("(a)".into())] {
        let with = if needle == Needle::Regex("(a)".into()) { format!("$!1{with}") } else { with.clone() };
        assert!(matches!(edit(&text, &needle, &with, true), Err(Error::TooLarge { .. })), "{needle:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn a_literal_edit_is_a_plain_replacement(text in "[ab\n]{0,20}", needle in "[ab\n]{1,3}", with in "[xb]{0,3}") {
        match edit(&text, &Needle::Literal(needle.clone()), &with, true) {
            Ok(edited) => {
                prop_assert_eq!(edited.text, text.replace(&needle, &with));
                prop_assert_eq!(edited.count, text.matches(&needle).count());
            }
            Err(_) => prop_assert!(!text.contains(&needle)),
        }
    }

    #[test]
    fn a_quoted_literal_matches_as_a_pattern(text in "[a-z.*+?()\\[\\]{}|^$\\\\ ßé\n]{1,20}", with in "[a-z]{0,3}") {
        let quoted: String = text.chars().flat_map(|c| if c.is_ascii_punctuation() { vec!['\\', c] } else { vec![c] }).collect();
        let edited = edit(&text, &Needle::Regex(quoted), &with, false).map(|edited| edited.text);
        prop_assert_eq!(edited.map_err(|error| error.to_string()), Ok(with));
    }

    #[test]
    fn any_pattern_terminates_without_a_panic(pattern in "[ab.*+?()\\[\\]{},0-9|^$\\\\<>=!:iP#&~ -]{0,14}", text in "[ab\r\n 1]{0,30}", with in "[$!0-9x]{0,5}") {
        let _ = edit(&text, &Needle::Regex(pattern), &with, true);
    }
}
