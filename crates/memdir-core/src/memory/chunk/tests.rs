use super::*;
use proptest::prelude::*;

/// One line per unit: lines, kind, speaker, heading path.
fn shape(text: &str, body_line: u32) -> Vec<String> {
    let chunks = Chunks::new(text, body_line);
    let show = |unit: &Unit| {
        let speaker = unit.speaker.as_ref().map(|s| format!(" {}{}", s.name, if s.assistant { "*" } else { "" })).unwrap_or_default();
        format!("{}-{} {:?}{speaker} [{}]", unit.first, unit.last, unit.kind, chunks.heading_path(unit).join(" > "))
    };
    chunks.units.iter().map(show).collect()
}

#[test]
fn a_note_is_split_into_citable_units() {
    let text = "---\nname: x\n---\n# Deploy\n\nWe ship on Fridays.\nNever later.\n\n## Steps\n- build\n  - with care\n- push\n\n1. one\n\n   more of one\n2. two\n\n```sh\n# not a heading\n\nmake\n```\n| a | b |\n|---|---|\n| 1 | 2 |\n\nTitle\n=====\n\n---\nlast\n\n### End\n";
    assert_eq!(
        shape(text, 4),
        [
            "4-7 Paragraph [Deploy]", "9-11 Item [Deploy > Steps]", "12-12 Item [Deploy > Steps]", "14-16 Item [Deploy > Steps]",
            "17-17 Item [Deploy > Steps]", "19-23 Fence [Deploy > Steps]", "24-26 Table [Deploy > Steps]", "28-34 Paragraph [Title]",
        ]
    );
    assert_eq!(shape("# Only\n\n## Headings\n", 1), ["1-3 Heading [Only > Headings]"]);
}

#[test]
fn turns_of_people_last_until_the_next_one() {
    let text =
        "# Talk of Ann and Bob, 25 May, 2023\n\n**Ann:** Hello.\n\nAre you there?\n\n**Bob:** Yes.\n\n**Ann:** Good.\n\n**Bob:** Bye.\n";
    assert_eq!(
        shape(text, 1),
        [
            "1-5 Turn Ann [Talk of Ann and Bob, 25 May, 2023]",
            "7-7 Turn Bob [Talk of Ann and Bob, 25 May, 2023]",
            "9-9 Turn Ann [Talk of Ann and Bob, 25 May, 2023]",
            "11-11 Turn Bob [Talk of Ann and Bob, 25 May, 2023]",
        ]
    );
    assert_eq!(Chunks::new(text, 1).units[0].day, Day::new(2023, 5, 25));
}

#[test]
fn labels_in_an_assistants_answer_are_not_speakers() {
    let text = "**User:** How?\n\n**Assistant:** Like so.\n\n**Tip:** be kind\n\n## Plan\n\n**Tip:** be brief\n\n- **Note:** x\n\n**User:** Thanks\n";
    assert_eq!(shape(text, 1), ["1-1 Turn User []", "3-11 Turn Assistant* []", "13-13 Turn User []"]);
}

#[test]
fn reasons_in_a_note_are_not_a_chat() {
    let text = "Run the tests.\n\n**Why:** they break.\n\n**How to apply:** always.\n\nSave often.\n\n**Why:** power fails.\n\n**How to apply:** hourly.\n";
    assert!(shape(text, 1).iter().all(|unit| unit.contains("Paragraph")));
}

#[test]
fn headings_may_open_turns_and_sections_may_separate_them() {
    let text = "## User\n\nhi\n\n## Assistant\n\nhello\n\n### Details\n\nmore\n\n## Session 2024-05-01\n\n## User\n\nagain\n";
    assert_eq!(shape(text, 1), ["1-3 Turn User []", "5-11 Turn Assistant* []", "13-17 Turn User [Session 2024-05-01]"]);
}

#[test]
fn a_turn_may_be_one_line_and_carry_its_time() {
    let text = "[2024-01-02 10:00] Ann: hi\n[2024-01-03 10:01] Bob: hello\n[2024-01-03 10:02] Ann: so\n[2024-01-03 10:03] Bob: yes\n";
    assert_eq!(shape(text, 1), ["1-1 Turn Ann []", "2-2 Turn Bob []", "3-3 Turn Ann []", "4-4 Turn Bob []"]);
    assert_eq!(Chunks::new(text, 1).units[1].day, Day::new(2024, 1, 3));
}

#[test]
fn a_long_item_is_split_at_its_nested_items() {
    let nested: String = (0..20).map(|n| format!("  - part {n}\n")).collect();
    let units = Chunks::new(&format!("- head\n{nested}- tail\n"), 1).units;
    assert_eq!(units.len(), 22);
}

/// Text that is likely to look like Markdown.
fn markdown() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just(String::new()),
        Just("---".to_owned()),
        Just("```".to_owned()),
        Just("  ~~~~".to_owned()),
        Just("===".to_owned()),
        "#{1,7} [a-z ]{0,9}",
        " {0,5}[-*+] [a-z]{0,9}",
        " {0,3}[0-9]{1,3}[.)] [a-z]{0,9}",
        "\\|[ a|-]{0,9}",
        "\\*\\*(User|Assistant|Ann|Bob|Note)(:\\*\\*|\\*\\*:) [a-z ]{0,9}",
        "(User|Ann|Bob)( \\([0-9:]{0,5}\\))?: [a-z]{0,5}",
        "\\PC{0,20}",
    ];
    prop::collection::vec(line, 0..40).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn units_are_disjoint_ordered_and_hold_every_line(text in prop_oneof![markdown(), "(.|\n|\r)*"], body_line in 0u32..6) {
        let chunks = Chunks::new(&text, body_line);
        let lines: Vec<&str> = text.lines().collect();
        let mut covered = vec![false; lines.len() + 1];
        let mut last = body_line.max(1) - 1;
        for unit in &chunks.units {
            prop_assert!(last < unit.first && unit.first <= unit.own && unit.own <= unit.last && unit.last as usize <= lines.len());
            last = unit.last;
            covered[unit.first as usize..=unit.last as usize].fill(true);
        }
        for (at, line) in lines.iter().enumerate() {
            if at + 1 >= body_line as usize && !line.trim().is_empty() {
                prop_assert!(covered[at + 1], "line {} is not in any unit", at + 1);
            }
        }
    }
}
