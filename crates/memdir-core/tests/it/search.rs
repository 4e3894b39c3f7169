//! Search through the front door: files on disk, questions, lines that answer.

use memdir_core::{
    Answer, Embedder, Error, FileStore, Kind, LineRange, MemoryPath, Method, Mount, MountInfo, Read, Search, Searcher, Source, Store as _,
    SystemClock, WhyNot,
    internal::{base::time::Clock, search::embed::testing::RamEmbedder, store::stop::Stop},
    testing::FixedClock,
};
use memdir_index::TantivyIndex;
use proptest::prelude::*;
use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// A directory of memories with its index beside it.
struct Space {
    folder: tempfile::TempDir,
    store: FileStore,
    searcher: Searcher,
}

fn index(folder: &Path, info: &MountInfo, embedder: Option<&Arc<dyn Embedder>>) -> Arc<TantivyIndex> {
    Arc::new(TantivyIndex::for_mount(&folder.join("cache"), &info.root, &info.rules, embedder.map(|e| (e.id().clone(), e.dim()))))
}

impl Space {
    fn new(files: &[(&str, &str)]) -> Space {
        Space::with(files, None)
    }

    fn with(files: &[(&str, &str)], embedder: Option<Arc<dyn Embedder>>) -> Space {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("memory")).unwrap();
        for (name, text) in files {
            put(folder.path(), name, text);
        }
        let root = folder.path().join("memory").canonicalize().unwrap();
        let store = FileStore::open(&[Mount::new("", root, folder.path().join("journal"))]).unwrap();
        let given = embedder.clone();
        let searcher = Searcher::new(&store, embedder, Arc::new(SystemClock), |info| index(folder.path(), info, given.as_ref()));
        Space { folder, store, searcher }
    }

    fn put(&self, name: &str, text: &str) {
        put(self.folder.path(), name, text);
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.folder.path().join("memory").join(name)).unwrap();
    }

    fn ask(&self, query: &str) -> Answer {
        self.searcher.search(&self.store, &Search::new(query)).unwrap()
    }

    /// The answers as `path:lines`.
    fn places(&self, query: &str) -> Vec<String> {
        self.ask(query).hits.iter().map(|hit| format!("{}:{}", hit.path, hit.lines)).collect()
    }

    fn first(&self, query: &str) -> String {
        self.places(query).first().cloned().unwrap_or_default()
    }
}

