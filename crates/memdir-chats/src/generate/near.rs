//! The episodes that look like evidence and are not: questions, quotes, pasted logs, hypothetical commands, other languages, retries,
//! boilerplate, and text of assistants and tools.

use super::{
    script::{Rng, ScriptCall, ScriptEnd, ScriptEpisode, ScriptStep},
    words::{FILES, PARTS},
};
use memdir_core::CandidateKind;

/// Returns the episodes of a near miss, each for a conversation of its own.
pub(super) fn episodes(kind: CandidateKind, i: usize, rng: &mut Rng) -> Vec<ScriptEpisode> {
    match kind {
        CandidateKind::Remember => vec![remember(i, rng)],
        CandidateKind::Denied => vec![denied(i, rng)],
        CandidateKind::Repeat => repeat(i, rng),
        CandidateKind::Scar => scar(i, rng),
        _ => vec![reverted(i, rng)],
    }
}

fn answered(text: String) -> Vec<ScriptStep> {
    vec![ScriptStep::person(text), ScriptStep::assistant("Remember that this is what the code does today; I changed nothing.")]
}

fn number(rng: &mut Rng) -> u64 {
    rng.next() % 90_000 + 10_000
}

/// Messages with the word in them that ask for nothing.
const NOT_REQUESTS: &[&str] = &[
    "Do you remember which port the {} used in ticket {n}?",
    "Remember when we changed the {} in ticket {n}? Was that before the release?",
    "remember the {} refactoring of ticket {n}?",
    "> Remember: the {} is frozen until ticket {n} is closed\n\nwhat does this comment mean?",
    "The customer wrote: \"Remember, I ordered two of {n} for the {}\", please find that order",
    "2026-01-03 12:00:{n} WARN remember: entry of {} expired\n2026-01-03 12:00:02 WARN remember: entry of {} expired",
    "```\nremember({}, {n})\n```\nwhy does this return null?",
    "Remember me on the login page of the {} does nothing since ticket {n}",
    "remember_token is null for {} users since {n}, look into it",
    "I can't remember why the {} has the special case for {n}",
    "The {} must remember the last {n} searches of a customer",
    "Ich kann mich nicht erinnern, warum {} den Sonderfall {n} hat",
    "Erinnerst du dich, warum {} den Sonderfall {n} hat?",
    "¿Recuerdas por qué {} usa el caso {n}?",
    "Je ne me souviens pas pourquoi {} traite le cas {n}",
    "Помнишь, зачем в {} нужен случай {n}?",
    "我不记得{}为什么需要{n}",
    "{}の{n}を覚えていますか？",
    "If I type remember, does the {} store anything for {n}?",
    "How would you write 'remember this' in the German texts of the {}, key {n}?",
    "No need to remember this, but {n} is the id of the {} I test with",
    "Don't remember this, it is only for today: {} runs as {n}",
    "Remembering the filters of the {} is what ticket {n} asks for",
    "Reminder emails of the {} are sent twice for order {n}",
];

fn remember(i: usize, rng: &mut Rng) -> ScriptEpisode {
    let (part, n) = (rng.pick(PARTS), number(rng));
    let fill = |text: &str| text.replace("{}", part).replace("{n}", &n.to_string());
    let steps = match i % 8 {
        // It was asked for, and saved.
        0 => {
            let fact = fill("Remember that the {} uses the key {n}");
            let save = ScriptCall::SaveMemory(fact.clone());
            vec![
                ScriptStep::person(fact),
                ScriptStep::Call(save, ScriptEnd::Ok("created notes/key".into())),
                ScriptStep::assistant("Saved."),
            ]
        }
        1 => {
            let fact = fill("Merke dir: {} läuft unter der Kennung {n}");
            let path = "/home/ada/.claude/projects/-home-ada-shop/memory/ids.md";
            let save = ScriptCall::Write { path: path.into(), text: fact.clone() };
            vec![
                ScriptStep::person(fact),
                ScriptStep::Call(save, ScriptEnd::Ok("File created".into())),
                ScriptStep::assistant("Gespeichert."),
            ]
        }
        // Only the assistant and a tool say it.
        2 => vec![
            ScriptStep::person(fill("look at {} and order {n}")),
            ScriptStep::shell("cat NOTES", &fill("Remember: the {} is owned by Dora, see {n}")),
            ScriptStep::assistant(fill("Remember: the {} is owned by Dora, see {n}.")),
        ],
        _ => answered(fill(NOT_REQUESTS[(i + rng.below(3)) % NOT_REQUESTS.len()])),
    };
    ScriptEpisode { is_remember: true, ..ScriptEpisode::new(steps) }
}

