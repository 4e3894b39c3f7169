//! Access to the pages of a server: people sign in with a token, or through the identity provider. Each sees the space of its token.
//!
//! The server keeps no sessions, so that every replica answers every request: the cookie holds the token, which is checked each time.
//! A revoked or expired token ends the session at once.

use super::{
    backlinks::Backlinks,
    params::encode,
    reply::redirect,
    space::{PageSpace, Viewer},
    visit::{PageState, Visit, answer_early, cookie_values},
};
use crate::{
    http::{Connection, HttpCaller, HttpState, retry_later, text},
    oauth::TokenRefusal,
};
use axum::{
    Extension,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header, uri::Authority},
    middleware::Next,
    response::Response,
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

/// The path prefix of every page.
pub(super) const BASE: &str = "/ui";
/// The cookie with the token.
const TOKEN: &str = "memdir";
/// The cookie with the selected project.
const PROJECT: &str = "memdir-project";
/// Maximum number of spaces whose references are cached.
const MAX_CACHED: usize = 256;

/// The pages of a server.
pub(super) struct ServerPages {
    pub(super) http: Arc<HttpState>,
    pub(super) state: Arc<PageState>,
    /// Who refers to whom, by space.
    backlinks: Mutex<HashMap<HttpCaller, Arc<Backlinks>>>,
}

impl ServerPages {
    pub(super) fn new(http: Arc<HttpState>) -> Self {
        let state = Arc::new(PageState { base: BASE.to_owned(), workers: http.workers(), shutdown: http.shutdown() });
        ServerPages { http, state, backlinks: Mutex::default() }
    }
}

/// The layer of all pages: checks host, origin and rate, and authenticates people by their token.
pub(super) async fn enter(
    State(pages): State<Arc<ServerPages>>,
    Extension(connection): Extension<Connection>,
    mut request: Request,
    next: Next,
) -> Result<Response, Response> {
    let http = &pages.http;
    http.check_request(&request)?;
    http.spend(connection.peer().ip(), 1)?;
    let place = request.uri().path().strip_prefix(BASE).and_then(|rest| rest.strip_prefix('/')).unwrap_or_default();
    if let Some(response) = answer_early(&request, place) {
        return Ok(response);
    }
    if !["login", "oauth", "callback"].contains(&place) {
        match pages.visit(&connection, request.headers()).await {
            Ok(visit) => request.extensions_mut().insert(visit),
            Err(refused) => return Err(refused.into_response(request.headers())),
        };
    }
    Ok(next.run(request).await)
}

/// Why a person is not let in.
enum Refused {
    /// The person must sign in.
    SignIn,
    /// The token was accepted before, and is not any more.
    SignInAgain,
    /// The request cannot be answered at present.
    Response(Response),
}

impl Refused {
    fn into_response(self, headers: &HeaderMap) -> Response {
        match self {
            Refused::Response(response) => response,
            // A script gets a status that it understands, and not the page of the form.
            _ if !is_navigation(headers) => text(StatusCode::UNAUTHORIZED, "not signed in"),
            Refused::SignIn => redirect(&format!("{BASE}/login")),
            Refused::SignInAgain => {
                let response = redirect(&format!("{BASE}/login?ended"));
                with_cookies(response, &[clear(TOKEN, headers), clear(PROJECT, headers)])
            }
        }
    }
}

/// Returns whether a browser goes to a page.
fn is_navigation(headers: &HeaderMap) -> bool {
    match headers.get("sec-fetch-mode") {
        Some(mode) => mode == "navigate",
        None => headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).is_some_and(|accept| accept.contains("text/html")),
    }
}