fn put(folder: &Path, name: &str, text: &str) {
    let path = folder.join("memory").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

const NOTES: &[(&str, &str)] = &[
    (
        "deploy.md",
        "---\nname: Deploying\ndescription: how the site goes live\ntype: project\n---\n\n# Deploying\n\nWe ship every Friday at noon.\n\n## Rollback\n\n- Revert the commit and push again.\n- Tell the channel #ops.\n",
    ),
    ("style.md", "---\ntype: feedback\n---\n\nThe user prefers tabs over spaces.\n\nNever use emojis in commit messages.\n"),
    ("team/oncall.md", "# On call\n\nAnn has the pager in May, Bob in June.\n\n| who | phone |\n|---|---|\n| Ann | 555-0100 |\n"),
    (
        "db.md",
        "The pool is made by `getUserName` in src/db/pool.rs and fails with E0425.\n\nRun it with `--dry-run` first.\n\n```sql\nselect * from sessions;\n```\n",
    ),
];

#[test]
fn the_lines_that_answer_are_found() {
    let space = Space::new(NOTES);
    assert_eq!(space.first("when do we ship"), "deploy.md:7-9");
    assert_eq!(space.first("how to revert a commit"), "deploy.md:11-13");
    assert_eq!(space.first("does the user like tabs"), "style.md:5-5");
    assert_eq!(space.first("ann phone"), "team/oncall.md:5-7");
    assert_eq!(space.places("quantum chromodynamics lagrangian"), [""; 0]);
    assert_eq!(space.ask("when do we ship").method, Method::Fts);
}

#[test]
fn identifiers_are_found_whole_and_in_parts() {
    let space = Space::new(NOTES);
    for query in ["getUserName", "get user name", "src/db/pool.rs", "pool.rs", "E0425", "e0425"] {
        assert_eq!(space.first(query), "db.md:1-1", "{query}");
    }
    assert_eq!(space.first("--dry-run"), "db.md:3-3");
    assert_eq!(space.first("sessions"), "db.md:5-7");
}

#[test]
fn names_and_descriptions_are_searched_but_never_cited() {
    let space = Space::new(NOTES);
    let answer = space.ask("site goes live");
    assert_eq!(answer.hits[0].path.as_str(), "deploy.md");
    assert!(answer.hits.iter().all(|hit| !hit.text.contains("description:")));
}

#[test]
fn every_script_is_found() {
    let space = Space::new(&[
        ("zh.md", "我们每周五部署服务器。\n\n数据库备份在凌晨进行。\n"),
        ("ja.md", "毎週金曜日にデプロイします。\n\nお茶を飲むのが好きです。\n"),
        ("ko.md", "매주 금요일에 서버를 배포합니다.\n\n데이터베이스 백업은 새벽에 합니다.\n"),
        ("ar.md", "ننشر الخادم كل يوم جمعة.\n\nالنسخ الاحتياطي لقاعدة البيانات ليلاً.\n"),
        ("ru.md", "Мы разворачиваем сервер каждую пятницу.\n\nРезервное копирование базы данных ночью.\n"),
        ("emoji.md", "Releases are marked 🚀 in the channel.\n\nBirthdays get 🎂.\n"),
    ]);
    for (query, place) in [
        ("部署", "zh.md:1-1"),
        ("数据库备份", "zh.md:3-3"),
        ("デプロイ", "ja.md:1-1"),
        ("茶", "ja.md:3-3"),
        ("서버 배포", "ko.md:1-1"),
        ("데이터베이스", "ko.md:3-3"),
        ("الخادم", "ar.md:1-1"),
        ("قاعدة البيانات", "ar.md:3-3"),
        ("серверы", "ru.md:1-1"),
        ("резервные копии базы", "ru.md:3-3"),
        ("🚀", "emoji.md:1-1"),
        ("🎂", "emoji.md:3-3"),
    ] {
        assert_eq!(space.first(query), place, "{query}");
    }
}

#[test]
fn a_change_by_any_process_is_seen_by_the_next_search() {
    let space = Space::new(NOTES);
    assert_eq!(space.places("zebra crossing"), [""; 0]);
    space.put("animals.md", "The zebra crossing is closed.\n");
    assert_eq!(space.first("zebra crossing"), "animals.md:1-1");
    // The same length and the same modification time: only the bytes differ.
    space.put("animals.md", "The llama crossing is closed.\n");
    assert_eq!(space.first("llama crossing"), "animals.md:1-1");
    assert_eq!(space.places("zebra"), [""; 0]);
    space.remove("animals.md");
    assert_eq!(space.places("llama"), [""; 0]);
    for n in 0..60 {
        space.put(&format!("many/{n}.md"), &format!("The llama number {n} is here.\n"));
    }
    assert_eq!(space.first("llama number 42"), "many/42.md:1-1");
    // Back to what is indexed: the overlay of a moment ago must not linger.
    space.put("many/42.md", "A walrus instead.\n");
    assert_eq!(space.first("walrus"), "many/42.md:1-1");
    space.put("many/42.md", "The llama number 42 is here.\n");
    assert_eq!(space.places("walrus"), [""; 0]);
    assert_eq!(space.first("llama number 42"), "many/42.md:1-1");
    space.searcher.settle(&space.store).unwrap();
    space.put("many/42.md", "Gone fishing.\n");
    assert_eq!(space.first("fishing"), "many/42.md:1-1");
}

#[test]
fn what_was_overlaid_is_written_after_the_answer_and_answers_the_same() {
    let space = Space::new(NOTES);
    space.searcher.index(&space.store, false, &|_| {}).unwrap();
    for n in 0..12 {
        space.put(&format!("new-{n}.md"), &format!("Fresh fact number {n} about deploying.\n"));
    }
    let scores = |answer: Answer| answer.hits.into_iter().map(|hit| (hit.path.to_string(), hit.lines, hit.score)).collect::<Vec<_>>();
    let overlaid = scores(space.ask("fresh deploying fact"));
    assert!(overlaid.len() > 5);
    space.searcher.settle(&space.store).unwrap();
    assert_eq!(scores(space.ask("fresh deploying fact")), overlaid);
    space.searcher.index(&space.store, true, &|_| {}).unwrap();
    assert_eq!(scores(space.ask("fresh deploying fact")), overlaid);
}

#[test]
fn the_lines_of_a_hit_give_its_text() {
    let mut long = String::from("# Log\n\n| n | what |\n|---|---|\n");
    (0..60).for_each(|n| long.push_str(&format!("| {n} | something{} |\n", if n == 37 { " like the turquoise elephant" } else { "" })));
    let space = Space::new(&[("long.md", &long), ("crlf.md", "first\r\n\r\nthe violet rhino\r\n"), NOTES[0]]);
    let memdir = memdir_core::Memdir::new(
        Arc::new(FileStore::open(&[Mount::new("", space.folder.path().join("memory"), space.folder.path().join("j"))]).unwrap()),
        memdir_core::Actor { name: "t".into(), session: None },
    );
    for query in ["turquoise elephant", "violet rhino", "revert", "ship Friday"] {
        for hit in space.ask(query).hits {
            let lines: LineRange = hit.lines.parse().unwrap();
            let reading = memdir.read(&Read { lines: Some(lines), ..Read::all(hit.path.clone()) }).unwrap();
            assert_eq!((reading.content, reading.lines), (hit.text.clone(), hit.lines.clone()));
        }
    }
    let hit = &space.ask("turquoise elephant").hits[0];
    assert!(hit.text.contains("turquoise elephant") && hit.text.lines().count() <= 8, "{}", hit.text);
}

#[test]
fn operators_filter_the_hits() {
    let space = Space::new(&[
        ("a.md", "---\ntype: feedback\n---\nThe blue green deploy is slow.\n"),
        ("team/b.md", "---\ntype: project\n---\nThe green blue deploy is fast.\n\nA deploy on Friday.\n"),
        ("teams/c.md", "deploy it\n"),
    ]);
    let files = |query: &str| {
        let mut files: Vec<String> = space.ask(query).hits.iter().map(|hit| hit.path.to_string()).collect();
        files.sort();
        files.dedup();
        files.join(" ")
    };
    assert_eq!(files("deploy"), "a.md team/b.md teams/c.md");
    assert_eq!(files("deploy type:feedback"), "a.md");
    assert_eq!(files("deploy path:team/"), "team/b.md");
    assert_eq!(files("deploy path:a"), "a.md");
    assert_eq!(files("deploy -green"), "team/b.md teams/c.md");
    assert_eq!(files("\"blue green\""), "a.md");
    assert_eq!(files("\"Green  BLUE\" deploy"), "team/b.md");
    assert_eq!(files("deploy source:chat"), "");
    let only = |search: Search| space.searcher.search(&space.store, &search).unwrap().hits.len();
    assert_eq!(only(Search { kind: Some(Kind::Project), ..Search::new("deploy") }), 2);
    assert_eq!(only(Search { under: Some("teams".into()), ..Search::new("deploy") }), 1);
    assert_eq!(only(Search { source: Some(Source::Custom), ..Search::new("deploy") }), 0);
    assert_eq!(only(Search { since: Some("2100-01-01T00:00:00Z".parse().unwrap()), ..Search::new("deploy") }), 0);
}

#[test]
fn the_entrypoint_is_content_and_its_pointers_are_signals() {
    let space = Space::new(&[
        (
            "MEMORY.md",
            "# Memory\n\nAlways answer in French.\n\n- [Shipping](ship.md) — the zeppelin procedure\n- [Lost](gone.md) — about walruses\n",
        ),
        ("ship.md", "Push to main, then wait.\n"),
        ("other.md", "Nothing of interest here.\n"),
    ]);
    assert_eq!(space.first("answer in french"), "MEMORY.md:1-3");
    assert_eq!(space.first("zeppelin procedure"), "ship.md:1-1");
    assert_eq!(space.first("walruses"), "MEMORY.md:6-6", "a pointer to nothing is a line like any other");
}

#[test]
fn near_duplicates_of_one_file_collapse_and_other_files_keep_theirs() {
    let twice = "The heron nests behind the old mill near the river each spring.\n\nThe heron nests behind the old mill, near the river, each spring!\n";
    let space = Space::new(&[("a.md", twice), ("b.md", "The heron nests behind the old mill near the river each spring.\n")]);
    assert_eq!(space.places("where does the heron nest"), ["a.md:1-1", "b.md:1-1"]);
}

#[test]
fn memories_win_ties_against_chats() {
    let folder = tempfile::tempdir().unwrap();
    let mounts: Vec<Mount> = [("chats", Source::Chat), ("notes", Source::Memory)]
        .map(|(name, source)| {
            fs::create_dir_all(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("x.md"), "The heron nests by the mill.\n").unwrap();
            Mount { source, ..Mount::new(name, folder.path().join(name).canonicalize().unwrap(), folder.path().join("j").join(name)) }
        })
        .into();
    let store = FileStore::open(&mounts).unwrap();
    let searcher = Searcher::new(&store, None, Arc::new(SystemClock), |info| index(folder.path(), info, None));
    let paths =
        |query: &str| searcher.search(&store, &Search::new(query)).unwrap().hits.iter().map(|hit| hit.path.to_string()).collect::<Vec<_>>();
    assert_eq!(paths("heron mill"), ["notes/x.md", "chats/x.md"]);
    assert_eq!(paths("heron mill source:chat"), ["chats/x.md"]);
    assert_eq!(paths("heron mill path:notes"), ["notes/x.md"]);
}

#[test]
fn old_logs_lose_weight_only_when_asked_and_evergreen_files_never() {
    let text = "We met the beekeeper about the hives.\n";
    let folder = tempfile::tempdir().unwrap();
    for name in ["2024-01-01.md", "2024-03-01.md", "bees.md"] {
        put(folder.path(), name, text);
    }
    let store = FileStore::open(&[Mount::new("", folder.path().join("memory").canonicalize().unwrap(), folder.path().join("j"))]).unwrap();
    let clock = Arc::new(FixedClock("2024-03-02T00:00:00Z".parse().unwrap()));
    let searcher = Searcher::new(&store, None, clock, |info| index(folder.path(), info, None));
    let ask = |decay| {
        let answer = searcher.search(&store, &Search { decay, min_score: 0.0, ..Search::new("beekeeper hives") }).unwrap();
        answer.hits.iter().map(|hit| (hit.path.to_string(), hit.score)).collect::<Vec<_>>()
    };
    let (plain, decayed) = (ask(false), ask(true));
    let change = |name: &str| {
        let score = |all: &[(String, f32)]| all.iter().find(|(path, _)| path == name).unwrap().1;
        score(&decayed) / score(&plain)
    };
    assert_eq!(change("bees.md"), 1.0);
    assert!((change("2024-03-01.md") - 0.5f32.powf(1.0 / 30.0)).abs() < 1e-4);
    assert!((change("2024-01-01.md") - 0.5f32.powf(61.0 / 30.0)).abs() < 1e-4);
}

#[test]
fn why_not_names_the_obstacle() {
    let space = Space::new(NOTES);
    let why = |query: &str, name: &str, change: fn(&mut Search)| {
        let mut search = Search::new(query);
        change(&mut search);
        space.searcher.why_not(&space.store, &search, &MemoryPath::parse(name).unwrap()).unwrap()
    };
    let same = |_: &mut Search| {};
    assert_eq!(why("ship friday", "deploy", same), WhyNot::Returned { rank: 1 });
    assert_eq!(why("ship friday", "nowhere", same), WhyNot::Missing);
    assert_eq!(why("ship friday type:feedback", "deploy", same), WhyNot::Filtered { by: "The filter type:feedback".into() });
    assert_eq!(why("xylophone", "deploy", same), WhyNot::Unrelated);
    assert!(matches!(why("ship every unicorn to mars on a rainbow painted by giants", "deploy", same), WhyNot::TooWeak { .. }));
    assert!(matches!(why("never use the commit", "deploy", |s| s.max_results = 1), WhyNot::Outranked { rank: 2.., .. }));
    space.put("archive/otter.md", "The otter keeps its favourite pebble in a pocket.\n");
    let archived = WhyNot::OnRequest { what: "an archived memory".into(), with: "path:archive/".into() };
    assert_eq!(why("otter favourite pebble pocket", "archive/otter", same), archived);
    // A condition that the memory fulfils is not the obstacle.
    assert_eq!(why("otter favourite pebble pocket -walrus", "archive/otter", same), archived);
    let filtered = |by: &str| WhyNot::Filtered { by: by.into() };
    assert_eq!(why("\"ship friday\"", "deploy", same), filtered("The phrase \"ship friday\""));
    space.put("beaver.md", "The beaver dam blocks the staging canal.\n");
    assert_eq!(why("beaver canal -walrus -staging", "beaver", same), filtered("The excluded word -staging"));
}

#[test]
fn why_not_reports_a_memory_that_is_crowded_out() {
    let notes: Vec<(String, String)> = (0..600).map(|n| (format!("n{n}.md"), format!("Note {n} is about the deploy.\n"))).collect();
    let space = Space::new(&notes.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect::<Vec<_>>());
    let why = |n: usize| {
        space.searcher.why_not(&space.store, &Search::new("deploy"), &MemoryPath::parse(&format!("n{n}")).unwrap()).unwrap().to_string()
    };
    let crowded: Vec<String> = (0..600).step_by(30).map(why).filter(|why| why.contains("too many others match as well")).collect();
    assert!(!crowded.is_empty());
    // A score of at least the minimum is never reported as below it.
    assert!((0..600).step_by(30).map(why).all(|why| !why.contains("below the minimum")));
}

#[test]
fn explanations_add_up() {
    let embedder: Arc<dyn Embedder> = Arc::new(RamEmbedder::new());
    let space = Space::with(NOTES, Some(embedder));
    let answer = space.searcher.search(&space.store, &Search { explain: true, ..Search::new("when do we ship on friday") }).unwrap();
    assert_eq!(answer.method, Method::Hybrid);
    let explain = answer.hits[0].explain.as_ref().unwrap();
    assert!(explain.parts.body > 0.0 && explain.cosine.unwrap() > 0.0);
    assert_eq!(explain.terms.iter().map(|(term, _)| term.as_str()).collect::<Vec<_>>(), ["ship", "friday"]);
    assert!((explain.sum / (explain.sum + 0.42) - answer.hits[0].score).abs() < 1e-6);
}

#[test]
fn hits_by_meaning_alone_are_marked() {
    let embedder: Arc<dyn Embedder> = Arc::new(RamEmbedder::new());
    // The double's meaning is its words; stop words are words to it and no words to the index.
    let space = Space::with(&[("a.md", "should we have been there\n"), ("b.md", "heron\n")], Some(embedder));
    let answer = space.ask("xyzzy");
    assert_eq!((answer.hits.len(), answer.method), (0, Method::Vector));
}

#[test]
fn a_failing_embedder_only_disables_semantic_search() {
    let embedder = Arc::new(RamEmbedder::new());
    let space = Space::with(NOTES, Some(embedder.clone()));
    space.ask("ship");
    embedder.set_failing(true);
    space.put("new.md", "The walrus ships on Monday.\n");
    let answer = space.ask("walrus monday");
    assert_eq!((answer.hits[0].path.as_str(), answer.method), ("new.md", Method::Fts));
    assert!(answer.notes[0].starts_with("searched by words only, not by meaning"), "{:?}", answer.notes);
}

#[test]
fn a_slow_embedder_is_not_waited_for_and_fills_in_later() {
    let embedder = Arc::new(RamEmbedder::new().slow());
    let space = Space::with(NOTES, Some(embedder.clone()));
    let answer = space.ask("when do we ship");
    assert_eq!((answer.hits[0].path.as_str(), answer.method), ("deploy.md", Method::Fts), "nothing is embedded yet");
    embedder.set_failing(true);
    let indexed = space.searcher.index(&space.store, false, &|_| {}).unwrap().remove(0);
    assert_eq!((indexed.put, indexed.embedded, indexed.problems.len()), (4, 0, 1));
    assert!(space.searcher.embed_missing(&space.store, 100).is_err());
    assert_eq!(space.searcher.state(&space.store).unwrap()[0].unembedded, 4);
    embedder.set_failing(false);
    assert_eq!(space.searcher.embed_missing(&space.store, 3).unwrap(), 3);
    assert_eq!(space.searcher.embed_missing(&space.store, 100).unwrap(), 1);
    let asked = embedder.asked().len();
    assert_eq!(space.searcher.embed_missing(&space.store, 100).unwrap(), 0);
    assert_eq!(space.ask("when do we ship").method, Method::Hybrid);
    // What has a vector by its text is not embedded again, whatever its file is called.
    let text = fs::read_to_string(space.folder.path().join("memory/db.md")).unwrap();
    space.remove("db.md");
    space.put("database.md", &text);
    space.searcher.index(&space.store, false, &|_| {}).unwrap();
    assert_eq!(space.searcher.state(&space.store).unwrap()[0].unembedded, 0);
    assert_eq!(embedder.asked()[asked..], [""; 0], "the query is remembered too");
}

#[test]
fn lost_vectors_are_computed_again() {
    let embedder: Arc<dyn Embedder> = Arc::new(RamEmbedder::new());
    let space = Space::with(NOTES, Some(embedder.clone()));
    space.searcher.index(&space.store, false, &|_| {}).unwrap();
    assert_eq!(space.ask("when do we ship").method, Method::Hybrid);
    let cache = space.folder.path().join("cache/index");
    let index = fs::read_dir(cache).unwrap().next().unwrap().unwrap().path();
    let vectors = fs::read_dir(&index).unwrap().map(|e| e.unwrap().path()).find(|p| p.is_dir()).unwrap();
    fs::remove_dir_all(vectors).unwrap();
    let again = Searcher::new(&space.store, Some(embedder.clone()), Arc::new(SystemClock), |info| {
        crate::search::index(space.folder.path(), info, Some(&embedder))
    });
    let answer = again.search(&space.store, &Search::new("when do we ship")).unwrap();
    assert_eq!((answer.hits[0].path.as_str(), answer.method), ("deploy.md", Method::Hybrid));
    assert_eq!(again.state(&space.store).unwrap()[0].unembedded, 0);
}

#[test]
fn any_text_is_a_valid_query() {
    let space = Space::new(NOTES);
    let long = "what about the deploy on friday ".repeat(320);
    for query in [
        "", " ", "\"", "\"\"", "-", "--", "-x", "type:", "path:", "*", "a", "🚀", "\0", "(((", "a AND b OR NOT c", "\\", "%", "NEAR/3",
        &long,
    ] {
        space.ask(query);
    }
    assert_eq!(space.first(&long), "deploy.md:7-9");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn fewer_answers_are_the_first_of_more(words in prop::collection::vec("(deploy|friday|server|backup|ann|key) (one|two|three|four)", 40..120), query in "(deploy|friday|backup|key|zoo)( (server|ann|two|four))?") {
        let text: String = words.iter().map(|words| format!("- {words}\n")).collect();
        let (a, b) = text.split_at(text.len() / 2 - text.len() / 2 % 2);
        let embedder: Arc<dyn Embedder> = Arc::new(RamEmbedder::new());
        let space = Space::with(&[("a.md", a), ("b.md", b), NOTES[0]], Some(embedder));
        let ask = |k: usize| {
            let search = Search { max_results: k, min_score: 0.0, ..Search::new(query.clone()) };
            space.searcher.search(&space.store, &search).unwrap().hits.into_iter().map(|hit| (hit.path, hit.lines, hit.score.to_bits())).collect::<Vec<_>>()
        };
        let most = ask(50);
        for k in 1..50 {
            prop_assert_eq!(&ask(k)[..], &most[..k.min(most.len())]);
        }
    }
}

#[test]
fn one_bad_file_does_not_hide_the_others() {
    let space = Space::new(NOTES);
    fs::write(space.folder.path().join("memory/bad.md"), b"the walrus \xff\xfe is here\n").unwrap();
    assert_eq!(space.first("walrus"), "bad.md:1-1");
    assert_eq!(space.first("when do we ship"), "deploy.md:7-9");
}

#[test]
fn the_state_of_the_index_is_reported() {
    let space = Space::new(NOTES);
    space.searcher.index(&space.store, false, &|_| {}).unwrap();
    let state = space.searcher.state(&space.store).unwrap().remove(0);
    assert_eq!((state.files, state.changed, state.gone), (4, 0, 0));
    assert!(state.size.bytes > 1_000 && state.last_indexed.is_some());
    space.put("new.md", "new\n");
    space.remove("db.md");
    let state = space.searcher.state(&space.store).unwrap().remove(0);
    assert_eq!((state.changed, state.gone), (1, 1));
}

#[test]
fn code_and_frontmatter_comments_are_not_headings_of_hits() {
    let quoting = "# Guide\n\n````md\n```sh\n# not a heading\n```\n# not one either\n````\n\nThe zebra sleeps at noon.\n";
    let commented = "---\n# draft\nname: Okapi\n---\n\n## Habitat ##\n\nThe okapi lives in forests.\n";
    let space = Space::new(&[("zebra.md", quoting), ("okapi.md", commented)]);
    assert_eq!(space.ask("where does the zebra sleep").hits[0].headings, ["Guide"]);
    assert_eq!(space.ask("okapi forests").hits[0].headings, ["Habitat"]);
}

#[test]
fn a_damaged_index_is_rebuilt_and_reported_once() {
    let space = Space::new(NOTES);
    space.searcher.index(&space.store, false, &|_| {}).unwrap();
    let reopened = || Searcher::new(&space.store, None, Arc::new(SystemClock), |info| index(space.folder.path(), info, None));
    let notes = |searcher: &Searcher| {
        let answer = searcher.search(&space.store, &Search::new("when do we ship")).unwrap();
        assert_eq!(answer.hits[0].path.as_str(), "deploy.md");
        answer.notes
    };
    assert_eq!(notes(&reopened()), [""; 0]);
    damage(&space.folder.path().join("cache"));
    let searcher = reopened();
    assert_eq!(notes(&searcher), ["the search index was damaged and has been rebuilt"]);
    assert_eq!(notes(&searcher), [""; 0]);
    assert_eq!(notes(&reopened()), [""; 0]);
    space.searcher.index(&space.store, false, &|_| {}).unwrap();
    damage(&space.folder.path().join("cache"));
    let indexed = reopened().index(&space.store, false, &|_| {}).unwrap().remove(0);
    let problems: Vec<&str> = indexed.problems.iter().map(|problem| problem.what.as_str()).collect();
    assert_eq!(problems, ["the search index was damaged and has been rebuilt"]);
}

/// A server keeps the files mapped for days. The system ends a process that touches a mapped page that is gone, unless a signal
/// handler replaces the page.
#[test]
#[cfg(unix)]
fn an_index_that_is_truncated_in_place_while_it_is_mapped_is_rebuilt() {
    for embedder in [None, Some(Arc::new(RamEmbedder::new()) as Arc<dyn Embedder>)] {
        let space = Space::with(NOTES, embedder);
        space.searcher.index(&space.store, false, &|_| {}).unwrap();
        let notes = || {
            let answer = space.ask("when do we ship");
            assert_eq!(answer.hits[0].path.as_str(), "deploy.md");
            answer.notes
        };
        assert_eq!(notes(), [""; 0]);
        truncate(&space.folder.path().join("cache"));
        assert_eq!(notes(), ["the search index was damaged and has been rebuilt"]);
        assert_eq!(notes(), [""; 0]);
    }
}

/// Truncates every file of every index below a directory, in place; the state stays, so that the index is not opened again.
#[cfg(unix)]
fn truncate(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            truncate(&path);
        } else if path.file_name().is_some_and(|name| name != "state" && name != "lock") {
            fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
        }
    }
}

