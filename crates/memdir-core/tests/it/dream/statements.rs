//! Which statements contradict each other, and which texts of the same shape are left alone.

use super::{store_of, titles};
use memdir_core::{Dream, DreamReason};

/// The proposals for two memories, the second of which is newer: reason and confidence.
fn proposals((name, text): (&str, &str), (other, newer): (&str, &str)) -> Vec<(DreamReason, u8)> {
    let (one, two) = (format!("---\nmodified: 2026-01-05\n---\n\n{text}\n"), format!("---\nmodified: 2026-05-05\n---\n\n{newer}\n"));
    let (path, other_path) = (format!("{name}.md"), format!("{other}.md"));
    let (_top, memdir) = store_of([(path.as_str(), one.as_str()), (other_path.as_str(), two.as_str())]);
    let plan = memdir.dream(&Dream::default()).unwrap();
    assert!(plan.operations.len() < 2, "{:?}", titles(&plan));
    plan.operations.iter().map(|operation| (operation.reason, operation.confidence)).collect()
}

#[test]
fn another_number_name_path_or_polarity_on_one_subject_is_a_contradiction() {
    let pairs = [
        (("port", "The gateway listens on port 8080."), ("gateway", "The gateway listens on port 9443."), 75),
        (("db", "The primary database is PostgreSQL 14."), ("database", "The primary database is PostgreSQL 16."), 75),
        (("tabs", "Always use tabs for indentation in Go files."), ("style", "Never use tabs for indentation in Go files."), 75),
        (("logs", "Output of the worker is in /var/log/worker.log."), ("worker", "Output of the worker is in /srv/worker.log."), 75),
        (("review", "Pull requests need two approvals before a merge."), ("pulls", "Pull requests need one approval before a merge."), 75),
        (("owner", "Ada owns the billing service."), ("billing", "Grace owns the billing service."), 75),
        (("deploy", "We deploy on Tuesday in the afternoon."), ("deploys", "We deploy on Thursday in the afternoon."), 60),
        (("ci", "CI of the shop runs on GitHub Actions."), ("runs", "CI of the shop runs on Buildkite."), 60),
        (("answers", "The user prefers answers in German."), ("user", "The user prefers answers in English."), 60),
        (("package", "The package manager of the repository is npm."), ("manager", "The package manager of the repository is pnpm."), 60),
    ];
    for (old, new, confidence) in pairs {
        assert_eq!(proposals(old, new), [(DreamReason::Contradiction, confidence)], "{old:?} {new:?}");
    }
}

/// Sentences of one shape that are both true: two things, entries of changelogs, links, introductions, options of two programs.
#[test]
fn sentences_of_one_shape_about_two_things_are_left_alone() {
    let pairs = [
        (("a", "The staging server has 4 nodes."), ("b", "The production server has 12 nodes.")),
        (("ada", "Ada prefers short answers."), ("grace", "Grace prefers long answers.")),
        (("rust", "The user likes Rust for tools."), ("python", "The user likes Python for tools.")),
        (("bob", "Bob owns the search service."), ("ada", "Ada owns the billing service.")),
        (("pool", "The `pool` instance creates 4 clients."), ("agent", "The `agent` instance creates 4 clients.")),
        (("changes", "Add the `fast` trait for all types."), ("history", "Add the `slow` trait for all types.")),
        (("deps", "[Deps] update `tape` to commit `b901b51`."), ("dev", "[Deps] update `tape` to commit `5828e8e`.")),
        (("x", "[Code of Conduct]: https://a.example/code.md"), ("y", "[Code of Conduct]: https://b.example/code.md")),
        (("x", "Read the [guide of the shop](https://a.example)."), ("y", "Read the [guide of the shop](https://b.example).")),
        (("x", "Use of the registry is under <https://a.example/terms>."), ("y", "Use of the registry is under https://a.example/terms.")),
        (("x", "Here is the table of targets with 64-bit atomics:"), ("y", "Here is the table of targets with 128-bit atomics:")),
        (("client", "Defaults to 300 seconds."), ("other", "Defaults to 4 seconds.")),
        (("dot", "The default value is `true`."), ("etag", "The default value is `'ignore'`.")),
        (("x", "It runs the predefined command `start` of a package."), ("y", "It runs the predefined command `test` of a package.")),
        (("x", "Copyright 2024 The Example Authors"), ("y", "Copyright 2025 The Example Authors")),
    ];
    for (old, new) in pairs {
        assert_eq!(proposals(old, new), [], "{old:?} {new:?}");
    }
}

/// What begins a sentence may be a name, numbers may be words, and code in a title names what a memory is about.
#[test]
fn texts_that_differ_in_one_fact_are_not_merged() {
    let pairs = [
        ("Ada answers all questions about the backlog of billing.", "Grace answers all questions about the backlog of billing."),
        (
            "Reviews of the schema need two people from the platform group.",
            "Reviews of the schema need three people from the platform group.",
        ),
        (
            "# `shop_builder`\n\nPart of the shop; see the guide for more details.",
            "# `shop_derive`\n\nPart of the shop; see the guide for more details of it.",
        ),
    ];
    for (one, two) in pairs {
        let reasons = proposals(("one", one), ("two", two));
        assert!(reasons.iter().all(|(reason, _)| *reason == DreamReason::Contradiction), "{one:?} {two:?} {reasons:?}");
    }
    let same = ("The runbook of the shop lists every step of a release.", "The runbook of the shop lists every single step of a release.");
    assert_eq!(proposals(("one", same.0), ("two", same.1)), [(DreamReason::NearDuplicate, 85)]);
}
