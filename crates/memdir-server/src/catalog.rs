//! The catalog of tools that a server serves: the tools of its groups, filtered. A tool that is filtered out is neither listed
//! nor callable.

use memdir_core::{
    Actor, CueProposals, Memdir,
    internal::{
        store::{confirmation::Confirmation, stop::Stop},
        tools::{Level, Tool, ToolContext},
    },
};
use serde_json::Value;
use std::{path::PathBuf, sync::Arc};

/// Tools that belong together, and the space they work on.
#[derive(Clone)]
pub struct ToolGroup {
    /// `native`, or the name of a dialect.
    pub name: &'static str,
    /// The tools.
    pub tools: &'static [Tool],
    /// The space at the time of opening.
    pub memdir: Memdir,
    /// Returns the space for each call, if it may change while the server runs.
    pub space: Option<CurrentSpace>,
    /// The directory as the user specified it, for tools that print paths.
    pub root: PathBuf,
    /// The server instructions for models.
    pub instructions: Option<String>,
    /// Whether resources and prompts are served from this space.
    pub resources: bool,
    /// Renders the memory section of a system prompt, if the server provides one.
    pub section: Option<PromptSection>,
    /// Where cues are proposed that are learned from use, if they are.
    pub proposals: Option<CueProposals>,
}

/// Returns the space currently in force, or a message that explains why there is none. May block.
pub type CurrentSpace = Arc<dyn Fn() -> Result<Memdir, String> + Send + Sync>;

/// Returns the message with which the use of a space is refused at present, if it is.
pub(crate) type SpaceCheck = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;

/// Renders the memory section of a system prompt.
pub type PromptSection = Arc<dyn Fn(&Memdir) -> memdir_core::Result<String> + Send + Sync>;

impl ToolGroup {
    fn current_space(&self) -> Result<Memdir, String> {
        self.space.as_ref().map_or_else(|| Ok(self.memdir.clone()), |space| space())
    }
}

/// Selects tools by name and by whether they write.
#[derive(Debug, Clone, Default)]
pub struct ToolFilter {
    /// The tools to serve; empty for all.
    pub only: Vec<String>,
    /// The tools not to serve.
    pub without: Vec<String>,
    /// Whether to serve only tools that change nothing.
    pub read_only: bool,
}

impl ToolFilter {
    /// Returns whether a tool passes the filter.
    pub fn passes(&self, tool: &Tool) -> bool {
        (self.only.is_empty() || self.only.iter().any(|name| name == tool.name))
            && !self.without.iter().any(|name| name == tool.name)
            && (!self.read_only || tool.level == Level::Safe)
    }
}

/// Why a catalog cannot be built.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum CatalogError {
    /// Two groups have a tool of the same name.
    #[error("{first} and {second} both have a tool named {name:?}; serve them separately, or omit both tools with --without {name}")]
    Duplicate {
        /// The name of the tool.
        name: &'static str,
        /// The group that came first.
        first: &'static str,
        /// The other group.
        second: &'static str,
    },
    /// The filter names an unknown tool.
    #[error("unknown tool {name:?}; available: {known}")]
    Unknown {
        /// The name in the filter.
        name: String,
        /// The names of all tools, separated by commas.
        known: String,
    },
    /// The filter excludes every tool.
    #[error("no tools left to serve; check --tools, --without and --read-only")]
    Empty,
}

/// The tools that a server serves.
pub struct ToolCatalog {
    groups: Vec<Arc<ToolGroup>>,
    tools: Vec<ServedTool>,
    actor: Option<Actor>,
    projects: Vec<String>,
}

/// A tool and its group.
#[derive(Clone)]
pub(crate) struct ServedTool {
    pub(crate) tool: &'static Tool,
    group: Arc<ToolGroup>,
}

impl ToolCatalog {
    /// Builds the catalog of the groups' tools that pass the filter.
    pub fn new(groups: Vec<ToolGroup>, filter: &ToolFilter) -> Result<Self, CatalogError> {
        let groups: Vec<Arc<ToolGroup>> = groups.into_iter().map(Arc::new).collect();
        let all = || groups.iter().flat_map(|group| group.tools.iter().map(move |tool| (group, tool)));
        let is_known = |name: &String| all().any(|(_, tool)| tool.name == name);
        if let Some(name) = filter.only.iter().chain(&filter.without).find(|name| !is_known(name)) {
            let names: Vec<&str> = all().map(|(_, tool)| tool.name).collect();
            return Err(CatalogError::Unknown { name: name.clone(), known: names.join(", ") });
        }
        let mut tools: Vec<ServedTool> = Vec::new();
        for (group, tool) in all().filter(|(_, tool)| filter.passes(tool)) {
            if let Some(other) = tools.iter().find(|other| other.tool.name == tool.name) {
                return Err(CatalogError::Duplicate { name: tool.name, first: other.group.name, second: group.name });
            }
            tools.push(ServedTool { tool, group: group.clone() });
        }
        if tools.is_empty() {
            return Err(CatalogError::Empty);
        }
        Ok(ToolCatalog { groups, tools, actor: None, projects: Vec::new() })
    }

