//! Near misses of *reverted*: an edit is changed, discussed or undone, but not for good and not for a reason that the person gave.

use super::{
    super::{
        script::{Rng, ScriptEpisode, ScriptStep},
        words::FILES,
    },
    number,
};

pub(super) fn episode(i: usize, rng: &mut Rng) -> ScriptEpisode {
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
    let rest = match i % 10 {
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
        // Undone for a moment, by mistake, or as the first step of something else.
        7 => vec![
            ScriptStep::person(rng.pick(&[
                "revert that for a moment, I want to compare both versions",
                "put it back for now, I will look at it tomorrow",
                "undo the last change please",
                "start over with the settings and make them configurable",
                "mach das kurz rückgängig, ich will nur vergleichen",
                "deshaz eso por ahora, lo miro mañana",
                "annule ça pour l'instant, je regarde demain",
            ])),
            ScriptStep::edit(path, &new, &old),
            done,
        ],
        8 => vec![ScriptStep::person(format!("use the old value there too, as for {n}")), ScriptStep::edit(other, &new, &old), done],
        _ => vec![
            ScriptStep::person(format!("undo the last change of build {n}")),
            ScriptStep::fails(&format!("git restore {path}"), 1, "error: pathspec did not match"),
            ScriptStep::assistant("That did not work, so I left it."),
        ],
    };
    ScriptEpisode::new([first, rest].concat())
}
