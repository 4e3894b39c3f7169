//! The log of a day: appended by many at once, searched like a memory, in no entrypoint.

use crate::operations::Home;
use memdir_core::List;

#[test]
fn entries_go_to_the_file_of_the_day_and_stay_out_of_the_entrypoint() {
    let home = Home::new();
    let memdir = home.open();
    let saved = memdir.log("", "Ada prefers tabs").unwrap();
    memdir.log("", "- freeze begins\nuntil May").unwrap();
    assert_eq!(saved.path.as_str(), "logs/2026/03/2026-03-01.md");
    assert_eq!(home.file("logs/2026/03/2026-03-01.md"), "- 12:00 Ada prefers tabs\n- 12:00 freeze begins\n  until May\n");
    assert!(!home.file("MEMORY.md").contains("2026-03-01"), "{}", home.file("MEMORY.md"));
    assert_eq!(memdir.log("", " \n").unwrap_err().code(), "bad_input");
    let names: Vec<String> = memdir.list(&List::default()).unwrap().memories.into_iter().map(|memory| memory.name).collect();
    assert_eq!(names, ["logs/2026/03/2026-03-01"]);
}

#[test]
fn entries_of_many_writers_are_all_kept() {
    let home = Home::new();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let memdir = home.open_as(&format!("w{writer}"));
            scope.spawn(move || (0..10).for_each(|n| drop(memdir.log("", &format!("entry {writer}-{n}")).unwrap())));
        }
    });
    let mut lines: Vec<String> = home.file("logs/2026/03/2026-03-01.md").lines().map(str::to_owned).collect();
    lines.sort();
    let mut expected: Vec<String> = (0..80).map(|n| format!("- 12:00 entry {}-{}", n / 10, n % 10)).collect();
    expected.sort();
    assert_eq!(lines, expected);
}
