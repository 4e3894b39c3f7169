//! Spaces: no operation shows a memory outside of the caller's space, and nothing in a request makes a space wider.

use crate::operations::path;
use memdir_core::{
    Actor, ChangeFilter, Check, Delete, FileStore, List, Memdir, Mount, Read, UndoTarget, Write, WriteMode,
    internal::store::space::{Agent, AgentScope, Places, TokenDirectory, TokenIdentity, narrow, new_token, token_hash},
    testing::FixedClock,
};
use std::{path::Path, sync::Arc};
use tempfile::TempDir;

fn open(mounts: &[Mount]) -> Memdir {
    let clock = FixedClock("2026-03-01T12:00:00Z".parse().unwrap());
    Memdir::with_clock(Arc::new(FileStore::open(mounts).unwrap()), Actor { name: "ada".into(), session: None }, Arc::new(clock))
}

fn caller(person: &str, projects: &[&str]) -> TokenIdentity {
    TokenIdentity { person: person.into(), agent: None, projects: projects.iter().map(|id| (*id).to_owned()).collect() }
}

fn names(memdir: &Memdir) -> Vec<String> {
    memdir.list(&List::default()).unwrap().memories.into_iter().map(|memory| memory.name).collect()
}

fn save(memdir: &Memdir, name: &str) {
    memdir.write(&Write::create(path(name), format!("the text of {name}\n"))).unwrap();
}

fn prefixes(mounts: &[Mount]) -> Vec<&str> {
    mounts.iter().map(|mount| mount.prefix.as_str()).collect()
}

/// Two names that look the same and have different bytes are two people, and a directory has one name.
#[test]
fn names_in_two_unicode_forms_do_not_share_a_memory() {
    let home = TempDir::new().unwrap();
    let places = Places::new(home.path());
    let (composed, decomposed) = ("jos\u{e9}", "jose\u{301}");
    save(&open(&places.caller(&caller(composed, &[]), None).unwrap()), "user/taste");
    let refused = places.caller(&caller(decomposed, &[]), None).unwrap_err();
    assert_eq!(refused.to_string(), "person: \"jose\\u{301}\" is not in Unicode normalization form NFC; write it as \"jos\u{e9}\"");
    assert_eq!(names(&open(&places.caller(&caller(composed, &[]), None).unwrap())), ["user/taste"]);
}

#[test]
fn callers_share_their_projects_and_nothing_else() {
    let home = TempDir::new().unwrap();
    let places = Places::new(home.path());
    let ada = open(&places.caller(&caller("ada", &["shop"]), None).unwrap());
    let bob = open(&places.caller(&caller("bob", &["shop", "blog"]), Some("shop")).unwrap());
    let eve = open(&places.caller(&caller("eve", &["blog"]), None).unwrap());
    save(&ada, "user/taste");
    save(&ada, "plan");
    save(&ada, "team/rule");
    assert_eq!(names(&bob), ["plan", "team/rule"]);
    assert_eq!(names(&eve), Vec::<String>::new());
    assert_eq!(eve.read(&Read::all(path("plan"))).unwrap_err().code(), "not_found");
    assert_eq!(eve.history(&ChangeFilter::default()).unwrap().len(), 0);
    assert_eq!(bob.history(&ChangeFilter::default()).unwrap().len(), 2, "the person's own change is not told to others");
    assert_eq!(eve.check(&Check::default()).unwrap().files, 0);
}

#[test]
fn a_caller_of_several_projects_who_names_none_has_only_their_own() {
    let places = Places::new("/home/x");
    let bob = caller("bob", &["shop", "blog"]);
    assert_eq!(prefixes(&places.caller(&bob, None).unwrap()), ["user"]);
    assert_eq!(prefixes(&places.caller(&bob, Some("blog")).unwrap()), ["user", "", "team"]);
    assert_eq!(places.caller(&bob, Some("other")).unwrap_err().code(), "bad_input");
    assert_eq!(places.caller(&caller("../ada", &[]), None).unwrap_err().code(), "bad_input");
    assert_eq!(places.caller(&caller("bob", &["../x"]), None).unwrap_err().code(), "bad_input");
    let agent = TokenIdentity { agent: Some("plugin:reviewer".into()), ..bob };
    assert_eq!(prefixes(&places.caller(&agent, None).unwrap()), ["user", "agent/plugin-reviewer"]);
}

#[test]
fn a_caller_is_found_by_the_token_alone() {
    let (ada, bob) = (new_token().unwrap(), new_token().unwrap());
    assert!(ada != bob && ada.starts_with("mdt_") && ada.len() == 68, "{}", ada.len());
    let callers = TokenDirectory::new([(token_hash(&ada).to_uppercase(), caller("ada", &["shop"]))]);
    assert_eq!(callers.find(&ada), Some(&caller("ada", &["shop"])));
    assert_eq!(callers.find(&format!("{ada}\n")), callers.find(&ada), "a token read from a file ends in a line break");
    for wrong in [bob.as_str(), "", "mdt_", &token_hash(&ada)] {
        assert_eq!(callers.find(wrong), None);
    }
}

#[test]
fn an_agents_memory_has_three_kinds() {
    let places = Places::new("/h");
    let root = |scope| {
        let agent = Agent { name: "reviewer".into(), scope };
        places.agent(&agent, "shop-1", Path::new("/src/shop")).unwrap().root.display().to_string()
    };
    assert_eq!(root(AgentScope::User), "/h/agents/reviewer");
    assert_eq!(root(AgentScope::Project), "/src/shop/.memdir-agents/reviewer");
    assert_eq!(root(AgentScope::Local), "/h/agents-local/shop-1/reviewer");
    let bad = Agent { name: "../x".into(), scope: AgentScope::User };
    assert_eq!(places.agent(&bad, "p", Path::new("/")).unwrap_err().code(), "bad_input");
}

