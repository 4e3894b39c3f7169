//! Which tools a server offers: those of the groups it was given, less what was left out. One that is left out is
//! neither listed nor callable.

use memdir_core::{
    memdir::Memdir,
    store::{Actor, stop::Stop},
    tools::{Caller, Level, Tool},
};
use serde_json::Value;
use std::{path::PathBuf, sync::Arc};

/// Tools that belong together, and the space they work on.
#[derive(Clone)]
pub struct Group {
    /// `native`, or a dialect's name.
    pub name: &'static str,
    /// Its tools.
    pub tools: &'static [Tool],
    /// What they work on.
    pub memdir: Memdir,
    /// What tells at each call what they work on now, where that may change.
    pub space: Option<Space>,
    /// The directory as a person named it, for tools that print paths.
    pub root: PathBuf,
    /// What a model is told about all of them.
    pub instructions: Option<&'static str>,
    /// Whether resources and prompts come with them.
    pub resources: bool,
    /// What makes the memory section of a system prompt for this space, if it is served.
    pub section: Option<Section>,
}

/// The space that is in force now, or why there is none.
pub type Space = Arc<dyn Fn() -> Result<Memdir, String> + Send + Sync>;

impl Group {
    fn now(&self) -> Result<Memdir, String> {
        self.space.as_ref().map_or_else(|| Ok(self.memdir.clone()), |space| space())
    }
}

/// Makes the memory section of a system prompt.
pub type Section = Arc<dyn Fn(&Memdir) -> memdir_core::base::error::Result<String> + Send + Sync>;

/// What of the groups is offered.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// Only these tools; empty for all.
    pub only: Vec<String>,
    /// Not these.
    pub without: Vec<String>,
    /// Only tools that change nothing.
    pub read_only: bool,
}

/// Why nothing can be offered.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum OfferError {
    /// Two groups have a tool of one name.
    #[error("{first} and {second} both have a tool named {name}; serve them one at a time, or leave one out with --without {name}")]
    Twice {
        /// The tool.
        name: &'static str,
        /// One group.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// A name that was chosen is no tool's.
    #[error("there is no tool named {name}; there are {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// Everything was left out.
    #[error("no tool is left to serve")]
    Nothing,
}

/// The tools a server offers.
pub struct Offer {
    groups: Vec<Arc<Group>>,
    tools: Vec<Offered>,
}

/// One tool and where it belongs.
#[derive(Clone)]
pub(crate) struct Offered {
    pub(crate) tool: &'static Tool,
    group: Arc<Group>,
}

impl Offer {
    /// What the groups have and the choice leaves.
    pub fn new(groups: Vec<Group>, choice: &Choice) -> Result<Self, OfferError> {
        let groups: Vec<Arc<Group>> = groups.into_iter().map(Arc::new).collect();
        let all = || groups.iter().flat_map(|group| group.tools.iter().map(move |tool| (group, tool)));
        let known = |name: &String| all().any(|(_, tool)| tool.name == name);
        if let Some(name) = choice.only.iter().chain(&choice.without).find(|name| !known(name)) {
            let names: Vec<&str> = all().map(|(_, tool)| tool.name).collect();
            return Err(OfferError::Unknown { name: name.clone(), known: names.join(", ") });
        }
        let wanted = |tool: &Tool| {
            (choice.only.is_empty() || choice.only.iter().any(|name| name == tool.name))
                && !choice.without.iter().any(|name| name == tool.name)
                && (!choice.read_only || tool.level == Level::Safe)
        };
        let mut tools: Vec<Offered> = Vec::new();
        for (group, tool) in all().filter(|(_, tool)| wanted(tool)) {
            if let Some(other) = tools.iter().find(|other| other.tool.name == tool.name) {
                return Err(OfferError::Twice { name: tool.name, first: other.group.name, second: group.name });
            }
            tools.push(Offered { tool, group: group.clone() });
        }
        if tools.is_empty() {
            return Err(OfferError::Nothing);
        }
        Ok(Offer { groups, tools })
    }

    /// The tools as `tools/list` serves them.
    pub fn json(&self) -> Vec<Value> {
        self.tools.iter().map(|offered| offered.tool.json()).collect()
    }

    /// What a model is told about all of it.
    pub(crate) fn instructions(&self) -> Option<&'static str> {
        self.groups.iter().find_map(|group| group.instructions)
    }

    /// The space of resources and prompts, if they are served.
    pub(crate) fn resources(&self) -> Option<Space> {
        let group = self.groups.iter().find(|group| group.resources)?.clone();
        Some(Arc::new(move || group.now()))
    }

    /// What makes the memory section, if it is served.
    pub(crate) fn section(&self) -> Option<&Section> {
        self.groups.iter().find(|group| group.resources)?.section.as_ref()
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Offered> {
        self.tools.iter().find(|offered| offered.tool.name == name)
    }

    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.tools.iter().map(|offered| offered.tool.name).collect()
    }
}

impl Offered {
    /// The caller of one call that may be ended early.
    pub(crate) fn caller(&self, actor: Actor, session: bool, stop: &Stop) -> Result<Caller, String> {
        let memdir = self.group.now()?;
        Ok(Caller { memdir: memdir.for_actor(actor).stoppable(stop), session, root: self.group.root.clone() })
    }
}
