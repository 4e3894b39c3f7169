//! Lines, cuts, sizes, decoding, near names.

use memdir_core::{
    Error, LineRange, Problem,
    internal::base::text::{Cut, TextPart, decode, ellipsis, human_bytes, line_at, line_start, lines, near, truncate, truncate_chars},
};
use proptest::prelude::*;

fn range(text: &str) -> LineRange {
    text.parse().expect("a range")
}

#[test]
fn line_ranges_are_read_and_shown() {
    assert_eq!(range("42-56"), LineRange { first: 42, last: Some(56) });
    assert_eq!(range("42-"), LineRange { first: 42, last: None });
    assert_eq!(range("42"), LineRange { first: 42, last: Some(42) });
    assert_eq!(range(" 3 - 4 ").to_string(), "3-4");
    for shown in ["42-56", "42-", "42"] {
        assert_eq!(range(shown).to_string(), shown);
    }
}

#[test]
fn invalid_line_ranges_are_refused_with_a_reason() {
    let why = |text: &str| match text.parse::<LineRange>() {
        Err(error @ Error::BadInput { .. }) => error.to_string(),
        other => panic!("{text:?} gave {other:?}"),
    };
    assert_eq!(
        why("0"),
        r#"lines: "0" includes line 0, but line numbers start at 1; use a line number or a range, such as 42, 42-56 or 42-"#
    );
    assert_eq!(why("9-3"), r#"lines: "9-3" ends before it begins; use a line number or a range, such as 42, 42-56 or 42-"#);
    for junk in ["", "-", "-5", "x", "+1", "1-+2", "1-2-3", "1.5", "99999999999999999999999", "18446744073709551615"] {
        assert!(why(junk).contains("use a line number or a range, such as 42, 42-56 or 42-"), "{junk}");
    }
}

#[test]
fn a_range_gives_exactly_its_lines() {
    let text = "one\r\ntwo\nthree";
    assert_eq!(range("1").slice(text), "one\r\n");
    assert_eq!(range("2-3").slice(text), "two\nthree");
    assert_eq!(range("3-99").slice(text), "three");
    assert_eq!(range("2-").slice(text), "two\nthree");
    assert_eq!(range("4-").slice(text), "");
    assert_eq!(range("1-18446744073709551614").slice(text), text);
    assert_eq!(range("1").slice(""), "");
}

#[test]
fn truncation_reports_on_the_trimmed_whole() {
    let cut = truncate("\n a\nb\nc \n", 2, 100);
    assert_eq!(cut, Cut { text: "a\nb", lines: 3, bytes: 5, cut_by_lines: true, cut_by_bytes: false, shown_lines: 2 });
    let cut = truncate("aaaa\r\nbbbb\r\ncccc", 2, 9);
    assert_eq!(cut, Cut { text: "aaaa", lines: 3, bytes: 16, cut_by_lines: true, cut_by_bytes: true, shown_lines: 1 });
    let cut = truncate("aaaa\nbbbb\ncccc", 9, 9);
    assert_eq!(cut.text, "aaaa\nbbbb", "a line that ends exactly at the limit fits");
}

#[test]
fn a_newline_free_text_is_cut_between_characters_by_true_bytes() {
    let text = "ß".repeat(25_000);
    let cut = truncate(&text, 200, 25_000);
    assert_eq!((cut.text.len(), cut.bytes, cut.cut_by_bytes), (25_000, 50_000, true));
    assert_eq!(truncate("🦀🦀", 1, 5).text, "🦀");
}

#[test]
fn reads_continue_at_the_next_whole_line() {
    assert_eq!(truncate_chars("ab\ncd\nef", 7, 7), TextPart { text: "ab\ncd\n", next_line: Some(9), split: None, left_chars: 2 });
    assert_eq!(truncate_chars("äää", 1, 3), TextPart { text: "äää", next_line: None, split: None, left_chars: 0 });
    assert_eq!(truncate_chars("ääääää\nx\n", 3, 4), TextPart { text: "ääää", next_line: Some(4), split: Some(3), left_chars: 5 });
    assert_eq!(truncate_chars("ääääää\n", 3, 4), TextPart { text: "ääää", next_line: None, split: Some(3), left_chars: 3 });
}

#[test]
fn sizes_are_formatted_for_people() {
    let shown: Vec<String> = [0, 1, 1023, 1024, 25_000, 61_440, 1_048_575, 1_048_576, 4 << 40].into_iter().map(human_bytes).collect();
    assert_eq!(shown, ["0 bytes", "1 byte", "1023 bytes", "1 KB", "24.4 KB", "60 KB", "1 MB", "1 MB", "4 TB"]);
}

#[test]
fn bytes_that_are_not_utf8_are_named_once() {
    let (text, problems) = decode(b"good\nb\xffd\n\xfe");
    assert_eq!(text, "good\nb\u{fffd}d\n\u{fffd}");
    assert_eq!(problems, [Problem::at(2, "byte 7 of the file is not valid UTF-8; invalid bytes are kept and shown as \u{fffd}")]);
    assert_eq!(decode("fine".as_bytes()).1, []);
}

#[test]
fn similar_names_ignore_case_marks_folders_and_typos() {
    let names = ["notes/deploy-steps", "deploy_steps", "Testing", "db/schema", "api/auth/login-flow", "zebra"];
    let found = |wanted: &str| near(wanted, names.into_iter(), 3);
    assert_eq!(found("DeploySteps.md"), ["deploy_steps", "notes/deploy-steps"]);
    assert_eq!(found("shema"), ["db/schema"]);
    assert_eq!(found("login"), ["api/auth/login-flow"]);
    assert_eq!(found("quite something else"), Vec::<String>::new());
    assert_eq!(near("a", ["A", "b", "a.md"].into_iter(), 1), ["A"]);
}

proptest! {
    #[test]
    fn every_text_is_the_sum_of_its_lines(text in "[aß\r\n]{0,40}") {
        let joined: String = (1..=lines(&text)).map(|n| LineRange { first: n, last: Some(n) }.slice(&text)).collect();
        prop_assert_eq!(&joined, &text);
        for (n, line) in text.split_inclusive('\n').enumerate() {
            let n = n as u64 + 1;
            prop_assert_eq!(LineRange { first: n, last: Some(n) }.slice(&text), line);
            prop_assert_eq!(line_at(&text, line_start(&text, n)), n);
        }
    }

    #[test]
    fn cuts_keep_their_limits_and_are_beginnings(text in "[a🦀 \r\n]{0,80}", max_lines in 1usize..9, max_bytes in 4usize..60) {
        let cut = truncate(&text, max_lines, max_bytes);
        prop_assert!(text.trim().starts_with(cut.text));
        prop_assert!(cut.text.len() <= max_bytes && cut.shown_lines <= max_lines as u64);
        prop_assert_eq!(cut.cut_by_lines, text.trim().lines().count() > max_lines);
        prop_assert_eq!(cut.cut_by_bytes, text.trim().len() > max_bytes);
        prop_assert_eq!(cut.text == text.trim(), !cut.cut_by_lines && !cut.cut_by_bytes);
    }

    #[test]
    fn reading_on_reaches_the_end(text in "[aß\n]{0,60}", max in 1usize..10) {
        let mut next = Some(1);
        let mut seen = String::new();
        while let Some(line) = next {
            let rest = LineRange { first: line, last: None }.slice(&text);
            let part = truncate_chars(rest, line, max);
            prop_assert!(part.text.chars().count() <= max);
            prop_assert!(part.next_line.is_none_or(|n| n > line));
            seen.push_str(part.text);
            if part.split.is_some() {
                let one = LineRange { first: line, last: Some(line) }.slice(&text);
                seen.push_str(&one[part.text.len()..]);
            }
            next = part.next_line;
        }
        prop_assert_eq!(seen, text);
    }

    #[test]
    fn ellipsis_never_exceeds_its_characters(text in ".{0,30}", max in 0usize..30) {
        prop_assert!(ellipsis(&text, max).chars().count() <= max);
    }
}