fn denied(i: usize, rng: &mut Rng) -> ScriptEpisode {
    let (part, n) = (rng.pick(PARTS), number(rng));
    let fill = |text: &str| text.replace("{}", part).replace("{n}", &n.to_string());
    let command = fill("deploy-tool push {} --build {n}");
    let call = || ScriptCall::Shell(command.clone());
    let asked = ScriptStep::person(fill("ship the {}, build {n}"));
    let done = ScriptStep::assistant("Done.");
    let steps = match i % 10 {
        0 => vec![ScriptStep::Call(call(), ScriptEnd::Refused("blocked by hook: no push on Fridays".into())), done],
        1 => vec![
            ScriptStep::fails(&command, 13, "error: permission denied, the request was rejected by user policy"),
            ScriptStep::person(fill("no, don't use that account for {n}, use the one of the {}")),
            done,
        ],
        2 => vec![
            ScriptStep::Call(call(), ScriptEnd::Denied(None)),
            ScriptStep::person(rng.pick(&[
                "sorry, wrong key, go ahead",
                "continue",
                "oops, that was a mistake, please run it",
                "weiter",
                "sí, adelante",
            ])),
            ScriptStep::shell(&command, "pushed"),
            done,
        ],
        3 => {
            let steps = vec![asked, ScriptStep::Call(call(), ScriptEnd::Denied(None))];
            return ScriptEpisode { is_last: true, ..ScriptEpisode::new(steps) };
        }
        4 => vec![
            ScriptStep::Call(call(), ScriptEnd::Denied(None)),
            ScriptStep::person(fill("wait, what does the flag --build {n} do?")),
            ScriptStep::assistant("It names the build."),
            ScriptStep::person("ok, go ahead then"),
            ScriptStep::shell(&command, "pushed"),
            done,
        ],
        5 => vec![
            ScriptStep::Call(call(), ScriptEnd::Interrupted),
            ScriptStep::person(rng.pick(&["go on", "continue", "continue please", "ok continue"])),
            done,
        ],
        6 => vec![
            ScriptStep::fails(&command, 1, "! [rejected] main -> main (fetch first)"),
            ScriptStep::person(fill("never mind the old branch, rebase build {n} first")),
            done,
        ],
        7 => {
            vec![
                ScriptStep::shell(&command, "pushed"),
                ScriptStep::person(fill("no, don't push the {} without asking, revert build {n} later")),
                done,
            ]
        }
        8 => vec![
            ScriptStep::Call(call(), ScriptEnd::Refused("the sandbox does not allow network access".into())),
            ScriptStep::person(fill("right, the sandbox has no network for {n}")),
            done,
        ],
        _ => answered(fill("if I rejected `git push` for the {}, would you then stop? It is about build {n}")),
    };
    ScriptEpisode::new([vec![asked], steps].concat())
}

/// Messages that users type in many conversations and that are not worth saving.
const BOILERPLATE: &[&str] = &[
    "continue",
    "go on",
    "run the tests",
    "run the tests again please",
    "fix the lint errors and commit",
    "commit and push",
    "looks good, commit it with a short message",
    "thanks, that looks good to me",
    "yes, do it like that",
    "please review the changes you made",
    "explain what this function does step by step",
    "show me the diff before you commit anything else",
    "write unit tests for the new code",
    "update the changelog and the readme",
    "what is the status of the build?",
    "why does the build fail on macOS and not on Linux?",
    "weiter so, mach bitte mit dem nächsten Punkt weiter",
    "bitte führe alle Tests noch einmal aus",
    "ejecuta las pruebas y arregla lo que falle",
    "lance les tests et corrige les erreurs",
    "继续",
    "请运行所有测试并修复错误",
    "テストを実行して結果を見せて",
    "/review the last change on this branch",
];