/// Inverts the last byte of the state of every index below a directory.
fn damage(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            damage(&path);
        } else if path.file_name().is_some_and(|name| name == "state") {
            let mut bytes = fs::read(&path).unwrap();
            *bytes.last_mut().unwrap() ^= 0xff;
            fs::write(&path, bytes).unwrap();
        }
    }
}

/// A clock that cancels a call when it has been asked for the time this often. Indexing asks once for each file.
struct StoppingClock {
    stop: Stop,
    at: usize,
    asked: AtomicUsize,
}

impl Clock for StoppingClock {
    fn now(&self) -> jiff::Timestamp {
        if self.asked.fetch_add(1, Ordering::SeqCst) + 1 == self.at {
            self.stop.stop();
        }
        SystemClock.now()
    }

    fn zone(&self) -> jiff::tz::TimeZone {
        jiff::tz::TimeZone::UTC
    }
}

#[test]
fn a_cancelled_search_stops_indexing_and_hides_no_file_from_the_next_search() {
    // Few files are laid over the index, many are written into it; both in a process that watches its files, and in one that does not.
    for (files, watches) in [(20, true), (20, false), (200, true), (200, false)] {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..files {
            put(folder.path(), &format!("n{n}.md"), &format!("The tide table of day {n}.\n"));
        }
        let root = folder.path().join("memory").canonicalize().unwrap();
        let store = FileStore::open(&[Mount::new("", root, folder.path().join("journal"))]).unwrap();
        let clock = Arc::new(StoppingClock { stop: Stop::default(), at: 10, asked: AtomicUsize::new(0) });
        let searcher = Searcher::new(&store, None, clock.clone(), |info| index(folder.path(), info, None));
        let searcher = if watches { searcher.watching() } else { searcher };
        let cancelled = searcher.search(&*store.with_stop(&clock.stop), &Search::new("tide table"));
        assert!(matches!(cancelled, Err(Error::Unavailable { .. })), "{files}: {cancelled:?}");
        let asked = clock.asked.load(Ordering::SeqCst);
        assert!(asked <= 13, "{files}: {asked} files were read");
        let counted: Vec<u64> = searcher.counts(&store).unwrap().iter().map(|mount| mount.counts.files).collect();
        assert_eq!(counted, [files], "watches: {watches}");
    }
}

