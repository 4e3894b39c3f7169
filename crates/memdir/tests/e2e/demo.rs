//! `memdir demo`.

use crate::home::{Home, files_below};
use insta::assert_snapshot;

#[test]
fn the_tour_is_real_and_leaves_nothing() {
    let home = Home::new();
    std::fs::create_dir_all(home.path("tmp")).unwrap();
    let mut command = home.bare(&["demo"]);
    let output = command.env("TMPDIR", home.path("tmp")).env_remove("MEMDIR_HOME").output().unwrap();
    assert_snapshot!(home.tell(&["demo"], output), @"");
    assert_eq!(files_below(&home.path("")), Vec::<String>::new());
}
