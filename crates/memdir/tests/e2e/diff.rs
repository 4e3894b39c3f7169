//! `memdir diff`.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn the_last_change_or_any_two_versions() {
    let home = Home::new();
    home.ok(&["write", "a", "one\ntwo\nthree\n"]);
    let first = home.json(&["read", "a"])["version"].as_str().unwrap().to_owned();
    home.ok(&["edit", "a", "two", "2"]);
    let second = home.json(&["read", "a"])["version"].as_str().unwrap().to_owned();
    home.ok(&["edit", "a", "three", "3"]);
    assert_snapshot!(home.run(&["diff", "a"]), @"");
    assert_snapshot!(home.run(&["diff", "a", &first[..8]]), @"");
    assert_snapshot!(home.run(&["diff", "a", &first[..8], &second[..8]]), @"");
    assert_snapshot!(home.run(&["diff", "a", &first, &first]), @"");
    assert_snapshot!(home.run(&["diff", "a", "--json"]), @"");
    assert_snapshot!(home.run(&["diff", "a", "ffffffff"]), @"");
    assert_snapshot!(home.run(&["diff", "b"]), @"");
}