/// Searches that wait for the index lock of another process, or for a search that does, used to wait for 60 seconds after they were
/// cancelled.
#[cfg(target_os = "linux")]
#[test]
fn a_cancelled_search_does_not_wait_for_the_lock_of_another_process() {
    use memdir_core::internal::base::{limits, time::Deadline};
    use std::os::unix::fs::MetadataExt as _;
    let folder = tempfile::tempdir().unwrap();
    let write_all = |text: &str| (0..200).for_each(|n| put(folder.path(), &format!("n{n}.md"), &format!("The {text} table of day {n}.\n")));
    write_all("tide");
    let root = folder.path().join("memory").canonicalize().unwrap();
    let store = FileStore::open(&[Mount::new("", root, folder.path().join("journal"))]).unwrap();
    let searcher = Searcher::new(&store, None, Arc::new(SystemClock), |info| index(folder.path(), info, None));
    searcher.search(&store, &Search::new("tide table")).unwrap();
    write_all("moon phase");
    let indexes = fs::read_dir(folder.path().join("cache/index")).unwrap().flatten();
    let locks: Vec<fs::File> = indexes.map(|index| fs::File::open(index.path().join("lock")).unwrap()).collect();
    locks.iter().for_each(|lock| lock.lock().unwrap());
    let inode = format!(":{} ", locks[0].metadata().unwrap().ino());
    let is_waiting = || fs::read_to_string("/proc/locks").unwrap().lines().any(|line| line.contains("->") && line.contains(&inode));
    let (stop, deadline) = (Stop::default(), Deadline::after(std::time::Duration::from_secs(limits::LOCK_WAIT_SECS)));
    std::thread::scope(|scope| {
        let search = || searcher.search(&*store.with_stop(&stop), &Search::new("moon phase"));
        let calls = [scope.spawn(search), scope.spawn(search)];
        while !is_waiting() {
            std::thread::yield_now();
        }
        stop.stop();
        for call in calls {
            assert!(matches!(call.join().unwrap(), Err(Error::Unavailable { .. })));
        }
    });
    assert!(!deadline.left().is_zero(), "the calls waited for the lock");
    drop(locks);
    assert!(!searcher.search(&store, &Search::new("moon phase")).unwrap().hits.is_empty());
}