/// Sentences that differ only in what matters.
const SIMILAR: &[&str] = &[
    "the timeout of the {} is {n} milliseconds in production",
    "ticket {n} belongs to the {} and has to be finished first",
    "use the {} client for order {n}, not the default one",
    "the {} of customer {n} must never be merged with others",
];

fn repeat(i: usize, rng: &mut Rng) -> Vec<ScriptEpisode> {
    let one = |text: String| ScriptEpisode::new(answered(text));
    match i % 6 {
        0..=2 => {
            let text = BOILERPLATE[(i / 6 * 3 + i % 6) % BOILERPLATE.len()];
            (0..2 + rng.below(2)).map(|_| one(text.to_owned())).collect()
        }
        3 => {
            let template = rng.pick(SIMILAR);
            let mut filled = || template.replace("{}", rng.pick(PARTS)).replace("{n}", &number(rng).to_string());
            let texts = [filled(), filled()];
            texts.into_iter().map(one).collect()
        }
        4 => {
            let (part, n) = (rng.pick(PARTS), number(rng));
            let text = match rng.below(3) {
                0 => format!("thread 'main' panicked at src/{part}.rs:{n}: called `Option::unwrap()` on a `None` value"),
                1 => format!("```\nlet {part} = always_use({n}, never(\"import\"));\n```"),
                _ => format!("> always use the {part} wrapper for {n}, never the raw one\n\nis that comment in the guide still right?"),
            };
            (0..2).map(|_| one(text.clone())).collect()
        }
        // The same sentence twice in one conversation, and the assistant's in all.
        _ => {
            let text = format!("always pass the request id {} to the {} wrapper", number(rng), rng.pick(PARTS));
            vec![ScriptEpisode::new([answered(text.clone()), answered(text)].concat())]
        }
    }
}

fn scar(i: usize, rng: &mut Rng) -> Vec<ScriptEpisode> {
    let (part, n) = (rng.pick(PARTS), number(rng));
    let asked = || ScriptStep::person(format!("is everything fine with {part} {}?", n % 97));
    let edit =
        |rng: &mut Rng| ScriptStep::edit(rng.pick(FILES), &format!("let a = {};", number(rng)), &format!("let b = {};", number(rng)));
    let done = || ScriptStep::assistant("It works.");
    let tool = rng.pick(&["ninja", "gradle", "mvn", "bazel", "tox", "meson"]);
    let twice = |steps: &mut dyn FnMut() -> Vec<ScriptStep>| {
        (0..2).map(|_| ScriptEpisode::new([vec![asked()], steps(), vec![done()]].concat())).collect()
    };
    match i % 8 {
        // Retried unchanged after an edit.
        0 => {
            let command = format!("{tool} verify {part}");
            twice(&mut || vec![ScriptStep::fails(&command, 1, "1 failed"), edit(rng), ScriptStep::shell(&command, "ok")])
        }
        // Another invocation, but in one conversation only.
        1 => {
            let steps = vec![
                asked(),
                ScriptStep::fails(&format!("{tool} check{n}"), 1, "failed"),
                ScriptStep::shell(&format!("{tool} check{n} --jobs {n}"), "ok"),
                done(),
            ];
            vec![ScriptEpisode::new(steps)]
        }
        // Another program.
        2 => {
            let (bad, good) = (format!("{tool} ping{}", n % 7), format!("curl -s localhost/{part}"));
            twice(&mut || vec![ScriptStep::fails(&bad, 7, "connection refused"), ScriptStep::shell(&good, "pong")])
        }
        // Searches that find nothing.
        3 => twice(&mut || {
            vec![
                ScriptStep::fails(&format!("grep -rn {part}{n} src"), 1, ""),
                ScriptStep::shell(&format!("grep -rni {part} src lib"), "3: x"),
            ]
        }),
        // An edit is what helped.
        4 => {
            let bad = format!("{tool} compile-{part}");
            twice(&mut || {
                vec![ScriptStep::fails(&bad, 1, "error: expected `;`"), edit(rng), ScriptStep::shell(&format!("{bad} --quiet"), "ok")]
            })
        }
        // Another subcommand; the failed one works later.
        5 => {
            let (bad, other) = (format!("{tool} test-{part}"), format!("{tool} format-{part}"));
            twice(&mut || {
                vec![ScriptStep::fails(&bad, 1, "1 failed"), ScriptStep::shell(&other, ""), edit(rng), ScriptStep::shell(&bad, "ok")]
            })
        }
        // Checks are bypassed.
        6 => twice(&mut || {
            vec![
                ScriptStep::fails("git commit -m change", 1, "pre-commit hook failed"),
                ScriptStep::shell("git commit --no-verify -m change", "1 file changed"),
            ]
        }),
        // Hypothetical commands, and other operands.
        _ => twice(&mut || {
            vec![
                ScriptStep::fails(&format!("wc -l src/{part}/{n}.rs"), 1, "No such file or directory"),
                ScriptStep::shell(&format!("wc -l src/{part}.rs"), "12"),
                ScriptStep::person(format!("one could run {tool} --offline instead of {tool} for {part} {n}, but leave it")),
            ]
        }),
    }
}