    /// Returns a catalog without tools, for a server all of whose callers have catalogs of their own.
    pub fn empty() -> Self {
        ToolCatalog { groups: Vec::new(), tools: Vec::new(), actor: None, projects: Vec::new() }
    }

    /// Returns the catalog with one actor for all changes, whatever a client calls itself. `memory_undo` undoes the last change of
    /// this actor.
    pub fn for_actor(self, actor: Actor) -> Self {
        ToolCatalog { actor: Some(actor), ..self }
    }

    /// Returns the catalog with the projects of which the caller has to select one.
    pub fn with_projects(self, projects: Vec<String>) -> Self {
        ToolCatalog { projects, ..self }
    }

    /// The projects of which the caller has to select one. Empty if it has selected one, or has only one.
    pub(crate) fn projects(&self) -> &[String] {
        &self.projects
    }

    /// Returns the actor of all changes, or `None` if each client names its own.
    pub(crate) fn actor(&self) -> Option<&Actor> {
        self.actor.as_ref()
    }

    /// Returns the catalog with a check before each use of a space: an error of `check` refuses the use.
    pub(crate) fn guarded(self, check: SpaceCheck) -> Self {
        let guard = |group: &Arc<ToolGroup>| {
            let (inner, check) = (group.clone(), check.clone());
            let space: CurrentSpace = Arc::new(move || check().and_then(|()| inner.current_space()));
            Arc::new(ToolGroup { space: Some(space), ..ToolGroup::clone(group) })
        };
        let groups: Vec<Arc<ToolGroup>> = self.groups.iter().map(guard).collect();
        let guarded = |served: ServedTool| {
            let at = self.groups.iter().position(|group| Arc::ptr_eq(group, &served.group));
            ServedTool { tool: served.tool, group: at.map_or_else(|| guard(&served.group), |at| groups[at].clone()) }
        };
        ToolCatalog { tools: self.tools.into_iter().map(guarded).collect(), groups, actor: self.actor, projects: self.projects }
    }

    /// Returns the tools in the form of `tools/list`.
    pub(crate) fn to_json(&self) -> Vec<Value> {
        self.tools.iter().map(|served| served.tool.json()).collect()
    }

    /// Returns the server instructions for models.
    pub(crate) fn instructions(&self) -> Option<&str> {
        self.groups.iter().find_map(|group| group.instructions.as_deref())
    }

    /// Returns the space of resources and prompts, or `None` if the server has tools only.
    pub(crate) fn resources(&self) -> Option<CurrentSpace> {
        let group = self.resource_group()?.clone();
        Some(Arc::new(move || group.current_space()))
    }

    /// Returns the space of resources and prompts for one call whose first read checks the caller, or `None` if the space cannot do so.
    pub(crate) fn confirming_space(&self, confirmation: &Confirmation) -> Option<Memdir> {
        self.resource_group()?.memdir.confirming(confirmation)
    }

    /// Returns whether a tool that changes memories is served.
    pub(crate) fn can_write(&self) -> bool {
        self.tools.iter().any(|served| served.tool.level != Level::Safe)
    }

    /// Returns the renderer of the memory section, if the server provides one.
    pub(crate) fn section(&self) -> Option<&PromptSection> {
        self.resource_group()?.section.as_ref()
    }

    /// Returns the proposed cues of the space of prompts.
    pub(crate) fn proposals(&self) -> Option<&CueProposals> {
        self.resource_group()?.proposals.as_ref()
    }

    fn resource_group(&self) -> Option<&Arc<ToolGroup>> {
        self.groups.iter().find(|group| group.resources)
    }

    pub(crate) fn find(&self, name: &str) -> Option<&ServedTool> {
        self.tools.iter().find(|served| served.tool.name == name)
    }

    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.tools.iter().map(|served| served.tool.name).collect()
    }
}

impl ServedTool {
    /// Returns where cues of this tool's space are proposed.
    pub(crate) fn proposals(&self) -> Option<&CueProposals> {
        self.group.proposals.as_ref()
    }

    /// Returns the caller of one call, which ends at its next step after `stop`. Blocks while the space is opened again.
    pub(crate) fn caller(&self, actor: Actor, session: bool, stop: &Stop) -> Result<ToolContext, String> {
        let memdir = self.group.current_space()?;
        Ok(ToolContext { memdir: memdir.for_actor(actor).with_stop(stop).counting_use(), session, root: self.group.root.clone() })
    }
}