/// The hit of a query, which must be exactly the lines it names and more than a heading.
fn cited(space: &Space, name: &str, query: &str) -> (String, Vec<String>) {
    let hit = space.ask(query).hits.into_iter().find(|hit| hit.path.as_str() == name).unwrap_or_else(|| panic!("{query}"));
    let file = fs::read_to_string(space.folder.path().join("memory").join(name)).unwrap();
    assert_eq!(hit.lines.parse::<LineRange>().unwrap().slice(&file), hit.text, "{query}");
    assert!(hit.text.lines().any(|line| !line.trim().is_empty() && !line.starts_with('#')), "{query}: {}", hit.text);
    (hit.lines, hit.headings)
}

#[test]
fn a_hit_is_never_a_heading_alone() {
    let steps = |count: usize, note: usize| -> String {
        let line = |n| {
            if n == note { format!("Then wake the walrus, number {n}.\n") } else { format!("Press lever {n} and wait for the lamp.\n") }
        };
        (1..=count).map(line).collect()
    };
    let long_line = "The lamp is green when the pressure in the second tank is low enough. ".repeat(40);
    let space = Space::new(&[
        ("twenty.md", &format!("# Guide\n\n## Kraken protocol\n{}", steps(20, 15))),
        ("many.md", &format!("# Manual\n\n## Basilisk protocol\n\n{}", steps(90, 80))),
        ("line.md", &format!("## Griffin protocol\n\n{long_line}\n")),
        ("underlined.md", &format!("Manticore protocol\n==================\n{}", steps(20, 0))),
        ("last.md", "The phoenix sleeps.\n\n## Phoenix diet\n"),
        ("only.md", "# Chimera habitat\n"),
        ("chat.md", &format!("## User\n\nhi\n\n## Assistant\n\n{}\n## User\n\nbye\n", steps(20, 0))),
        ("other.md", "Nothing of the kind.\n"),
    ]);
    let headed =
        |lines: &str, headings: &[&str]| (lines.to_owned(), headings.iter().map(|&heading| heading.to_owned()).collect::<Vec<_>>());
    assert_eq!(cited(&space, "twenty.md", "kraken protocol"), headed("1-11", &["Guide", "Kraken protocol"]));
    assert_eq!(
        cited(&space, "twenty.md", "walrus of the kraken protocol"),
        headed("1-18", &["Guide", "Kraken protocol"]),
        "the heading with the answer"
    );
    assert_eq!(cited(&space, "many.md", "basilisk protocol"), headed("1-12", &["Manual", "Basilisk protocol"]));
    assert_eq!(cited(&space, "many.md", "walrus of the basilisk protocol"), headed("84-84", &["Manual", "Basilisk protocol"]));
    assert_eq!(cited(&space, "line.md", "griffin protocol"), headed("1-3", &["Griffin protocol"]));
    assert_eq!(cited(&space, "underlined.md", "manticore protocol").0, "1-10");
    assert_eq!(cited(&space, "last.md", "phoenix diet").0, "1-3");
    assert_eq!(space.first("chimera habitat"), "only.md:1-1", "there is nothing else");
}