impl ServerPages {
    /// Authenticates the person by the token of the cookie.
    async fn visit(&self, connection: &Connection, headers: &HeaderMap) -> Result<Visit, Refused> {
        let Some(token) = cookie_values(headers, TOKEN).next().map(decode) else { return Err(Refused::SignIn) };
        let id = self.http.identify(&token, connection.peer()).await?;
        if !connection.assign(id) {
            return Err(Refused::Response(retry_later(StatusCode::SERVICE_UNAVAILABLE, "too many concurrent requests")));
        }
        let project = cookie_values(headers, PROJECT).next().map(decode).filter(|project| !project.is_empty());
        let caller = HttpCaller { id, project: project.clone(), only: Vec::new() };
        let visitor = match self.http.visitor(&caller).await {
            Ok(visitor) => visitor,
            // The project is not one of the person's, or no longer.
            Err(refused) if project.is_some() && refused.status() == StatusCode::FORBIDDEN => {
                let response = redirect(&format!("{BASE}/"));
                return Err(Refused::Response(with_cookies(response, &[clear(PROJECT, headers)])));
            }
            Err(refused) => return Err(Refused::Response(refused)),
        };
        let viewer = Viewer { name: visitor.memdir.context().actor.name.clone(), may_write: visitor.may_write };
        let space = PageSpace {
            selected_project: project,
            backlinks: self.backlinks(caller),
            ..PageSpace::new(visitor.memdir, viewer, visitor.section)
        };
        Ok(Visit {
            space,
            csrf: form_token(&token),
            subscriptions: visitor.subscriptions,
            slots: visitor.slots,
            bodies: visitor.bodies,
            shutdown: visitor.shutdown,
            in_use: visitor.in_use,
        })
    }

    fn backlinks(&self, caller: HttpCaller) -> Arc<Backlinks> {
        let mut cached = self.backlinks.lock().unwrap_or_else(PoisonError::into_inner);
        if cached.len() >= MAX_CACHED && !cached.contains_key(&caller) {
            cached.clear();
        }
        cached.entry(caller).or_default().clone()
    }

    pub(super) fn has_provider(&self) -> bool {
        self.http.oauth().is_some_and(|oauth| oauth.options.login.is_some())
    }
}

impl From<TokenRefusal> for Refused {
    fn from(refusal: TokenRefusal) -> Self {
        match refusal {
            TokenRefusal::Unavailable(why) => Refused::Response(retry_later(StatusCode::SERVICE_UNAVAILABLE, &why)),
            TokenRefusal::RateLimited => Refused::Response(retry_later(StatusCode::TOO_MANY_REQUESTS, &refusal.to_string())),
            TokenRefusal::Invalid(_) | TokenRefusal::Scope { .. } | TokenRefusal::Identity(_) => Refused::SignInAgain,
        }
    }
}

pub(super) async fn select_project(Extension(visit): Extension<Visit>, request: Request) -> Result<Response, Response> {
    let (parts, body) = request.into_parts();
    let form = visit.read_form(&parts.headers, body).await?;
    let cookie = set(PROJECT, &encode(form.get("project").trim()), "Strict", &parts.headers);
    Ok(with_cookies(redirect(&format!("{BASE}/")), &[cookie]))
}

pub(super) async fn sign_out(Extension(visit): Extension<Visit>, request: Request) -> Result<Response, Response> {
    let (parts, body) = request.into_parts();
    visit.read_form(&parts.headers, body).await?;
    let response = redirect(&format!("{BASE}/login"));
    Ok(with_cookies(response, &[clear(TOKEN, &parts.headers), clear(PROJECT, &parts.headers)]))
}

/// Returns the token that the forms of a session repeat. It follows from the secret in the cookie and does not reveal it.
fn form_token(token: &str) -> String {
    blake3::Hasher::new_derive_key("memdir page: form token").update(token.as_bytes()).finalize().to_hex().to_string()
}

/// Returns a `Set-Cookie` value. It is for HTTPS only, except on this machine.
pub(super) fn set(name: &str, value: &str, same_site: &str, headers: &HeaderMap) -> String {
    let secure = if is_local(headers) { "" } else { "; Secure" };
    format!("{name}={value}; Path={BASE}; HttpOnly; SameSite={same_site}{secure}")
}

pub(super) fn clear(name: &str, headers: &HeaderMap) -> String {
    format!("{}; Max-Age=0", set(name, "", "Strict", headers))
}

fn is_local(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).and_then(|host| host.parse::<Authority>().ok());
    host.is_some_and(|host| crate::oauth::is_loopback(host.host()))
}

/// Returns the cookies of a person who has signed in.
pub(super) fn session_cookies(token: &str, project: &str, headers: &HeaderMap) -> [String; 2] {
    [set(TOKEN, &encode(token), "Strict", headers), set(PROJECT, &encode(project), "Strict", headers)]
}

pub(super) fn with_cookies(mut response: Response, cookies: &[String]) -> Response {
    for cookie in cookies.iter().filter_map(|cookie| HeaderValue::from_str(cookie).ok()) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

fn decode(value: &str) -> String {
    percent_encoding::percent_decode_str(value).decode_utf8_lossy().into_owned()
}
