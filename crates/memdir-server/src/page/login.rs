//! Signing in to the pages of a server: with a token, or with the identity provider by an authorization code and PKCE (RFC 7636).
//! What a sign-in needs until it ends is in a cookie of its own, so that any replica can end it.

use super::{
    assets, layout,
    params::Params,
    reply::{html_response, redirect},
    server::{BASE, ServerPages, clear, session_cookies, set, with_cookies},
    session::random_secret,
    visit::{cookie_values, is_equal},
};
use crate::{
    http::{Connection, read_body, retry_later},
    oauth::{ResourceServer, TokenRefusal},
};
use axum::{
    Extension,
    extract::{RawQuery, Request, State},
    http::{HeaderMap, StatusCode},
    response::Response,
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use form_urlencoded::Serializer;
use maud::{Markup, html};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;

/// The cookie of a sign-in that has begun: its state and the verifier of PKCE.
const LOGIN: &str = "memdir-login";
/// Maximum size of a token: browsers drop larger cookies without a message.
const MAX_TOKEN_BYTES: usize = 3_900;

/// What the form shows.
struct LoginView<'a> {
    /// Why the person has to sign in again; empty at first.
    why: &'a str,
    project: &'a str,
    has_provider: bool,
}

/// Shows the form.
pub(super) async fn show(State(pages): State<Arc<ServerPages>>, RawQuery(query): RawQuery) -> Response {
    let why = if query.as_deref() == Some("ended") { "Your session has ended." } else { "" };
    let view = LoginView { why, project: "", has_provider: pages.has_provider() };
    page(StatusCode::OK, &view)
}

/// Signs in with the token of the form.
pub(super) async fn sign_in(
    State(pages): State<Arc<ServerPages>>,
    Extension(connection): Extension<Connection>,
    request: Request,
) -> Result<Response, Response> {
    let (parts, body) = request.into_parts();
    // There is no form token, because there is no session yet; the origin has been checked.
    let (bytes, _reserved) = read_body(&parts.headers, body, "application/x-www-form-urlencoded", &pages.http.public_bodies()).await?;
    let form = Params::parse(&bytes);
    Ok(accept(&pages, &connection, &parts.headers, form.get("token").trim(), form.get("project").trim()).await)
}

/// Checks a token, and answers with a page that signs the person in, or with the form and the reason.
async fn accept(pages: &ServerPages, connection: &Connection, headers: &HeaderMap, token: &str, project: &str) -> Response {
    let form = |why: &str| page(StatusCode::UNAUTHORIZED, &LoginView { why, project, has_provider: pages.has_provider() });
    if token.len() > MAX_TOKEN_BYTES {
        return form(&format!(
            "The token is too large for a cookie: the maximum is {MAX_TOKEN_BYTES} bytes. Ask an administrator for a token with fewer groups."
        ));
    }
    match pages.http.identify(token, connection.peer()).await {
        // A redirect would not send the cookie if the person comes from the identity provider: the browser still counts that as
        // coming from another site. The page it goes to from here is from this site.
        Ok(_) => with_cookies(signed_in(), &session_cookies(token, project, headers)),
        Err(TokenRefusal::Unavailable(why)) => retry_later(StatusCode::SERVICE_UNAVAILABLE, &why),
        Err(refusal @ TokenRefusal::RateLimited) => retry_later(StatusCode::TOO_MANY_REQUESTS, &refusal.to_string()),
        Err(refusal) => form(&format!("Cannot sign in: {refusal}.")),
    }
}

/// Goes to the identity provider.
pub(super) async fn begin(State(pages): State<Arc<ServerPages>>, headers: HeaderMap) -> Response {
    let Some((oauth, client)) = pages.http.oauth().and_then(|oauth| Some((oauth, oauth.options.login.as_ref()?))) else {
        let why = "This server does not offer sign-in with an identity provider. Sign in with a token.";
        return page(StatusCode::NOT_FOUND, &LoginView { why, project: "", has_provider: false });
    };
    let endpoint = match oauth.provider().await.map(|provider| provider.authorization_endpoint.clone()) {
        Ok(Some(endpoint)) => endpoint,
        Ok(None) => return failed(&pages, "The identity provider has no authorization endpoint. Sign in with a token."),
        Err(refusal) => return unavailable(&pages, &refusal),
    };
    let (Ok(state), Ok(verifier)) = (random_secret(), random_secret()) else {
        return retry_later(StatusCode::SERVICE_UNAVAILABLE, "cannot generate a sign-in secret");
    };
    let options = &oauth.options;
    let query = Serializer::new(String::new())
        .append_pair("response_type", "code")
        .append_pair("client_id", &client.id)
        .append_pair("redirect_uri", &redirect_uri(oauth))
        .append_pair("scope", &format!("{} {}", options.read_scope, options.write_scope))
        .append_pair("resource", options.resource.trim_end_matches('/'))
        .append_pair("state", &state)
        .append_pair("code_challenge", &URL_SAFE_NO_PAD.encode(Sha256::digest(&verifier)))
        .append_pair("code_challenge_method", "S256")
        .finish();
    let separator = if endpoint.contains('?') { '&' } else { '?' };
    // `Lax`: the provider sends the person back, which is a request from another site.
    let cookie = format!("{}; Max-Age=600", set(LOGIN, &format!("{state}.{verifier}"), "Lax", &headers));
    with_cookies(redirect(&format!("{endpoint}{separator}{query}")), &[cookie])
}