#[test]
fn a_narrowed_space_has_nothing_of_the_rest() {
    let home = TempDir::new().unwrap();
    let places = Places::new(home.path());
    let mounts = [places.mount("", home.path().join("p")), places.mount("user", home.path().join("u"))];
    let all = open(&mounts);
    for name in ["notes/a", "notes/deep/b", "notesx", "secret", "user/c"] {
        save(&all, name);
    }
    let only = [path("notes")];
    let part = open(&narrow(&mounts, &only).unwrap());
    assert_eq!(names(&part), ["notes/a", "notes/deep/b"]);
    for name in ["secret", "notesx", "user/c", "MEMORY"] {
        assert!(part.read(&Read::all(path(name))).is_err(), "{name}");
        assert!(part.write(&Write::create(path(name), "x").mode(WriteMode::Append)).is_err(), "{name}");
        assert!(part.delete(&Delete { path: path(name), expect: None }).is_err(), "{name}");
        assert!(part.rename(&path("notes/a"), &path(name)).is_err(), "{name}");
        assert!(
            part.history(&ChangeFilter { path: Some(path(name)), ..ChangeFilter::default() }).map_or(true, |found| found.is_empty()),
            "{name}"
        );
    }
    let history = part.history(&ChangeFilter::default()).unwrap();
    let touched: Vec<String> = history.iter().flat_map(|change| &change.files).map(|file| file.path.to_string()).collect();
    assert_eq!(touched, ["notes/deep/b.md", "notes/a.md"]);
    assert_eq!(part.stats().unwrap().journal.changes, 2);
    let hint = part.read(&Read::all(path("secre"))).unwrap_err().hint();
    assert!(!hint.contains("secret"), "{hint}");
    save(&part, "notes/new");
    assert_eq!(names(&all), ["notes/a", "notes/deep/b", "notes/new", "notesx", "secret", "user/c"]);
    part.undo(&UndoTarget::Mine).unwrap();
    assert_eq!(names(&part), ["notes/a", "notes/deep/b"]);
}

#[test]
fn narrowing_selects_mounts_and_folders_and_refuses_missing_ones() {
    let places = Places::new("/h");
    let mounts = [places.mount("", "/p"), places.mount("team", "/t"), places.mount("agent/x", "/a")];
    let narrowed = |only: &[&str]| {
        let only: Vec<_> = only.iter().map(|name| path(name)).collect();
        narrow(&mounts, &only).map(|mounts| mounts.into_iter().map(|mount| (mount.prefix, mount.part)).collect::<Vec<_>>())
    };
    let part = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(narrowed(&["team"]).unwrap(), [("team".to_owned(), part(&[]))]);
    assert_eq!(narrowed(&["agent"]).unwrap(), [("agent/x".to_owned(), part(&[]))]);
    assert_eq!(narrowed(&["team/a", "team"]).unwrap(), [("team".to_owned(), part(&[]))]);
    assert_eq!(narrowed(&["team", "team/a"]).unwrap(), [("team".to_owned(), part(&[]))]);
    assert_eq!(narrowed(&["a[1]"]).unwrap(), [(String::new(), part(&["a[1]"]))]);
    let team_only = [places.mount("team", "/t")];
    assert_eq!(narrow(&team_only, &[path("x")]).unwrap_err().code(), "bad_input");
}

#[test]
fn narrowing_never_opens_files_that_a_mount_excludes() {
    let home = TempDir::new().unwrap();
    let places = Places::new(home.path());
    let whole = places.mount("docs", home.path().join("d"));
    for name in ["docs/public/a", "docs/private/b"] {
        save(&open(std::slice::from_ref(&whole)), name);
    }
    let some = Mount { only: vec!["public/*".into()], ..whole };
    let narrowed = |only: &str| names(&open(&narrow(std::slice::from_ref(&some), &[path(only)]).unwrap()));
    assert_eq!(narrowed("docs"), ["docs/public/a"]);
    assert_eq!(narrowed("docs/public"), ["docs/public/a"]);
    assert_eq!(narrowed("docs/private"), Vec::<String>::new());
}

#[test]
fn global_is_another_word_for_user_unless_a_mount_has_that_name() {
    let home = TempDir::new().unwrap();
    let places = Places::new(home.path());
    let project = places.mount("", home.path().join("p"));
    let memdir = open(&[project.clone(), places.mount("user", home.path().join("u"))]);
    save(&memdir, "global/taste");
    assert_eq!(names(&memdir), ["user/taste"]);
    assert_eq!(memdir.read(&Read::all(path("global/taste"))).unwrap().name, "user/taste");
    assert_eq!(memdir.list(&List { topic: "global".into(), ..List::default() }).unwrap().memories.len(), 1);
    memdir.rename(&path("global/taste"), &path("global/style")).unwrap();
    assert_eq!(memdir.history(&ChangeFilter { path: Some(path("global/style")), ..ChangeFilter::default() }).unwrap().len(), 2);
    memdir.delete(&Delete { path: path("global/style"), expect: None }).unwrap();
    assert_eq!(names(&memdir), Vec::<String>::new());
    let own = open(&[project, places.mount("user", home.path().join("u")), places.mount("global", home.path().join("g"))]);
    save(&own, "global/x");
    assert_eq!(names(&own), ["global/x"]);
}
