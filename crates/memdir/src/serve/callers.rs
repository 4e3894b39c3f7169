//! The callers of an HTTP server: the tokens of the settings, and the space of each. It follows the settings file, so that a new
//! token works and a revoked one is rejected at once. While the file is invalid, all of them are rejected.

use super::{
    groups::{NATIVE, caller_catalog, dialect, native_group},
    live::{LiveSettings, live_space},
    verified::{self, CallerGrant, VerifiedCallers},
};
use crate::{
    config::{OAuthGroup, OAuthSetting, SearchSetting, Settings, TokenSetting},
    exit::Failure,
    scope::{self, Scope, narrowed},
    spaces,
};
use memdir_core::{
    Access, Clock as _,
    internal::{
        base::time::SystemClock,
        store::space::{TokenIdentity, token_hash},
    },
};
use memdir_server::{
    CallerDirectory, CallerId, HttpCaller, REVOKED, ToolCatalog, ToolFilter, ToolGroup, VerifiedAuthentication, VerifiedToken,
};
use std::{
    io::Write as _,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The callers with tokens of their own, if there are any.
#[derive(Debug)]
pub(super) struct TokenCallers {
    live: Arc<LiveSettings>,
    filter: ToolFilter,
    /// The groups of tools that are served; memdir's own if there are none.
    groups: Vec<String>,
    registry: Mutex<Registry>,
    /// The error of the settings that was last reported to the operator.
    reported: Mutex<Option<String>>,
}

impl TokenCallers {
    pub(super) fn new(live: Arc<LiveSettings>, filter: &ToolFilter, groups: &[String]) -> TokenCallers {
        let registry = Mutex::new(Registry::new(live.get()));
        TokenCallers { live, filter: filter.clone(), groups: groups.to_vec(), registry, reported: Mutex::default() }
    }

    /// Returns the registry, updated to the current settings.
    fn registry(&self) -> MutexGuard<'_, Registry> {
        let mut registry = self.lock_registry();
        registry.update(self.live.get());
        registry
    }

    fn lock_registry(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_for_caller(&self, settings: &Settings, grant: &CallerGrant, request: &HttpCaller) -> Result<ToolCatalog, Failure> {
        if let Some(dialect) = foreign_dialect(&self.groups) {
            return Err(Failure::Usage { message: no_callers(dialect), hint: String::new() });
        }
        let caller = TokenIdentity { person: grant.person.clone(), agent: grant.agent.clone(), projects: grant.projects.clone() };
        if let Some(switch) = scope::switched_off(settings, caller.project(request.project.as_deref())?) {
            // A remote caller does not see the path of the server's settings.
            return Err(Failure::Off { switch: switch.with_file("the server's settings") });
        }
        let mounts = settings.places().caller(&caller, request.project.as_deref())?;
        let mut mounts = narrowed(mounts, &settings.only, &request.only)?;
        if grant.read_only {
            mounts.iter_mut().for_each(|mount| mount.access = Access::ReadOnly);
        }
        // The log is about the person, and everyone in a project reads the project's memory.
        let memdir = spaces::open_mounts(settings, &mounts, &grant.person)?.with_log_prefix("user");
        let group = native_group(memdir, settings, settings.home.value.clone(), true)?;
        caller_catalog(vec![group], &self.filter, grant.read_only)
    }

    /// Opens the owner's space, narrowed as the request asks.
    fn open_for_owner(&self, settings: &Settings, request: &HttpCaller) -> Result<ToolCatalog, Failure> {
        let refuse = |message: String| Err(Failure::Usage { message, hint: String::new() });
        let scope = Scope::whole(settings)?;
        let has_native = self.groups.is_empty() || self.groups.iter().any(|name| name == NATIVE);
        match &request.project {
            // A dialect serves the directory of another system.
            Some(_) if settings.dir.is_some() || !has_native => {
                return refuse("this server serves a directory, not a project; omit the Memdir-Project header".into());
            }
            Some(named) if *named != scope.id => {
                return refuse(format!("this server does not serve project {named:?}; it serves {:?}", scope.id));
            }
            _ => {}
        }
        let group = |name: &String| match name.as_str() {
            NATIVE => self.native_for_owner(settings, &scope, request),
            _ => dialect(name, &self.live, settings, &scope, &request.only),
        };
        let groups: Vec<ToolGroup> = match self.groups.as_slice() {
            [] => vec![self.native_for_owner(settings, &scope, request)?],
            names => names.iter().map(group).collect::<Result<_, _>>()?,
        };
        caller_catalog(groups, &self.filter, false)
    }

    /// Opens memdir's own tools on the owner's space, narrowed as the request asks.
    fn native_for_owner(&self, settings: &Settings, scope: &Scope, request: &HttpCaller) -> Result<ToolGroup, Failure> {
        let only = request.only.clone();
        let open = move |settings: &Settings, _: &Scope| {
            let scope = Scope::whole(settings)?;
            scope.must_be_on()?;
            let mounts = narrowed(scope.mounts_only(), &settings.only, &only)?;
            spaces::with_search(spaces::open_mounts(settings, &mounts, &settings.actor.value)?, settings)
        };
        let group = native_group(open(settings, scope)?, settings, settings.cwd.clone(), false)?;
        let space = live_space(&self.live, settings, scope, group.memdir.clone(), Box::new(open));
        Ok(ToolGroup { space: Some(space), ..group })
    }
}

/// Returns a dialect of another system among the groups; its memory belongs to no caller.
pub(super) fn foreign_dialect(groups: &[String]) -> Option<&String> {
    groups.iter().find(|name| *name != NATIVE)
}

/// The reason why a dialect cannot be served to callers.
pub(super) fn no_callers(dialect: &str) -> String {
    format!("dialect {dialect:?} cannot be served with tokens: it has one memory for all callers")
}

impl CallerDirectory for TokenCallers {
    fn requires_token(&self) -> bool {
        // Never reset, so that the settings file is checked here only until the first token.
        let had_tokens = self.lock_registry().had_tokens;
        had_tokens || self.registry().had_tokens
    }

    fn check(&self) -> Result<(), String> {
        let Some(why) = self.live.invalid() else { return Ok(()) };
        // A server that never had tokens has none to withdraw; it stays as open as it was started.
        if !self.registry().has_callers() {
            return Ok(());
        }
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.as_ref() != Some(&why) {
            // The operator sees why; a remote caller sees neither the path nor the text of the settings.
            let _ = writeln!(
                std::io::stderr(),
                "memdir: invalid settings: {why}; until they are corrected, only the token from --token-file or MEMDIR_TOKEN is accepted"
            );
            *reported = Some(why);
        }
        Err("this server's settings are invalid, so tokens cannot be checked; ask its operator to correct them".into())
    }

    fn identify(&self, token: &str) -> Option<CallerId> {
        let hash = token_hash(token);
        self.registry().callers.iter().find(|(_, known)| known.hash.eq_ignore_ascii_case(&hash)).map(|(id, _)| *id)
    }

    fn authenticate_verified<'a>(&'a self, token: &'a VerifiedToken) -> VerifiedAuthentication<'a> {
        Box::pin(async move {
            let mut registry = self.registry();
            let granted = verified::grant(&token.identity, registry.groups());
            Ok(granted.map(|_| registry.add_verified(token)))
        })
    }

    fn is_current(&self, id: CallerId) -> bool {
        self.registry().grant(id).is_some()
    }

    fn revision(&self) -> u64 {
        let mut registry = self.registry();
        registry.remove_expired();
        registry.revision
    }

    fn open(&self, caller: &HttpCaller) -> Result<ToolCatalog, String> {
        let opened = match caller.id {
            None => self.open_for_owner(&self.live.get(), caller),
            Some(id) => {
                // Not locked while the space is opened, which may take long.
                let (settings, grant) = {
                    let registry = self.registry();
                    (registry.settings.clone(), registry.grant(id).ok_or(REVOKED)?)
                };
                self.open_for_caller(&settings, &grant, caller)
            }
        };
        opened.map_err(|failure| failure.text().message)
    }
}

/// The ids of the callers. A caller keeps its id as long as its token setting and the permissions are unchanged; a token that
/// is added or revoked does not affect the sessions of others.
#[derive(Debug)]
struct Registry {
    settings: Arc<Settings>,
    permissions: Permissions,
    callers: Vec<(CallerId, TokenSetting)>,
    /// The callers of an identity provider.
    verified: VerifiedCallers,
    last_id: u64,
    revision: u64,
    /// Whether there has been a token since the server started. Revoking the last one does not open the server to anyone.
    had_tokens: bool,
}

impl Registry {
    fn new(settings: Arc<Settings>) -> Self {
        let permissions = Permissions::from_settings(&settings);
        let (callers, verified) = (Vec::new(), VerifiedCallers::default());
        let mut registry = Registry { settings, permissions, callers, verified, last_id: 0, revision: 0, had_tokens: false };
        registry.assign_ids(false);
        registry
    }

    fn update(&mut self, settings: Arc<Settings>) {
        if Arc::ptr_eq(&self.settings, &settings) {
            return;
        }
        let permissions = Permissions::from_settings(&settings);
        let keeps_ids = permissions == self.permissions;
        (self.settings, self.permissions) = (settings, permissions);
        self.assign_ids(keeps_ids);
    }

    fn assign_ids(&mut self, keeps_ids: bool) {
        let before = std::mem::take(&mut self.callers);
        if !keeps_ids {
            self.verified = VerifiedCallers::default();
        }
        for token in &self.settings.config.tokens {
            let id = match before.iter().find(|(_, known)| keeps_ids && known == token) {
                Some((id, _)) => *id,
                None => {
                    self.last_id += 1;
                    CallerId(self.last_id)
                }
            };
            self.callers.push((id, token.clone()));
        }
        self.had_tokens |= !self.callers.is_empty();
        self.revision += 1;
    }

    /// Returns whether callers other than the owner are accepted, or were since the server started.
    fn has_callers(&self) -> bool {
        self.had_tokens || self.settings.config.oauth.is_some()
    }

    /// Returns what a caller has access to, if it is a current one.
    fn grant(&self, id: CallerId) -> Option<CallerGrant> {
        let token = self.callers.iter().find(|(known, _)| *known == id).map(|(_, token)| CallerGrant::from(token));
        token.or_else(|| verified::grant(self.verified.identity(id)?, self.groups()).ok())
    }

    fn groups(&self) -> &[OAuthGroup] {
        self.settings.config.oauth.as_ref().map(|oauth| oauth.groups.as_slice()).unwrap_or_default()
    }

    fn add_verified(&mut self, token: &VerifiedToken) -> CallerId {
        let last_id = &mut self.last_id;
        self.verified.add(token, || {
            *last_id += 1;
            CallerId(*last_id)
        })
    }

    /// Ends what callers with expired tokens have open.
    fn remove_expired(&mut self) {
        if self.verified.remove_expired(SystemClock.now()) {
            self.revision += 1;
        }
    }
}

/// The settings besides the token that determine what a caller may do and sees.
#[derive(Debug, PartialEq)]
struct Permissions {
    enabled: Option<bool>,
    disabled_projects: Vec<String>,
    log: bool,
    guidelines: Option<String>,
    allow: Vec<String>,
    allow_rules: Vec<String>,
    search: SearchSetting,
    oauth: Option<OAuthSetting>,
}

impl Permissions {
    fn from_settings(settings: &Settings) -> Self {
        let config = &settings.config;
        Permissions {
            enabled: config.enabled,
            disabled_projects: config.disabled_projects.clone(),
            log: config.log,
            guidelines: config.guidelines.clone(),
            allow: config.secrets.allow.clone(),
            allow_rules: config.secrets.allow_rules.clone(),
            search: config.search.clone(),
            oauth: config.oauth.clone(),
        }
    }
}
