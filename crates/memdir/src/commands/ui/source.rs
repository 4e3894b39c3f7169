//! What the page shows that only this program knows: conversations, hosts, settings, decisions about rules.

use crate::{
    args::DoctorArgs,
    commands::{chats, config, doctor, install, rules},
    config::Settings,
    exit::Failure,
    hook::{RunningConversation, chat_ending, project_relative},
    mounts::chat_archive,
    scope::Scope,
};
use memdir_chats::ArchivedChat;
use memdir_core::{
    Clock as _, Error, Memdir, Result, ResumeCommand, SystemClock,
    internal::{base::text::lines, operations::ledger::TripwireCounts},
};
use memdir_server::{
    ChatEnd, ChatRow, ChatText, ChatsView, HostFinding, HostFindings, HostRow, PageSource, RuleCondition, RuleRow, SettingRow,
};

/// This machine.
pub(super) struct LocalSource {
    settings: Settings,
}

impl LocalSource {
    pub(super) fn new(settings: &Settings) -> Self {
        LocalSource { settings: settings.clone() }
    }

    fn scope(&self) -> Result<Scope> {
        Scope::resolve(&self.settings).map_err(to_error)
    }
}

impl PageSource for LocalSource {
    fn chats(&self) -> Result<ChatsView> {
        let listed = chat_archive(&self.settings).list()?;
        let mut notes: Vec<String> = chats::off_note(&self.settings).into_iter().collect();
        notes.extend(listed.problems.into_iter().map(|problem| problem.what));
        Ok(ChatsView { chats: listed.chats.iter().map(|file| chat_row(&file.chat)).collect(), notes })
    }

    fn chat(&self, id: &str) -> Result<ChatText> {
        let archive = chat_archive(&self.settings);
        let (chat, _) = archive.find_part(id)?;
        let text = archive.text(chat.host, &chat.key)?.unwrap_or_default();
        let body = chats::show::body(&text);
        let first_line = lines(&text[..text.len() - body.len()]) + 1;
        Ok(ChatText { row: chat_row(&chat), text: body.to_owned(), first_line })
    }

    fn left_off(&self) -> Result<Option<ChatEnd>> {
        let scope = self.scope()?;
        let Some(end) = chat_ending(&self.settings, &scope, RunningConversation::default(), SystemClock.now()) else { return Ok(None) };
        Ok(Some(ChatEnd {
            row: chat_row(&end.chat),
            changed: end.changed.iter().map(|file| project_relative(file, &scope)).collect(),
            ran: end.ran.into_iter().map(|ran| (ran.line, ran.failed)).collect(),
            message: end.message,
        }))
    }

    fn rules(&self, memdir: &Memdir) -> Result<Vec<RuleRow>> {
        let all = memdir.rules(Some(&self.scope()?.tripwires_file(&self.settings.cache)))?;
        let rows = rules::rows(memdir, &self.settings, &all).map_err(to_error)?;
        let condition = |one: &rules::ConditionRow| RuleCondition {
            over: one.over.name().to_owned(),
            pattern: one.pattern.clone(),
            effect: rules::effect(one),
        };
        let row = |rule: &rules::RuleListRow| {
            let sum = |count: fn(&TripwireCounts) -> u64| rule.conditions.iter().map(|one| count(&one.counts)).sum::<u64>();
            RuleRow {
                name: rule.name.clone(),
                conditions: rule.conditions.iter().map(condition).collect(),
                state: rules::state(rule),
                counts: Some([sum(|counts| counts.fired), sum(|counts| counts.followed), sum(|counts| counts.violated)]),
            }
        };
        Ok(rows.iter().map(row).collect())
    }

    fn hosts(&self) -> Result<Vec<HostRow>> {
        let machine = install::machine(&self.settings).map_err(to_error)?;
        let row = |status: install::HostStatus| {
            let installed = status.installed();
            let can_install = installed.is_empty() && status.found.is_some();
            HostRow {
                next: can_install.then(|| format!("memdir install {}", status.host)),
                name: status.host.to_owned(),
                title: status.title.to_owned(),
                found: status.found.map(|path| path.display().to_string()),
                installed,
            }
        };
        Ok(install::statuses(&self.settings, &machine).map_err(to_error)?.into_iter().map(row).collect())
    }

    fn check_hosts(&self) -> Result<Vec<HostFindings>> {
        let report = doctor::report(&DoctorArgs { hosts: Vec::new(), fix: false }, &self.settings, &self.scope()?).map_err(to_error)?;
        let directories = HostFindings { title: "Directories".into(), findings: findings(&report.directories) };
        let hosts = report.hosts.iter().map(|host| HostFindings { title: host.title.to_owned(), findings: findings(&host.findings) });
        Ok(std::iter::once(directories).chain(hosts).collect())
    }

    fn settings(&self) -> Result<Vec<SettingRow>> {
        let rows = config::setting_rows(&self.settings, &self.scope()?).map_err(to_error)?;
        Ok(rows.into_iter().map(|row| SettingRow { name: row.name.to_owned(), value: row.value, from: row.from }).collect())
    }
}

fn chat_row(chat: &ArchivedChat) -> ChatRow {
    ChatRow {
        id: chat.name(),
        host: chat.host.name.to_owned(),
        title: chat.title.clone(),
        project: chat.project.clone(),
        updated: chat.updated.or(chat.started),
        turns: chat.turns,
        resume: chat.resume().as_ref().map(ResumeCommand::to_string),
    }
}

fn findings(all: &[crate::doctor::DoctorFinding]) -> Vec<HostFinding> {
    let level = |finding: &crate::doctor::DoctorFinding| match finding.level {
        crate::doctor::FindingLevel::Ok => "ok",
        crate::doctor::FindingLevel::Note => "note",
        crate::doctor::FindingLevel::Bad => "bad",
    };
    let one = |finding: &crate::doctor::DoctorFinding| HostFinding {
        what: finding.what.clone(),
        level: level(finding).to_owned(),
        seen: finding.seen.clone(),
        fix: finding.fix.clone(),
    };
    all.iter().map(one).collect()
}

/// A failure of this program as an error that a page can show.
fn to_error(failure: Failure) -> Error {
    match failure {
        Failure::Core { error, .. } => error,
        other => {
            let text = other.text();
            Error::explained_unavailable(text.message, text.hint)
        }
    }
}
