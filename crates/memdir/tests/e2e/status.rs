//! Plain `memdir`.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn where_it_is_and_what_to_do_next() {
    let home = Home::new();
    assert_snapshot!(home.run(&[]), @"");
    home.ok(&["write", "a", "x"]);
    assert_snapshot!(home.run(&[]), @"");
    assert_snapshot!(home.run(&["--json"]), @"");
}

#[test]
fn without_a_directory_there_is_the_project_and_the_person() {
    let home = Home::new();
    let told = home.run_bare(&[]);
    let name = std::fs::read_dir(home.path("home/projects")).unwrap().next().unwrap().unwrap().file_name();
    assert_snapshot!(told.replace(name.to_str().unwrap(), "[PROJECT]"), @"");
    std::fs::create_dir_all(home.path("work/.git")).unwrap();
    std::fs::create_dir_all(home.path("work/deep")).unwrap();
    home.run_bare(&["write", "a", "at the top"]);
    let mut below = home.bare(&["read", "a"]);
    assert_eq!(below.current_dir(home.path("work/deep")).output().unwrap().stdout, b"at the top\n");
}
