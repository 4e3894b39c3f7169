//! Generated facts, and transcripts of Claude Code whose messages and commands need them or do not: the same for the same seed.

use super::random::Random;
use memdir_core::Incoming;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

const PARTS: &[&str] = &[
    "billing service", "search index", "image cache", "mail relay", "login page", "export job", "report generator", "payment gateway",
    "feature flags", "audit log", "job queue", "metrics dashboard", "session store", "rate limiter", "invoice printer", "tax calculator",
    "shipping label", "stock counter", "price list", "coupon engine", "chat widget", "video player", "map tiles", "backup robot",
];

/// What is known about a part.
struct PlantedFact {
    topic: &'static str,
    /// The text of the memory. `{part}` and `{n}` are replaced.
    text: &'static str,
    /// Messages that need it, in the words of the memory.
    direct: [&'static str; 2],
    /// Messages that need it and share one word with it: the first of the part's name, as `{short}`.
    reworded: [&'static str; 2],
}

const FACTS: &[PlantedFact] = &[
    PlantedFact {
        topic: "port",
        text: "The {part} listens on port {n}. Nothing else may use it.",
        direct: ["Which port does the {part} listen on?", "curl says connection refused for the {part}, what port is it on again?"],
        reworded: ["curl cannot connect to {short} locally, where can I reach it?", "I need the address of {short} in the compose file."],
    },
    PlantedFact {
        topic: "timeout",
        text: "The {part} has had a timeout of {n} seconds since the outage.",
        direct: [
            "requests to the {part} hang, what is its timeout?",
            "Set the timeout of the {part} in the staging config to what it is in production.",
        ],
        reworded: ["calls to {short} hang forever, when do they give up?", "after how long does {short} abort in production?"],
    },
    PlantedFact {
        topic: "owner",
        text: "The team of room {n} owns the {part}. Ask them before its schema changes.",
        direct: ["Who owns the {part}? I want to change its schema.", "I need a new column in the schema of the {part}, please add it"],
        reworded: ["I want a new column for {short}, who has to agree?", "whom do I tell about a migration in {short}?"],
    },
    PlantedFact {
        topic: "tests",
        text: "Tests of the {part} need a database on the test host, started with fixtures {n}.",
        direct: ["Run the tests of the {part} and tell me what fails.", "the {part} tests fail on my machine with a missing database"],
        reworded: ["the suite for {short} is red on my laptop", "what has to be running before I check {short}?"],
    },
    PlantedFact {
        topic: "retry",
        text: "The {part} retries a failed request {n} times. Do not add retries around it.",
        direct: ["Add a retry around failed requests of the {part}.", "failed requests of the {part}: how often do we retry?"],
        reworded: ["{short} answered 503, wrap the call in a loop", "is a lost call to {short} repeated automatically?"],
    },
];

/// Messages that no fact is about, some of them with words of facts.
const CHATTER: &[&str] = &[
    "thanks, looks good",
    "yes",
    "go on",
    "Rename the variable in main.rs to something shorter.",
    "why does rustc say E0308 here?",
    "Please write a commit message for this.",
    "can you explain what this function does",
    "What time is it in Tokyo?",
    "Open a port in the firewall? No, forget it.",
    "is there a timeout in CSS animations",
    "Who wrote the original C compiler?",
    "the tests are green now",
    "retry that",
    "use tabs instead of spaces in this file",
    "Summarise the last three commits.",
    "nein, die andere Datei",
    "それで大丈夫です",
    "remove the debug output again",
    "how long is a marathon?",
    "Make the heading bold.",
    "Sort the imports.",
    "the second one, please",
    "undo that edit",
    "What does `git rebase --onto` do?",
    "Add a doc comment to the struct.",
];

/// Messages that name a part and need none of its facts: what recall brings for them costs tokens without a use.
const MENTIONS: &[&str] = &[
    "Rename the icon of the {part} in the sidebar.",
    "the {part} looks much better now, thanks",
    "Move the {part} paragraph of the readme below the introduction.",
    "Write a haiku about the {part}.",
    "I was wrong about the {part}, go on with the other thing.",
    "Translate the sentence about the {part} into French.",
];

/// A generated world: memories, and conversations about them.
pub(super) struct PlantedWorld {
    /// The memories with facts and rules.
    pub(super) memories: Vec<Incoming>,
    /// The transcripts, by their paths below a home directory.
    pub(super) transcripts: Vec<(String, String)>,
    /// The names of facts by the messages that need them, and whether a message has other words.
    needs: BTreeMap<String, (String, bool)>,
    /// The messages that name a part and need no fact.
    mentions: BTreeSet<String>,
    /// The names of rules by the commands that they are about.
    commands: BTreeMap<String, String>,
}

impl PlantedWorld {
    /// The directory in which all conversations are held.
    pub(super) const PROJECT: &'static str = "/home/ada/shop";

    /// Plants facts: half of what is known about the parts is asked for in a message, and a part has a rule for its release.
    pub(super) fn generate(seed: u64, facts: usize) -> PlantedWorld {
        let random = &mut Random::new(seed);
        let mut all: Vec<(usize, usize)> = (0..PARTS.len()).flat_map(|part| (0..FACTS.len()).map(move |fact| (part, fact))).collect();
        shuffle(&mut all, random);
        all.truncate(facts);
        let mut planted = PlantedWorld {
            memories: Vec::new(),
            transcripts: Vec::new(),
            needs: BTreeMap::new(),
            mentions: BTreeSet::new(),
            commands: BTreeMap::new(),
        };
        // A message, or a command of the agent.
        let mut steps: Vec<(Option<String>, Option<String>)> = Vec::new();
        for (number, (part, fact)) in all.iter().enumerate() {
            let (part, PlantedFact { topic, text, direct, reworded }) = (PARTS[*part], &FACTS[*fact]);
            let n = 11 + random.below(89);
            let short = part.split(' ').next().unwrap_or(part);
            let fill = |text: &str| text.replace("{part}", part).replace("{short}", short).replace("{n}", &n.to_string());
            let name = format!("facts/{}-{topic}", part.replace(' ', "-"));
            let text = format!("---\ntype: project\ndescription: {topic} of the {part}\n---\n{}\n", fill(text));
            planted.memories.push(Incoming { name: name.clone(), text });
            // What is not asked for is there to be confused with what is.
            if number % 2 == 0 {
                let is_reworded = random.below(2) == 0;
                let message = fill(if is_reworded { reworded } else { direct }[random.below(2) as usize]);
                planted.needs.insert(message.clone(), (name, is_reworded));
                steps.push((Some(message), None));
            }
            if number % 4 == 0 {
                let mention = fill(MENTIONS[random.below(MENTIONS.len() as u64) as usize]);
                planted.mentions.insert(mention.clone());
                steps.push((Some(mention), None));
            }
            steps.extend((0..2).map(|_| (Some(chatter(random)), None)));
        }
        for part in PARTS.iter().take(facts.div_ceil(5)) {
            let slug = part.replace(' ', "-");
            let name = format!("rules/release-{slug}");
            let text = format!(
                "---\ntype: feedback\nwhen:\n  command: make release-{slug}*\n---\nRelease the {part} only from the main branch.\n"
            );
            planted.memories.push(Incoming { name: name.clone(), text });
            let command = format!("make release-{slug} VERSION=1.{}", random.below(50));
            planted.commands.insert(command.clone(), name);
            let near = [format!("grep -rn release-{slug} Makefile"), format!("make build-{slug}"), "cargo test".to_owned()];
            steps.push((None, Some(command)));
            steps.extend(near.into_iter().map(|command| (None, Some(command))));
        }
        shuffle(&mut steps, random);
        planted.transcripts = steps.chunks(12).enumerate().map(|(number, steps)| transcript(number, steps)).collect();
        planted
    }

    /// The fact that a message needs, and whether it asks for it in other words.
    pub(super) fn fact_of(&self, message: &str) -> Option<(&str, bool)> {
        self.needs.get(message.trim()).map(|(name, is_reworded)| (name.as_str(), *is_reworded))
    }

    /// Whether a message names a part and needs no fact.
    pub(super) fn is_mention(&self, message: &str) -> bool {
        self.mentions.contains(message.trim())
    }

    /// Whether two memories are about the same part.
    pub(super) fn is_same_part(name: &str, other: &str) -> bool {
        let part = |name: &str| PARTS.iter().position(|part| name.contains(&part.replace(' ', "-")));
        part(name).is_some() && part(name) == part(other)
    }

    /// The rule that a command needs.
    pub(super) fn rule_of(&self, command: &str) -> Option<&str> {
        self.commands.get(command.trim()).map(String::as_str)
    }
}

fn chatter(random: &mut Random) -> String {
    CHATTER[random.below(CHATTER.len() as u64) as usize].to_owned()
}

fn shuffle<T>(list: &mut [T], random: &mut Random) {
    for at in (1..list.len()).rev() {
        list.swap(at, random.below(at as u64 + 1) as usize);
    }
}

/// A conversation in the format of Claude Code. It begins with a message, as every conversation does.
fn transcript(number: usize, steps: &[(Option<String>, Option<String>)]) -> (String, String) {
    let session = format!("00000000-0000-4000-8000-{number:012}");
    let mut lines = Vec::new();
    let mut record = |kind: &str, content: serde_json::Value| {
        let at = lines.len();
        let time = format!("2026-01-{:02}T{:02}:{:02}:{:02}.000Z", 1 + number / 24 % 28, number % 24, at / 60, at % 60);
        lines.push(
            json!({ "type": kind, "uuid": format!("u{at}"), "sessionId": session, "cwd": PlantedWorld::PROJECT, "timestamp": time,
                "message": { "role": kind, "id": format!("m{at}"), "content": content } })
            .to_string(),
        );
    };
    record("user", json!("Good morning."));
    record("assistant", json!([{ "type": "text", "text": "Good morning. What is next?" }]));
    for (at, (message, command)) in steps.iter().enumerate() {
        if let Some(message) = message {
            record("user", json!(message));
            record("assistant", json!([{ "type": "text", "text": "Done." }]));
        }
        if let Some(command) = command {
            let id = format!("toolu_{number}_{at}");
            record("assistant", json!([{ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } }]));
            record("user", json!([{ "type": "tool_result", "tool_use_id": id, "content": "ok" }]));
        }
    }
    (format!(".claude/projects/-home-ada-shop/{session}.jsonl"), lines.join("\n") + "\n")
}
