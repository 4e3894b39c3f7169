//! A conversation whose typed messages were read: each sentence is parsed once, for all detectors. Pure.

use super::{
    SeenChat, TypedTurn,
    rules::{PrivacyRequest, privacy_request},
    sentence::Sentence,
    typed::sentences,
};

/// A conversation with the person's sentences, without what is not to be remembered.
pub(super) struct ReadChat<'c> {
    pub(super) chat: &'c SeenChat,
    /// The messages that count, in order.
    pub(super) turns: Vec<ReadTurn<'c>>,
}

/// A message of the person.
pub(super) struct ReadTurn<'c> {
    pub(super) turn: &'c TypedTurn,
    /// What was typed; empty if it is not to be remembered.
    pub(super) text: &'c str,
    pub(super) sentences: Vec<Sentence<'c>>,
}

impl<'c> ReadChat<'c> {
    /// Reads the messages up to the one with the number `last`; returns `None` if nothing of the conversation is to be remembered.
    pub(super) fn new(chat: &'c SeenChat, last: u64) -> Option<Self> {
        let mut turns = Vec::with_capacity(chat.turns.len());
        for turn in &chat.turns {
            let mut read = ReadTurn { turn, text: &turn.text, sentences: read_sentences(&turn.text) };
            match privacy_request(&read.sentences) {
                Some(PrivacyRequest::Conversation) => return None,
                Some(PrivacyRequest::Message) => (read.text, read.sentences) = ("", Vec::new()),
                None => {}
            }
            // What a script wrote is not evidence of what a person wants. Its tool calls are facts all the same.
            if turn.number <= last && !chat.is_scripted && !chat.is_doubtful() {
                turns.push(read);
            }
        }
        Some(ReadChat { chat, turns })
    }

    /// Returns the person's message with this number.
    pub(super) fn turn(&self, number: u64) -> Option<&ReadTurn<'c>> {
        let at = self.turns.partition_point(|read| read.turn.number < number);
        self.turns.get(at).filter(|read| read.turn.number == number)
    }

    /// Returns the messages after the one with the number `after`, each with its place among all.
    pub(super) fn turns_after(&self, after: u64) -> impl Iterator<Item = (usize, &ReadTurn<'c>)> {
        self.turns.iter().enumerate().filter(move |(_, read)| read.turn.number > after)
    }
}

/// Parses the sentences of a message.
pub(super) fn read_sentences(message: &str) -> Vec<Sentence<'_>> {
    sentences(message).into_iter().map(Sentence::new).collect()
}
