//! Which project a directory belongs to, with real git repositories, friendly and hostile.

use memdir_core::{
    Project,
    internal::project::{self, ProjectKind, Worktrees},
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

pub(crate) fn git(dir: &Path, args: &[&str]) {
    let setting =
        ["-c", "protocol.file.allow=always", "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main"];
    let mut command = Command::new("git");
    command.arg("-C").arg(dir).args(setting).args(args).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR"] {
        command.env_remove(name);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

pub(crate) fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(crate) fn repository(dir: PathBuf) -> PathBuf {
    fs::create_dir_all(&dir).unwrap();
    git(&dir, &["init", "-q"]);
    git(&dir, &["commit", "-q", "--allow-empty", "-m", "first"]);
    dir
}

/// A place for one test; its path holds no link, so that paths can be compared.
pub(crate) fn place() -> (TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let real = fs::canonicalize(temp.path()).unwrap();
    (temp, real)
}

fn shared(dir: &Path) -> Project {
    project::find(dir, Worktrees::Shared).unwrap()
}

fn separate(dir: &Path) -> Project {
    project::find(dir, Worktrees::Separate).unwrap()
}

fn facts(project: &Project) -> (ProjectKind, &Path, &Path, usize) {
    (project.kind, &project.root, &project.checkout, project.problems.len())
}

#[test]
fn a_repository_is_one_project_from_every_subdirectory() {
    let (_temp, top) = place();
    let shop = repository(top.join("shop"));
    fs::create_dir_all(shop.join("src/deep")).unwrap();
    let project = shared(&shop);
    assert_eq!(facts(&project), (ProjectKind::Repository, shop.as_path(), shop.as_path(), 0));
    for inside in ["src", "src/deep", ".git", ".git/hooks", ".git/refs/heads"] {
        fs::create_dir_all(shop.join(inside)).unwrap();
        assert_eq!(shared(&shop.join(inside)), project, "{inside}");
    }
}

#[test]
fn ids_are_readable_and_differ_between_projects_of_the_same_name() {
    let (_temp, top) = place();
    let names = ["shop", "a/shop", "My Shop!", "übung", "-"];
    let ids: Vec<String> = names
        .iter()
        .map(|name| {
            fs::create_dir_all(top.join(name)).unwrap();
            shared(&top.join(name)).id
        })
        .collect();
    let slugs: Vec<&str> = ids.iter().map(|id| id.rsplit_once('-').unwrap().0).collect();
    assert_eq!(slugs, ["shop", "shop", "My-Shop", "bung", ""]);
    assert!(ids.iter().all(|id| id.rsplit_once('-').unwrap().1.len() == 10), "{ids:?}");
    let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len());
}

#[test]
fn a_long_path_has_a_short_id_of_its_own() {
    let (_temp, top) = place();
    let deep = |last: &str| top.join("a".repeat(200)).join("b".repeat(200)).join(format!("{}{last}", "c".repeat(200)));
    let ids: Vec<String> = ["x", "y"]
        .iter()
        .map(|last| {
            fs::create_dir_all(deep(last)).unwrap();
            shared(&deep(last)).id
        })
        .collect();
    assert_ne!(ids[0], ids[1], "names that are the same where they are cut");
    assert!(ids.iter().all(|id| id.starts_with(&"c".repeat(40)) && id.len() == 51), "{ids:?}");
}

#[test]
fn worktrees_share_or_are_separate_as_set() {
    let (_temp, top) = place();
    let shop = repository(top.join("shop"));
    let tree = top.join("elsewhere/fix");
    git(&shop, &["worktree", "add", "-q", tree.to_str().unwrap()]);
    fs::create_dir_all(tree.join("src")).unwrap();
    let project = shared(&tree.join("src"));
    assert_eq!(facts(&project), (ProjectKind::Worktree, shop.as_path(), tree.as_path(), 0));
    assert_eq!(project.id, shared(&shop).id);
    assert_eq!(project.git, shared(&shop).git);
    let own = separate(&tree.join("src"));
    assert_eq!(facts(&own), (ProjectKind::Worktree, tree.as_path(), tree.as_path(), 0));
    assert_ne!(own.id, project.id);
    assert_eq!(separate(&shop).id, project.id, "the main checkout keeps its memory when the setting changes");
}

#[test]
fn worktrees_with_relative_links_are_accepted() {
    let (_temp, top) = place();
    let shop = repository(top.join("shop"));
    let tree = top.join("fix");
    git(&shop, &["worktree", "add", "-q", tree.to_str().unwrap()]);
    put(&tree.join(".git"), "gitdir: ../shop/.git/worktrees/fix\n");
    put(&shop.join(".git/worktrees/fix/gitdir"), "../../../../fix/.git\n");
    assert_eq!(facts(&shared(&tree)), (ProjectKind::Worktree, shop.as_path(), tree.as_path(), 0));
}

#[test]
fn a_bare_repository_is_the_project_of_its_worktrees() {
    let (_temp, top) = place();
    let shop = repository(top.join("shop"));
    let bare = top.join("store.git");
    git(&top, &["clone", "-q", "--bare", shop.to_str().unwrap(), bare.to_str().unwrap()]);
    let project = shared(&bare);
    assert_eq!(facts(&project), (ProjectKind::Bare, bare.as_path(), bare.as_path(), 0));
    assert!(project.id.starts_with("store-"), "{}", project.id);
    let tree = top.join("tree");
    git(&bare, &["worktree", "add", "-q", tree.to_str().unwrap()]);
    assert_eq!(facts(&shared(&tree)), (ProjectKind::Worktree, bare.as_path(), tree.as_path(), 0));
}

#[test]
fn a_hidden_bare_repository_beside_its_worktrees_is_one_project() {
    let (_temp, top) = place();
    let shop = repository(top.join("shop"));
    let work = top.join("work");
    fs::create_dir_all(&work).unwrap();
    git(&top, &["clone", "-q", "--bare", shop.to_str().unwrap(), work.join(".bare").to_str().unwrap()]);
    put(&work.join(".git"), "gitdir: ./.bare\n");
    git(&work, &["worktree", "add", "-q", "main-tree"]);
    let (outer, inner) = (shared(&work), shared(&work.join("main-tree")));
    assert_eq!(facts(&outer), (ProjectKind::Bare, work.join(".bare").as_path(), work.as_path(), 0));
    assert_eq!(facts(&inner), (ProjectKind::Worktree, work.join(".bare").as_path(), work.join("main-tree").as_path(), 0));
    assert_eq!(outer.id, inner.id);
    assert!(outer.id.starts_with("work-"), "{}", outer.id);
}

#[test]
fn a_submodule_is_apart_and_the_same_from_every_worktree() {
    let (_temp, top) = place();
    let library = repository(top.join("library"));
    let shop = repository(top.join("shop"));
    git(&shop, &["submodule", "--quiet", "add", library.to_str().unwrap(), "deps/library"]);
    git(&shop, &["commit", "-q", "-m", "library"]);
    let sub = shop.join("deps/library");
    let project = shared(&sub);
    assert_eq!(facts(&project), (ProjectKind::Submodule, sub.as_path(), sub.as_path(), 0));
    assert_ne!(project.id, shared(&shop).id);
    assert_ne!(project.id, shared(&library).id);
    let tree = top.join("tree");
    git(&shop, &["worktree", "add", "-q", tree.to_str().unwrap()]);
    git(&tree, &["submodule", "--quiet", "update", "--init"]);
    let there = tree.join("deps/library");
    assert_eq!(facts(&shared(&there)), (ProjectKind::Submodule, sub.as_path(), there.as_path(), 0));
    assert_eq!(facts(&separate(&there)), (ProjectKind::Submodule, there.as_path(), there.as_path(), 0));
    let inner = top.join("inner");
    git(&sub, &["worktree", "add", "-q", inner.to_str().unwrap()]);
    assert_eq!(
        facts(&shared(&inner)),
        (ProjectKind::Worktree, sub.as_path(), inner.as_path(), 0),
        "a worktree of a submodule is the submodule"
    );
}

#[cfg(unix)]
#[test]
fn a_linked_checkout_is_the_checkout() {
    let (_temp, top) = place();
    let shop = repository(top.join("shop"));
    std::os::unix::fs::symlink(&shop, top.join("link")).unwrap();
    assert_eq!(shared(&top.join("link")), shared(&shop));
}

#[test]
fn outside_git_the_directory_is_the_project() {
    let (_temp, top) = place();
    let plain = top.join("plain/sub");
    fs::create_dir_all(&plain).unwrap();
    assert_eq!(facts(&shared(&plain)), (ProjectKind::Directory, plain.as_path(), plain.as_path(), 0));
    assert_eq!(project::find(&top.join("absent"), Worktrees::Shared).unwrap_err().code(), "io");
}

/// A directory that another user prepared: none of these may become the victim's project, whose memory it could then read.
#[test]
fn a_prepared_git_file_claims_nothing() {
    let (_temp, top) = place();
    let victim = repository(top.join("victim"));
    let tree = top.join("victim-tree");
    git(&victim, &["worktree", "add", "-q", tree.to_str().unwrap()]);
    let evil = top.join("evil");
    let lies = [
        ("the victim's repository itself", format!("gitdir: {}", victim.join(".git").display()), vec![]),
        ("the victim's worktree", format!("gitdir: {}", victim.join(".git/worktrees/victim-tree").display()), vec![]),
        (
            "a worktree entry of its own with the victim as its repository",
            "gitdir: fake/worktrees/w".to_owned(),
            vec![
                ("fake/worktrees/w/commondir", format!("{}\n", victim.join(".git").display())),
                ("fake/worktrees/w/gitdir", format!("{}\n", evil.join(".git").display())),
            ],
        ),
        (
            "a repository of its own that says its checkout is the victim",
            "gitdir: fake".to_owned(),
            vec![
                ("fake/HEAD", "ref: refs/heads/main\n".to_owned()),
                ("fake/objects/.keep", String::new()),
                ("fake/refs/.keep", String::new()),
                ("fake/config", format!("[core]\n\tworktree = {}\n", victim.display())),
            ],
        ),
        ("nothing", "gitdir: /nonexistent/place".to_owned(), vec![]),
        ("no link at all", "hello".to_owned(), vec![]),
        ("a huge file", "gitdir: ".to_owned() + &"x".repeat(100_000), vec![]),
    ];
    for (what, link, files) in lies {
        let _ = fs::remove_dir_all(&evil);
        put(&evil.join(".git"), &link);
        files.iter().for_each(|(name, text)| put(&evil.join(name), text));
        let found = shared(&evil);
        assert_eq!(facts(&found), (ProjectKind::Directory, evil.as_path(), evil.as_path(), 1), "{what}");
        assert_ne!(found.id, shared(&victim).id, "{what}");
        assert_eq!(found.git, None, "{what}");
    }
}

/// The worktree entry is whole and points back, but the configuration of its repository names the victim's checkout.
#[test]
fn a_prepared_repository_cannot_move_its_root_to_a_victim() {
    let (_temp, top) = place();
    let victim = repository(top.join("victim"));
    let own = repository(top.join("own"));
    let tree = top.join("tree");
    git(&own, &["worktree", "add", "-q", tree.to_str().unwrap()]);
    put(&own.join(".git/config"), &format!("[core]\n\tworktree = {}\n", victim.display()));
    assert_eq!(shared(&tree).root, own);
}

#[cfg(unix)]
#[test]
fn a_link_to_the_git_file_of_another_project_claims_nothing() {
    let (_temp, top) = place();
    let victim = repository(top.join("victim"));
    let tree = top.join("victim-tree");
    git(&victim, &["worktree", "add", "-q", tree.to_str().unwrap()]);
    let evil = top.join("evil");
    fs::create_dir_all(&evil).unwrap();
    std::os::unix::fs::symlink(tree.join(".git"), evil.join(".git")).unwrap();
    assert_eq!(facts(&shared(&evil)), (ProjectKind::Directory, evil.as_path(), evil.as_path(), 1));
    fs::remove_file(evil.join(".git")).unwrap();
    std::os::unix::fs::symlink(victim.join(".git"), evil.join(".git")).unwrap();
    assert_eq!(shared(&evil).root, evil, "a linked .git directory makes a project of its own");
}

#[test]
fn why_is_one_sentence() {
    let (_temp, top) = place();
    let shop = repository(top.join("shop"));
    let tree = top.join("tree");
    git(&shop, &["worktree", "add", "-q", tree.to_str().unwrap()]);
    let reason = |project: Project| project.reason().replace(top.to_str().unwrap(), "TOP");
    assert_eq!(reason(shared(&shop)), "TOP/shop is a git repository");
    assert_eq!(reason(shared(&tree)), "TOP/tree is a worktree of TOP/shop, and worktrees share one memory");
    assert_eq!(reason(separate(&tree)), "TOP/tree is a worktree, and worktrees are kept separate");
    assert_eq!(reason(shared(&top)), "TOP is not in a git repository, so the directory itself is the project");
}

#[test]
fn hints_come_from_remotes_and_the_first_commit_without_credentials() {
    let (_temp, top) = place();
    let shop = repository(top.join("shop"));
    git(&shop, &["remote", "add", "origin", "https://ada:hunter2@GitHub.com/Ada/Shop.git"]);
    git(&shop, &["remote", "add", "backup", "git@github.com:ada/shop.git"]);
    git(&shop, &["remote", "add", "local", "/srv/git/shop.git"]);
    let hints = project::hints(&shared(&shop));
    assert_eq!(hints.remotes, ["github.com/ada/shop"]);
    assert_eq!(hints.first_commit.as_ref().map(String::len), Some(40));
    let other = project::Hints { remotes: vec!["github.com/eve/shop".into()], first_commit: Some("0".repeat(40)) };
    assert!(!hints.agree(&other) && !project::Hints::default().agree(&project::Hints::default()));
    assert!(hints.agree(&project::Hints { remotes: vec!["github.com/ada/shop".into()], first_commit: None }));
    assert_eq!(project::hints(&shared(&top)), project::Hints::default());
}

#[test]
fn remotes_have_one_form() {
    let forms = [
        "https://github.com/a/b", "http://u:p@github.com:443/a/b.git/", "git@github.com:a/b.git", "ssh://git@GITHUB.com:22/a/B",
        "github.com:a/b",
    ];
    assert_eq!(forms.map(project::remote_key), [const { "github.com/a/b" }; 5].map(|key| Some(key.to_owned())));
    let local = ["/srv/x.git", "../x", "file:///srv/x", "C:\\x", "", "https://host"];
    assert_eq!(local.map(project::remote_key), [const { None }; 6]);
}
