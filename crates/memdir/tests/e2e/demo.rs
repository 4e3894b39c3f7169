//! `memdir demo`.

use crate::home::{Home, files_below};
use insta::assert_snapshot;

#[test]
fn the_tour_is_real_and_leaves_nothing() {
    let home = Home::new();
    std::fs::create_dir_all(home.path("tmp")).unwrap();
    let mut command = home.bare(&["demo"]);
    let output = command.env("TMPDIR", home.path("tmp")).env_remove("MEMDIR_HOME").output().unwrap();
    assert_snapshot!(home.tell(&["demo"], output), @r#"
    # A memory is a Markdown file. Saving it also writes its line in the entrypoint.
    $ memdir write notes/deploy 'Deploy on Tuesdays, never on Fridays.' --type project --description 'When we deploy'
    created notes/deploy (89 bytes, version c0375045a9c7, change [ID])

    # More can be added at its end; twenty processes may do so at once.
    $ memdir write notes/deploy --append 'Except in December.'
    appended to notes/deploy (109 bytes, version a62c7347bee5, change [ID])

    # Memories may refer to each other.
    $ memdir write people/ada 'Ada owns [the deploys](../notes/deploy.md).' --type user
    created people/ada (64 bytes, version 4021ad92785c, change [ID])

    # The entrypoint is what an agent sees first.
    $ memdir read
    # Memory

    <!-- memdir: one line per memory, sorted; write outside these two marks -->
    - [notes/deploy](notes/deploy.md) — When we deploy
    - [people/ada](people/ada.md) — Ada owns the deploys.
    <!-- /memdir -->

    # A search finds the lines that answer, by words and by meaning,
    $ memdir search 'which weekday may we release?' --max-results 1
    notes/deploy.md:6-7  0.36  today
      Deploy on Tuesdays, never on Fridays.
      Except in December.

    # and nothing where there is nothing.
    $ memdir search 'quantum chromodynamics'
    note: no results; try other words or a lower --min-score

    # A name that is not there is met with one that is.
    $ memdir read notes/depoly
    error: there is no memory named "notes/depoly"
    hint: Did you mean notes/deploy?

    # A rename follows every reference.
    $ memdir rename notes/deploy howto/deploy
    renamed notes/deploy to howto/deploy (change [ID])
    updated references in people/ada

    # So Ada's memory leads to the new place.
    $ memdir read people/ada
    ---
    type: user
    ---

    Ada owns [the deploys](../howto/deploy.md).

    # What is deleted
    $ memdir delete howto/deploy
    deleted howto/deploy (undo: memdir undo [ID])

    # comes back,
    $ memdir undo
    undid [ID]: deleted howto/deploy, by you (redo: memdir redo [ID])

    # whole.
    $ memdir list --long
    name          type     size       age    description
    howto/deploy  project  109 bytes  today  When we deploy
    people/ada    user     64 bytes   today

    # And nothing that happened is forgotten.
    $ memdir history
    change    when              who  what
    [ID]      [TIME]            you  took back howto/deploy
    [ID]      [TIME]            you  deleted howto/deploy
    [ID]      [TIME]            you  renamed notes/deploy to howto/deploy
    [ID]      [TIME]            you  wrote people/ada
    [ID]      [TIME]            you  appended to notes/deploy
    [ID]      [TIME]            you  wrote notes/deploy

    That was a scratch directory, and it is gone. Begin with: memdir init
    "#);
    assert_eq!(files_below(&home.path("")), Vec::<String>::new());
}