/// Memories about the things that the pasted texts mention.
const INCIDENTS: &[(&str, &str)] = &[
    (
        "orders-db.md",
        "The orders-db host moved to port 6543; connection refused means the pgbouncer sidecar is down. Restart it with make bouncer.\n",
    ),
    ("payments.md", "The payments webhook retries five times and then parks the event. PaymentGatewayClient times out after 3 s.\n"),
    ("inventory.md", "The stock ledger service drops reservations older than ten minutes.\n"),
    ("checkout.md", "test_checkout_total is flaky because it depends on the local time zone; set TZ=UTC.\n"),
    ("cart.md", "cart::pricing::apply_discount panics with index out of bounds when the coupon list is empty; see issue 812.\n"),
    ("kiosk.md", "A log of the kiosk: `{\"msg\":\"printer jammed\\n\\tat tray.feed\",\"unit\":\"k7\"}` means the tray is empty.\n"),
    ("deploy.md", "Deploys go out on Tuesday mornings; Ada approves each of them.\n"),
    ("images.md", "Product images are resized by the thumbnailer service to 320, 640 and 1280 pixels.\n"),
    ("logging.md", "Log lines are JSON with trace_id and span_id; printing to stdout is forbidden in services.\n"),
];

#[test]
fn a_pasted_log_line_or_stack_trace_finds_what_it_is_about() {
    let space = Space::new(INCIDENTS);
    let traces = [
        ("orders-db.md", r#"{"level":"error","msg":"connection refused to orders-db","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}"#),
        (
            "orders-db.md",
            r#"{"timestamp":"2026-11-16T10:22:33.123Z","level":"ERROR","logger":"com.acme.shop.OrderRepository","thread":"http-nio-8080-exec-7","message":"Could not open JDBC Connection: connection refused to orders-db:6543","span_id":"00f067aa0ba902b7","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","host":"ip-10-2-3-4"}"#,
        ),
        ("orders-db.md", "{\n  \"level\": \"error\",\n  \"msg\": \"connection refused\",\n  \"host\": \"orders-db\"\n}"),
        ("orders-db.md", r#""msg": "connection refused to orders-db", "level": "error""#),
        (
            "orders-db.md",
            r#"{"log":"java.net.ConnectException: Connection refused\n\tat com.acme.db.OrdersDb.connect(OrdersDb.java:42)\n\tat com.acme.Main.main(Main.java:10)\n","stream":"stderr","time":"2026-11-16T10:22:33Z"}"#,
        ),
        (
            "orders-db.md",
            r#"time=2026-11-16T10:22:33Z level=error msg="dial tcp 10.2.3.4:6543: connect: connection refused" service=orders-db attempt=3"#,
        ),
        (
            "payments.md",
            "Exception in thread \"main\" java.lang.RuntimeException: java.net.SocketTimeoutException: Read timed out\n\tat com.acme.pay.PaymentGatewayClient.post(PaymentGatewayClient.java:88)\n\tat com.acme.pay.WebhookHandler.handle(WebhookHandler.java:31)\n\tat org.springframework.web.servlet.FrameworkServlet.service(FrameworkServlet.java:897)\n\tat java.base/java.lang.Thread.run(Thread.java:829)\nCaused by: java.net.SocketTimeoutException: Read timed out\n\t... 12 more",
        ),
        (
            "inventory.md",
            "TypeError: undefined is not a function\n    at StockLedgerService.drop (/srv/app/dist/main.js:12:7)\n    at process.tick (node:internal:95:5)",
        ),
        ("inventory.md", "why does StockLedger drop them?"),
        (
            "checkout.md",
            "Traceback (most recent call last):\n  File \"/home/ci/app/tests/test_checkout.py\", line 41, in test_checkout_total\n    assert total == expected\n           ^^^^^^^^^^^^^^^^^\nAssertionError: assert Decimal('19.99') == Decimal('20.00')",
        ),
        (
            "cart.md",
            "thread 'main' panicked at src/cart/pricing.rs:142:17:\nindex out of bounds: the len is 0 but the index is 0\nstack backtrace:\n   0: rust_begin_unwind\n   3: shop::cart::pricing::apply_discount\n             at ./src/cart/pricing.rs:142:17\n   4: shop::main",
        ),
        ("kiosk.md", "tray feed"),
    ];
    for (name, trace) in traces {
        assert_eq!(space.ask(trace).hits.first().map(|hit| hit.path.to_string()), Some(name.to_owned()), "{trace}");
        assert_eq!(space.ask(&format!("why does this happen?\n\n{trace}")).hits[0].path.as_str(), name, "{trace}");
    }
}

#[test]
fn a_pasted_text_about_nothing_finds_nothing() {
    let space = Space::new(INCIDENTS);
    for trace in [
        r#"{"level":"info","msg":"request served in 12ms","path":"/health","status":200,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}"#,
        "Traceback (most recent call last):\n  File \"/usr/lib/python3/dist-packages/foo/render.py\", line 12, in draw\n    canvas.blit(sprite)\nValueError: sprite has no surface",
        r#"{"name":"left-pad","version":"1.3.0","license":"WTFPL","dependencies":{}}"#,
    ] {
        assert_eq!(space.places(trace), [""; 0], "{trace}");
    }
}

#[test]
fn explanations_of_pasted_texts_add_up() {
    let space = Space::new(INCIDENTS);
    let search = Search {
        explain: true,
        ..Search::new("TypeError: undefined\n    at StockLedgerService.drop (/srv/app/dist/main.js:12:7)\n    at tick")
    };
    for hit in space.searcher.search(&space.store, &search).unwrap().hits {
        let explain = hit.explain.unwrap();
        assert!((explain.sum / (explain.sum + 0.28) - hit.score).abs() < 1e-6, "{}: {explain:?}", hit.path);
    }
}
