//! The generator of transcripts: deterministic, readable by the hosts' readers, with the planted words in what a person typed.

use crate::support::Files;
use memdir_chats::{
    ChatEvent, Flow, Roots, Speaker, TranscriptCursor,
    generate::{GeneratorPlan, NEAR_MISSES, PLANTED_KINDS, generate},
    open_sources,
};
use memdir_core::CandidateKind;
use std::collections::HashMap;

#[test]
fn the_same_seed_gives_the_same_transcripts() {
    let plan = GeneratorPlan::default();
    assert_eq!(generate(7, plan), generate(7, plan));
    assert_ne!(generate(7, plan).files, generate(8, plan).files);
    let generated = generate(7, plan);
    assert_eq!(generated.planted.len(), plan.per_kind * PLANTED_KINDS.len());
    assert_eq!(generated.near_misses, NEAR_MISSES * generated.planted.len());
}

#[test]
fn every_planted_sentence_is_typed_in_its_conversations() {
    let generated = generate(1, GeneratorPlan::default());
    let files: Vec<(&str, &str)> = generated.files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let home = Files::new(&files);
    let mut typed: HashMap<String, String> = HashMap::new();
    for source in open_sources(&Roots::under(home.root())) {
        let list = source.sessions();
        assert_eq!(list.problems, []);
        for session in list.sessions {
            let name = format!("{}/{}", session.host, session.key);
            let outcome = source.turns(&session, &TranscriptCursor::default(), &mut |event| {
                if let ChatEvent::Turn(turn) = event
                    && turn.speaker == Speaker::User
                {
                    let all = typed.entry(name.clone()).or_default();
                    all.push_str(&turn.text.to_lowercase());
                    all.push('\n');
                }
                Ok(Flow::Continue)
            });
            assert_eq!(outcome.unwrap().problems, [], "{name}");
        }
    }
    assert_eq!(typed.len(), generated.conversations);
    // A reason that Claude Code records with the rejection is not a message.
    let is_message = |kind| !matches!(kind, CandidateKind::Scar | CandidateKind::Denied);
    for planted in generated.planted.iter().filter(|planted| is_message(planted.kind)) {
        assert!(!planted.sessions.is_empty());
        for session in &planted.sessions {
            assert!(typed[session].contains(&planted.evidence.to_lowercase()), "{planted:?}");
        }
    }
}
