//! `memdir man`.

use crate::home::{Home, files_below};
use std::fs;

/// The text of a page as `man` shows it, or its source if there is no formatter.
fn page(home: &Home, name: &str) -> String {
    fs::read_to_string(home.path("work/man").join(name)).unwrap().replace("\\-", "-")
}

#[test]
fn every_command_has_a_page_and_the_first_has_everything_else() {
    let home = Home::new();
    let printed = home.run(&["man", "man"]);
    let pages = files_below(&home.path("work/man"));
    assert_eq!(printed, format!("wrote {} manual pages to man\n", pages.len()));
    let main = page(&home, "memdir.1");
    assert_eq!(main.replace("\\-", "-"), home.ok(&["man"]).replace("\\-", "-"));
    for heading in
        ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "SUBCOMMANDS", "STANDARD INPUT", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES"]
    {
        assert!(main.contains(&format!(".SH {heading}\n")) || main.contains(&format!(".SH \"{heading}\"\n")), "{heading}: {main}");
    }
    for word in ["MEMDIR_HOME", "VISUAL, EDITOR", "~/.memdir/config.toml", "4  busy: the same command may succeed later", "--agent-scope"] {
        assert!(main.contains(word), "{word}: {main}");
    }
    let help = home.run(&["--help"]);
    let commands = help.lines().take_while(|line| *line != "Global options:").filter(|line| line.starts_with("  "));
    for command in commands.filter_map(|line| line.split_whitespace().next()) {
        let own = page(&home, &format!("memdir-{command}.1"));
        assert!(own.contains(".SH EXAMPLES") && own.contains("memdir(1)"), "{own}");
        assert!(main.contains(&format!("memdir-{command}(1)")), "{command} is not in the list of commands");
    }
    for nested in ["memdir-chats-sync.1", "memdir-projects-adopt.1", "memdir-token-add.1", "memdir-config-set.1"] {
        assert!(pages.contains(&nested.to_owned()), "{pages:?}");
    }
    assert!(!pages.iter().any(|page| page.contains("worker") || page.contains("memdir-complete.1") || page.contains("hook")), "{pages:?}");
    let list = page(&home, "memdir-list.1");
    assert!(list.contains(".SH ALIASES\n.nf\nls\n.fi\n") && list.contains("--newer"), "{list}");
}

#[test]
fn the_directory_of_the_memory_is_not_that_of_the_pages() {
    let home = Home::new();
    let page = home.run_bare(&["man"]);
    fs::create_dir(home.path("work/d")).unwrap();
    assert_eq!(home.run_bare(&["--dir", "d", "man"]), page);
    assert_eq!(home.run_bare(&["man", "--dir", "d"]), page);
    assert_eq!(files_below(&home.path("work")), [""; 0]);
}
