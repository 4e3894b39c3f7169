//! Near misses of *denied*: nothing was denied by a person, or what was typed next is not a reason.

use super::{
    super::script::{Rng, ScriptCall, ScriptEnd, ScriptEpisode, ScriptStep},
    answered, filled,
};

/// What people type after a denial that is not a reason: another topic, a retraction, a postponement, a task, a correction.
const NOT_REASONS: &[&str] = &[
    // Another topic.
    "By the way, the {} demo for {n} went well, people liked it.",
    "The {} team asked me about ticket {n} this morning.",
    "I wonder how many customers use the {} in region {n}.",
    "Now to something else: the {} has a typo in line {n}.",
    "Übrigens lief die Vorführung von {} für {n} sehr gut.",
    "Por cierto, la demo del {} para {n} salió muy bien.",
    "Au fait, la démo du {} pour {n} s'est bien passée.",
    "Кстати, показ {} для {n} прошёл отлично.",
    "顺便说一下，{}的演示{n}很顺利。",
    // Retractions.
    "Sorry, I hit the wrong key, please run it for {n} again.",
    "That was a slip, start the {} once more for {n}.",
    "I pressed escape by accident, carry on with {} {n}.",
    "Pardon, wrong window, do the {} step {n} now.",
    "Das war ein Versehen, führe {} für {n} bitte aus.",
    "Me equivoqué de tecla, ejecuta {} para {n} otra vez.",
    "Mauvaise touche, relance {} pour {n} s'il te plaît.",
    "Нажал случайно, запусти {} для {n} ещё раз.",
    "点错了，请再运行一次{}的{n}。",
    "押し間違えました、{}の{n}をもう一度実行してください。",
    // Postponements.
    "Not now, the {} is being used for the demo {n}.",
    "In ten minutes, I am still looking at the {} for {n}.",
    "Before that, rename the {} column in table {n}.",
    "Let's do the {} part of {n} tomorrow.",
    "First show me what the {} would do with {n}.",
    "Hang on until the {} job {n} is through.",
    "Später, ich schaue mir gerade noch {} und {n} an.",
    "Erst noch {} in Tabelle {n} umbenennen, bitte.",
    "Más tarde, todavía estoy mirando el {} de {n}.",
    "Plus tard, je regarde encore le {} de {n}.",
    "Позже, я ещё смотрю {} для {n}.",
    "等一下，我还在看{}的{n}。",
    "後でお願いします、{}の{n}を見ています。",
    "I have a call about the {} now, we go on with {n} afterwards.",
    "I will do the {} step of {n} by hand this afternoon.",
    // Tasks and corrections of the task.
    "Add a flag for the {} to the script for {n} and print it.",
    "Show me the diff of the {} for {n} again, I lost it.",
    "I meant the {} of shop {n}, the other one.",
    "Explain the {} part of the command for {n} to me.",
    "Look at the log of the {} for {n}, there is a warning in it.",
    "Zeig mir noch einmal den Unterschied in {} für {n}.",
    "Muéstrame otra vez el cambio del {} para {n}.",
    "Same result as before with the {}, still {n} rows.",
    "It hangs at {n} percent in the {}, as always.",
];

pub(super) fn episode(i: usize, rng: &mut Rng) -> ScriptEpisode {
    let command = filled("deploy-tool push {} --build {n}", rng);
    let call = || ScriptCall::Shell(command.clone());
    let asked = ScriptStep::person(filled("ship the {}, build {n}", rng));
    let done = ScriptStep::assistant("Done.");
    // Half of them end as everything did before the sentences below were written.
    let steps = match i % 20 {
        0 => vec![ScriptStep::Call(call(), ScriptEnd::Refused("blocked by hook: no push on Fridays".into())), done],
        1 => vec![
            ScriptStep::fails(&command, 13, "error: permission denied, the request was rejected by user policy"),
            ScriptStep::person(filled("no, don't use that account for {n}, use the one of the {}", rng)),
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
            ScriptStep::person(filled("wait, what does the flag --build {n} do?", rng)),
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
            ScriptStep::person(filled("never mind the old branch, rebase build {n} first", rng)),
            done,
        ],
        7 => {
            vec![
                ScriptStep::shell(&command, "pushed"),
                ScriptStep::person(filled("no, don't push the {} without asking, revert build {n} later", rng)),
                done,
            ]
        }
        8 => vec![
            ScriptStep::Call(call(), ScriptEnd::Refused("the sandbox does not allow network access".into())),
            ScriptStep::person(filled("right, the sandbox has no network for {n}", rng)),
            done,
        ],
        9 => answered(filled("if I rejected `git push` for the {}, would you then stop? It is about build {n}", rng)),
        // The person asks for nothing of the conversation to be kept.
        10 => {
            let wish = rng.pick(&[
                "Please save nothing from this conversation.",
                "This conversation is private, don't remember anything from it.",
                "Bitte merke dir nichts aus diesem Gespräch.",
                "No guardes nada de esta conversación.",
            ]);
            let steps = vec![
                asked,
                ScriptStep::Call(call(), ScriptEnd::Denied(None)),
                ScriptStep::person(filled("never push the {} from here, use the release job {n} instead", rng)),
                done.clone(),
                ScriptStep::person(wish),
                done,
            ];
            return ScriptEpisode { is_alone: true, ..ScriptEpisode::new(steps) };
        }
        _ => {
            let text = filled(NOT_REASONS[(i / 20 * 9 + i % 20 - 11) % NOT_REASONS.len()], rng);
            let end = match rng.below(3) {
                0 => ScriptEnd::Interrupted,
                _ => ScriptEnd::Denied(None),
            };
            vec![ScriptStep::Call(call(), end), ScriptStep::person(text), done]
        }
    };
    ScriptEpisode::new([vec![asked], steps].concat())
}