/// Ends a sign-in with the identity provider: exchanges its code for an access token.
pub(super) async fn finish(
    State(pages): State<Arc<ServerPages>>,
    Extension(connection): Extension<Connection>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let query = Params::parse(query.unwrap_or_default().as_bytes());
    let begun = cookie_values(&headers, LOGIN).next().and_then(|value| value.split_once('.'));
    let (Some(oauth), Some((state, verifier))) = (pages.http.oauth(), begun) else {
        return failed(&pages, "The sign-in has expired, or the browser did not send its cookie. Try again.");
    };
    // Otherwise a link could sign a person in as another person.
    if !is_equal(state, query.get("state")) {
        return failed(&pages, "The sign-in was not started in this browser, or a newer sign-in was started. Try again.");
    }
    // RFC 9207: the answer is from the provider that was asked.
    if !query.get("iss").is_empty() && query.get("iss") != oauth.options.issuer {
        return failed(&pages, "The response came from another identity provider. Try again, or sign in with a token.");
    }
    let code = query.get("code");
    if code.is_empty() {
        let error = query.get("error");
        let reason = if error.is_empty() { String::new() } else { format!(": {error}") };
        return failed(&pages, &format!("The identity provider did not complete the sign-in{reason}. Try again, or sign in with a token."));
    }
    let response = match exchange(oauth, code, verifier).await {
        Ok(token) => accept(&pages, &connection, &headers, &token, "").await,
        Err(refusal) => unavailable(&pages, &refusal),
    };
    with_cookies(response, &[clear(LOGIN, &headers)])
}

/// Exchanges a code for an access token for this server.
async fn exchange(oauth: &ResourceServer, code: &str, verifier: &str) -> Result<String, TokenRefusal> {
    let endpoint = oauth.provider().await?.token_endpoint.clone();
    let endpoint = endpoint.ok_or_else(|| TokenRefusal::Unavailable("the identity provider has no token endpoint".into()))?;
    let form = Serializer::new(String::new())
        .append_pair("grant_type", "authorization_code")
        .append_pair("code", code)
        .append_pair("redirect_uri", &redirect_uri(oauth))
        .append_pair("code_verifier", verifier)
        .append_pair("resource", oauth.options.resource.trim_end_matches('/'))
        .finish();
    oauth.exchange(endpoint, form).await
}

fn redirect_uri(oauth: &ResourceServer) -> String {
    format!("{}{BASE}/callback", oauth.options.resource.trim_end_matches('/'))
}

fn failed(pages: &ServerPages, why: &str) -> Response {
    page(StatusCode::BAD_REQUEST, &LoginView { why, project: "", has_provider: pages.has_provider() })
}

fn unavailable(pages: &ServerPages, refusal: &TokenRefusal) -> Response {
    let why = format!("Signing in with the identity provider failed: {refusal}.");
    page(StatusCode::SERVICE_UNAVAILABLE, &LoginView { why: &why, project: "", has_provider: pages.has_provider() })
}

/// Renders the form.
fn page(status: StatusCode, view: &LoginView<'_>) -> Response {
    let main = html! {
        h1 { "Sign in" }
        @if !view.why.is_empty() { p.error role="alert" { (view.why) } }
        @if view.has_provider { p { a.button href=(format!("{BASE}/oauth")) { "Sign in with your identity provider" } } }
        form method="post" action=(format!("{BASE}/login")) {
            p { label { "Token " input name="token" type="password" required autocomplete="current-password" maxlength="8000"; } }
            p { label { "Project (if you have several) " input name="project" value=(view.project) maxlength="200" autocomplete="off"; } }
            p { button type="submit" { "Sign in" } }
        }
    };
    html_response(status, document("Sign in", &html! {}, &main))
}

/// The page after a sign-in, which redirects to the home page.
fn signed_in() -> Response {
    let home = format!("{BASE}/");
    let go_on = html! { meta http-equiv="refresh" content=(format!("0; url={home}")); };
    let main = html! { h1 { "Signed in" } p { a href=(home) { "Continue" } } };
    html_response(StatusCode::OK, document("Signed in", &go_on, &main))
}

fn document(title: &str, more_head: &Markup, main: &Markup) -> String {
    let version = assets::version();
    let head = html! {
        (more_head)
        link rel="icon" type="image/svg+xml" href=(format!("{BASE}/icon.svg?v={version}"));
        link rel="stylesheet" href=(format!("{BASE}/style.css?v={version}"));
    };
    let body = html! { body { main #main { (main) } } };
    layout::document(&format!("{title} · memdir"), &head, &body).into_string()
}
