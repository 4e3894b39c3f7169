//! `memdir demo`.

use crate::home::{Home, files_below};
use insta::assert_snapshot;

#[test]
fn the_tour_is_real_and_leaves_nothing() {
    let home = Home::new();
    std::fs::create_dir_all(home.path("tmp")).unwrap();
    let mut command = home.bare(&["demo"]);
    let output = command.env("TMPDIR", home.path("tmp")).env_remove("MEMDIR_HOME").output().unwrap();
    assert_snapshot!(home.transcript(&["demo"], output), @r#"
    # A memory is a Markdown file. Writing it also adds a line to MEMORY.md, the entrypoint.
    $ memdir write notes/deploy 'Deploy on Tuesdays, never on Fridays.' --type project --description 'When we deploy'
    created notes/deploy (89 bytes, version c0375045a9c7, change [ID])

    # Append to a memory; concurrent writes are safe.
    $ memdir write notes/deploy --append 'Except in December.'
    appended to notes/deploy (109 bytes, version a62c7347bee5, change [ID])

    # Memories can link to each other.
    $ memdir write people/ada 'Ada owns [the deploys](../notes/deploy.md).' --type user
    created people/ada (64 bytes, version 4021ad92785c, change [ID])

    # An agent reads the entrypoint first.
    $ memdir read
    # Memory

    <!-- memdir: one line per memory, sorted; write outside these two marks -->
    - [notes/deploy](notes/deploy.md) — When we deploy
    - [people/ada](people/ada.md) — Ada owns the deploys.
    <!-- /memdir -->

    # Search by words and by meaning.
    $ memdir search 'which weekday may we release?' --max-results 1
    notes/deploy.md:6-7  0.36  today
      Deploy on Tuesdays, never on Fridays.
      Except in December.

    # If no memory is relevant, a search returns no results.
    $ memdir search 'quantum chromodynamics'
    note: no results; try other words or a lower --min-score

    # A mistyped name gets a suggestion.
    $ memdir read notes/depoly
    error: memory "notes/depoly" not found
    hint: did you mean "notes/deploy"?

    # A rename updates the references.
    $ memdir rename notes/deploy howto/deploy
    renamed notes/deploy to howto/deploy (change [ID])
    updated references in people/ada

    # The link now points to the new name.
    $ memdir read people/ada
    ---
    type: user
    ---

    Ada owns [the deploys](../howto/deploy.md).

    # Delete a memory.
    $ memdir delete howto/deploy
    deleted howto/deploy (undo: memdir undo [ID])

    # Undo the deletion.
    $ memdir undo
    undid [ID]: delete howto/deploy, by you, just now (redo: memdir redo [ID])

    # The memory is back.
    $ memdir list --long
    name          type     size       age    description
    howto/deploy  project  109 bytes  today  When we deploy
    people/ada    user     64 bytes   today

    # The history lists every change.
    $ memdir history
    change    when      actor  what
    [ID]      just now  you    undid howto/deploy
    [ID]      just now  you    deleted howto/deploy
    [ID]      just now  you    renamed notes/deploy to howto/deploy
    [ID]      just now  you    wrote people/ada
    [ID]      just now  you    appended to notes/deploy
    [ID]      just now  you    wrote notes/deploy

    The demo's temporary directory has been deleted. Start with: memdir init
    "#);
    assert_eq!(files_below(&home.path("")), Vec::<String>::new());
}
