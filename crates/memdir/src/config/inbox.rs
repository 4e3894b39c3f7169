//! The `[inbox]` table: which candidates are looked for, and which the agent is asked about.

use memdir_core::CandidateKind;
use serde::Deserialize;

/// The `[inbox]` table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct InboxSetting {
    /// Whether candidates are looked for, and the inbox is mounted.
    pub(crate) on: bool,
    /// Whether the stop hook asks the agent about candidates.
    pub(crate) ask: bool,
    /// Whether the running conversation is read while chats are off.
    pub(crate) without_chats: bool,
    remember: KindSetting,
    denied: KindSetting,
    repeat: KindSetting,
    scar: KindSetting,
    reverted: KindSetting,
    violated: RuleKindSetting,
    unused: RuleKindSetting,
}

/// What happens with candidates of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum KindSetting {
    /// They are added to the inbox, and the agent is asked about them.
    Ask,
    /// They are added to the inbox.
    List,
    /// They are not looked for.
    Off,
}

/// What happens with candidates that propose to change a rule, which only the person decides about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RuleKindSetting {
    /// They are added to the inbox.
    List,
    /// They are not looked for.
    Off,
}

impl Default for InboxSetting {
    fn default() -> InboxSetting {
        InboxSetting {
            on: true,
            ask: true,
            without_chats: true,
            remember: KindSetting::Ask,
            denied: KindSetting::Ask,
            repeat: KindSetting::Ask,
            scar: KindSetting::List,
            reverted: KindSetting::List,
            violated: RuleKindSetting::List,
            unused: RuleKindSetting::List,
        }
    }
}

impl InboxSetting {
    /// Whether candidates of this kind are added to the inbox.
    pub(crate) fn adds(&self, kind: CandidateKind) -> bool {
        self.on && self.setting(kind) != KindSetting::Off
    }

    /// Whether the agent is asked about candidates of this kind.
    pub(crate) fn asks(&self, kind: CandidateKind) -> bool {
        self.on && self.ask && self.setting(kind) == KindSetting::Ask
    }

    fn setting(&self, kind: CandidateKind) -> KindSetting {
        let rule = |setting| if setting == RuleKindSetting::Off { KindSetting::Off } else { KindSetting::List };
        match kind {
            CandidateKind::Remember => self.remember,
            CandidateKind::Denied => self.denied,
            CandidateKind::Repeat => self.repeat,
            CandidateKind::Scar => self.scar,
            CandidateKind::Reverted => self.reverted,
            CandidateKind::Violated => rule(self.violated),
            CandidateKind::Unused => rule(self.unused),
        }
    }
}
