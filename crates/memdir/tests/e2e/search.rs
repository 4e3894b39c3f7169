//! `memdir search`, `get`, `index`.

use crate::home::Home;
use insta::assert_snapshot;
use serde_json::{Value, json};

fn notes() -> Home {
    let home = Home::new();
    home.put("deploy.md", "---\nname: Deploying\ntype: project\n---\n\n# Deploying\n\nWe ship every Friday at noon.\n\n## Rollback\n\n- Revert the commit and push again.\n- Tell the channel.\n");
    home.put("style.md", "---\ntype: feedback\n---\n\nThe user prefers tabs over spaces.\n");
    home
}

#[test]
fn hits_are_printed_with_path_and_lines() {
    let home = notes();
    assert_snapshot!(home.run(&["search", "when", "do", "we", "ship"]), @"
    deploy.md:6-8  0.64  today  Deploying
      # Deploying
      
      We ship every Friday at noon.

    deploy.md:10-12  0.41  today  Deploying > Rollback
      ## Rollback
      
      - Revert the commit and push again.
    ");
    assert_snapshot!(home.run(&["search", "quantum chromodynamics"]), @"
    -- stderr
    note: no results; try other words or a lower --min-score
    -- exit 1
    ");
    assert_snapshot!(home.run(&["get", "deploy.md", "--lines", "6-8"]), @"
    # Deploying

    We ship every Friday at noon.
    ");
}

#[test]
fn json_has_everything() {
    let home = notes();
    let answer = home.json(&["search", "revert a commit", "--max-results", "1"]);
    let hit = &answer["results"][0];
    assert_eq!(
        (hit["path"].as_str(), hit["lines"].as_str(), hit["source"].as_str(), hit["type"].as_str()),
        (Some("deploy.md"), Some("10-12"), Some("memory"), Some("project"))
    );
    assert_eq!(hit["text"], "## Rollback\n\n- Revert the commit and push again.\n");
    assert_eq!((answer["method"].as_str(), answer["searched"]["files"].as_u64()), (Some("hybrid"), Some(2)));
    assert_eq!(home.ok(&["get", "deploy.md", "--lines", "10-12"]), hit["text"].as_str().unwrap());
    let words = home.json(&["search", "revert a commit", "--embedder", "none"]);
    assert_eq!(words["method"], "fts");
}

#[test]
fn numbers_out_of_range_are_clamped_and_the_answer_says_so() {
    let home = notes();
    assert_snapshot!(home.run(&["search", "tabs", "--max-results", "500", "--min-score", "-1"]), @"
    style.md:5-5  0.67  today
      The user prefers tabs over spaces.

    deploy.md:13-13  0.09  today  Deploying > Rollback
      - Tell the channel.

    deploy.md:6-8  0.03  today  Deploying
      # Deploying
      
      We ship every Friday at noon.

    deploy.md:10-12  0.00  today  Deploying > Rollback
      ## Rollback
      
      - Revert the commit and push again.
    -- stderr
    note: --max-results 500 is not in the range 1 to 50; using 50
    note: --min-score -1 is not in the range 0 to 1; using 0
    ");
    let answer = home.json(&["search", "tabs", "--max-results", "0", "--min-score", "0"]);
    assert_eq!(
        (answer["results"].as_array().unwrap().len(), &answer["notes"]),
        (1, &json!(["--max-results 0 is not in the range 1 to 50; using 1"]))
    );
    let batch = home.run_with(&["search", "--batch", "-", "--json", "--min-score", "7"], "{\"id\": 1, \"query\": \"tabs\"}\n");
    let line: Value = serde_json::from_str(batch.lines().next().unwrap()).unwrap();
    assert_eq!((&line["results"], &line["notes"]), (&json!([]), &json!(["--min-score 7 is not in the range 0 to 1; using 1"])));
    assert_snapshot!(home.run(&["search", "tabs", "--min-score", "high"]), @"
    -- stderr
    error: invalid value 'high' for '--min-score <SCORE>': expected a number from 0 to 1

    For more information, try '--help'.
    -- exit 2
    ");
}

#[test]
fn a_batch_prints_one_line_per_query() {
    let home = notes();
    let asked = "{\"id\": 1, \"query\": \"tabs or spaces\"}\n\n{\"id\": \"b\", \"query\": \"zzz\"}\n";
    let output = home.run_with(&["search", "--batch", "-", "--json"], asked);
    let lines: Vec<Value> = output.lines().take(2).map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["id"], &lines[0]["results"][0]["path"]), (&json!(1), &json!("style.md")));
    assert_eq!((&lines[1]["id"], &lines[1]["results"]), (&json!("b"), &json!([])));
    assert_snapshot!(home.run_with(&["search", "--batch", "-"], "{}"), @r#"
    -- stderr
    error: invalid batch line 1: missing query; expected {"id": …, "query": "…"}
    -- exit 2
    "#);
    assert_snapshot!(home.run_with(&["search", "--batch", "-"], "{\"query\": \"a\"}\n{no}"), @r#"
    -- stderr
    error: invalid batch line 2: invalid JSON at column 2; expected {"id": …, "query": "…"}
    -- exit 2
    "#);
}

#[test]
fn filters_and_explanations() {
    let home = notes();
    assert_eq!(home.json(&["search", "user", "--type", "project"])["results"], json!([]));
    assert_eq!(home.json(&["search", "tabs", "--source", "chat"])["results"], json!([]));
    assert_snapshot!(home.run(&["search", "tabs", "--why-not", "deploy"]), @"The memory's best line (13) scores 0.09, below the minimum of 0.35. The line does not contain: tab. Search with words that the memory contains, or with a lower --min-score.");
    assert_snapshot!(home.run(&["search", "tabs", "--why-not", "style"]), @"The memory is among the results, at rank 1.");
    assert_snapshot!(home.run(&["search", "tabs", "--type", "nonsense"]), @r#"
    -- stderr
    error: invalid type: "nonsense" is not one of user, feedback, project, reference
    -- exit 2
    "#);
    assert!(home.ok(&["search", "tabs", "--explain"]).contains("text "));
}

#[test]
fn since_is_a_date_or_a_period_in_the_local_time_zone() {
    let home = Home::new();
    for day in ["30", "31"] {
        home.put(&format!("logs/2026/01/2026-01-{day}.md"), "The zeppelin landed.\n");
    }
    let found = |zone: &str, since: &str| {
        let output = home.command(&["search", "zeppelin landed", "--since", since, "--json"]).env("TZ", zone).output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["results"].as_array().unwrap().len()
    };
    // East of Greenwich, midnight is on the day before in UTC.
    for zone in ["UTC", "JST-9", "EST5"] {
        for (since, count) in
            [("2026-01-30", 2), ("2026-01-31", 1), ("2026/01/31", 1), ("2026-01-31 09:30", 1), ("2026-02-01", 0), ("9000d", 2), ("900w", 2)]
        {
            assert_eq!(found(zone, since), count, "{zone} {since}");
        }
    }
}

#[test]
fn the_index_can_be_built_explicitly_and_deleted_at_any_time() {
    let home = notes();
    let printed = home.run(&["index"]);
    assert!(printed.starts_with("indexed 2 files"), "{printed}");
    assert_snapshot!(home.run(&["index"]), @"unchanged: the index is up to date");
    let cache = home.path(".cache");
    assert!(cache.is_dir());
    std::fs::remove_dir_all(cache).unwrap();
    assert!(home.ok(&["search", "tabs"]).starts_with("style.md:5-5"));
    assert!(home.run(&["index", "--rebuild"]).starts_with("indexed 2 files"));
}

#[test]
fn a_damaged_index_is_rebuilt() {
    let home = notes();
    home.ok(&["index"]);
    let rows = crate::home::files_below(&home.path(".cache")).into_iter().find(|name| name.ends_with(".rows")).unwrap();
    let rows = home.path(".cache").join(rows);
    for rebuild in [false, true] {
        let mut bytes = std::fs::read(&rows).unwrap();
        *bytes.last_mut().unwrap() ^= 0xff;
        std::fs::remove_file(&rows).unwrap();
        std::fs::write(&rows, bytes).unwrap();
        if rebuild {
            assert!(home.run(&["index", "--rebuild"]).starts_with("indexed 2 files"));
        }
        assert!(home.ok(&["search", "tabs"]).starts_with("style.md:5-5"));
        home.ok(&["index"]);
    }
    // A directory instead of the state file.
    let state = crate::home::files_below(&home.path(".cache")).into_iter().find(|name| name.ends_with("/state")).unwrap();
    let state = home.path(".cache").join(state);
    std::fs::remove_file(&state).unwrap();
    std::fs::create_dir(&state).unwrap();
    assert!(home.ok(&["search", "tabs"]).starts_with("style.md:5-5"));
}

#[test]
fn other_scripts_find_their_text_and_nonsense_in_them_finds_nothing() {
    let home = Home::new();
    home.put("ru.md", "Мы развёртываем по вторникам.\n");
    home.put("zh.md", "我们每周二部署生产环境\n");
    home.put("ja.md", "毎週火曜日にデプロイします\n");
    home.put("notes.txt", "The hippo sleeps.\n");
    for nonsense in ["шоколадный торт", "ΘΨΞ", "รถไฟฟ้า", "שוקולד", "🦖🦖", "巧克力蛋糕", &"a".repeat(10_000)]
    {
        assert_eq!(home.json(&["search", nonsense])["results"], json!([]), "{nonsense}");
    }
    for (query, path) in [("развёртываем вторникам", "ru.md"), ("部署生产", "zh.md"), ("火曜日", "ja.md"), ("hippo", "notes.txt")]
    {
        assert_eq!(home.json(&["search", query])["results"][0]["path"], path, "{query}");
    }
}

#[test]
fn overflow_pages_and_markers_are_not_results() {
    let home = Home::new();
    for n in 0..230 {
        home.put(&format!("i{n}.md"), format!("item {n}\n"));
    }
    home.ok(&["entrypoint", "--repair"]);
    assert!(home.path("memory/MEMORY.page-001.md").is_file());
    for query in ["memory page", "sorted marks write outside"] {
        let answer = home.json(&["search", query]);
        let paths: Vec<&str> = answer["results"].as_array().unwrap().iter().filter_map(|hit| hit["path"].as_str()).collect();
        assert!(!paths.iter().any(|path| path.starts_with("MEMORY")), "{query}: {paths:?}");
    }
}

#[test]
fn concurrent_searches_see_all_acknowledged_changes() {
    let home = beside_writers(false);
    let index = home.json(&["stats"])["search"][0]["size"].clone();
    assert!(index["segments"].as_u64() <= Some(6) && index["files"].as_u64() <= Some(80), "{index}");
}

#[test]
fn concurrent_searches_survive_deleted_index_files() {
    beside_writers(true);
}

/// Searches in six processes with writes in three; `deleting` removes the files of the index one after another.
fn beside_writers(deleting: bool) -> Home {
    use std::sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    };
    let home = notes();
    // Enough memories that an index is written to disk.
    (0..60).for_each(|n| home.put(&format!("fixed/f{n}.md"), format!("fact {n}\n")));
    let saved = Mutex::new(vec![("noon".to_owned(), "deploy".to_owned())]);
    let (stop, searches) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for writer in 0..3 {
            let (home, saved, stop) = (&home, &saved, &stop);
            scope.spawn(move || {
                for n in 0.. {
                    if stop.load(Ordering::SeqCst) {
                        return;
                    }
                    // New memories, and a growing file per writer.
                    let word = format!("token{writer}x{n}");
                    let name = if n % 2 == 0 { format!("made/{word}") } else { format!("log-{writer}") };
                    home.ok(&["write", &name, "--append", &format!("The word is {word}.\n")]);
                    saved.lock().unwrap().push((word, name));
                }
            });
        }
        let (cache, ended) = (home.path(".cache"), &stop);
        scope.spawn(move || {
            for n in 0_usize.. {
                if ended.load(Ordering::SeqCst) || !deleting {
                    return;
                }
                let files = if cache.is_dir() { crate::home::files_below(&cache) } else { Vec::new() };
                if let Some(file) = files.get(n * 7_919 % files.len().max(1)) {
                    // The process that writes the index may have removed it already.
                    let _ = std::fs::remove_file(cache.join(file));
                }
            }
        });
        let searchers: Vec<_> = (0..6)
            .map(|searcher: usize| {
                let (home, saved, searches) = (&home, &saved, &searches);
                scope.spawn(move || {
                    for n in 0..12 {
                        let known = saved.lock().unwrap().clone();
                        let (word, name) = &known[(searcher * 7919 + n * 104_729) % known.len()];
                        let answer = home.json(&["search", word, "--max-results", "50"]);
                        let paths: Vec<&str> =
                            answer["results"].as_array().unwrap().iter().filter_map(|hit| hit["path"].as_str()).collect();
                        assert!(paths.contains(&format!("{name}.md").as_str()), "{word} of {name} is not among {paths:?}");
                        searches.fetch_add(1, Ordering::SeqCst);
                    }
                })
            })
            .collect();
        let outcome: Vec<_> = searchers.into_iter().map(|thread| thread.join()).collect();
        stop.store(true, Ordering::SeqCst);
        outcome.into_iter().for_each(|ended| ended.unwrap());
    });
    assert_eq!(searches.into_inner(), 72);
    home
}

#[test]
fn nothing_found_is_exit_status_1() {
    let home = Home::new();
    home.ok(&["write", "a", "Deploy on Tuesdays."]);
    assert_snapshot!(home.run(&["search", "xylophone"]), @"
    -- stderr
    note: no results; try other words or a lower --min-score
    -- exit 1
    ");
    assert_snapshot!(home.run(&["search", "xylophone", "--min-score", "0", "--since", "2026-01-01", "--type", "project"]), @"
    -- stderr
    note: no results; try other words, or omit --type and --since
    -- exit 1
    ");
    assert_snapshot!(home.run(&["search", "xylophone", "--json"]), @r#"
    {
      "query": "xylophone",
      "results": [],
      "total": 0,
      "method": "vector",
      "searched": {
        "files": 1,
        "units": 1
      }
    }
    -- exit 1
    "#);
    assert!(!home.run(&["search", "deploy"]).contains("-- exit"));
    assert!(!home.run(&["search", "xylophone", "--why-not", "a"]).contains("-- exit"));
    assert!(!home.run_with(&["search", "--batch", "-"], "{\"id\": 1, \"query\": \"xylophone\"}\n").contains("-- exit"));
}

#[test]
fn a_mistyped_type_in_a_query_is_reported() {
    let home = Home::new();
    home.put("a.md", "---\ntype: feedback\n---\n\nDeploy on Tuesdays.\n");
    assert_snapshot!(home.run(&["search", "type:bad"]), @r#"
    -- stderr
    note: type:bad was searched as words: "bad" is not one of user, feedback, project, reference
    note: no results; try other words or a lower --min-score
    -- exit 1
    "#);
    assert!(home.run(&["search", "deploy", "type:feedbak"]).contains("note: type:feedbak was searched as words"));
    assert!(!home.run(&["search", "deploy", "type:feedback"]).contains("note:"));
}