fn reverted(i: usize, rng: &mut Rng) -> ScriptEpisode {
    let path = rng.pick(FILES);
    let other = FILES[(FILES.iter().position(|file| *file == path).unwrap_or(0) + 1 + rng.below(FILES.len() - 1)) % FILES.len()];
    let n = number(rng);
    let (old, new, third) = (format!("retries = {n}"), format!("retries = {}", n + 3), format!("retries = {}", n + 11));
    let first = vec![
        ScriptStep::person("tidy up the retry settings"),
        ScriptStep::edit(path, &old, &new),
        ScriptStep::assistant("I changed the retries."),
    ];
    let done = ScriptStep::assistant("Done.");
    let rest = match i % 9 {
        0 => {
            vec![ScriptStep::person(format!("make it {} instead, {} is wrong", n + 11, n + 3)), ScriptStep::edit(path, &new, &third), done]
        }
        1 => vec![
            ScriptStep::person(format!("fine, now continue on main with ticket {n}")),
            ScriptStep::shell("git checkout main", ""),
            done,
        ],
        // The agent cleans up after itself.
        2 => vec![
            ScriptStep::person(format!("find out why order {n} fails")),
            ScriptStep::edit(other, &old, &format!("{old} // debug {n}")),
            ScriptStep::shell(&format!("make debug-{n}"), "trace"),
            ScriptStep::shell(&format!("git checkout -- {other}"), ""),
            ScriptStep::assistant("The cause is the rounding."),
        ],
        3 => vec![
            ScriptStep::person(format!("start a branch for ticket {n}")),
            ScriptStep::shell(&format!("git checkout -b ticket-{n}"), ""),
            done,
        ],
        4 => vec![
            ScriptStep::person(format!("undo the change in {path}? I am not sure about {n}, what do you think?")),
            ScriptStep::assistant("I would keep it."),
            done,
        ],
        5 => vec![
            ScriptStep::person(format!("what would git checkout -- {path} do to build {n}?")),
            ScriptStep::assistant("It would discard the change."),
            done,
        ],
        // A file that was not edited here.
        6 => vec![
            ScriptStep::person(format!("put back {other}, I broke it while testing {n}")),
            ScriptStep::shell(&format!("git restore {other}"), ""),
            done,
        ],
        7 => vec![ScriptStep::person(format!("use the old value there too, as for {n}")), ScriptStep::edit(other, &new, &old), done],
        _ => vec![
            ScriptStep::person(format!("undo the last change of build {n}")),
            ScriptStep::fails(&format!("git restore {path}"), 1, "error: pathspec did not match"),
            ScriptStep::assistant("That did not work, so I left it."),
        ],
    };
    ScriptEpisode::new([first, rest].concat())
}
