//! What a view gets, and what it answers with.

use super::{params::encode, space::PageSpace};
use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use maud::Markup;

/// Everything a view may use.
pub(super) struct ViewContext<'a> {
    /// The memories and the viewer.
    pub(super) space: &'a PageSpace,
    /// The path prefix of every page.
    pub(super) base: &'a str,
    /// The token that every form repeats.
    pub(super) csrf: &'a str,
    /// Whether the page answers a form. Such a page cannot be loaded again.
    pub(super) is_answer: bool,
    /// Where the changes that the page does not show begin.
    pub(super) cursor: String,
}

impl ViewContext<'_> {
    /// The URL of a page, such as `/timeline`.
    pub(super) fn url(&self, place: &str) -> String {
        format!("{}{place}", self.base)
    }

    /// The URL of the page of a memory.
    pub(super) fn memory_url(&self, name: &str) -> String {
        format!("{}/m/{}", self.base, encode(name))
    }
}

/// The answer of a view.
pub(super) enum ViewReply {
    /// A whole page.
    Page(ShellPage),
    /// A part of a page, which the script puts in place.
    Part(Markup),
    /// Another page, after a change.
    Redirect(String),
}

/// A page inside the shell.
pub(super) struct ShellPage {
    pub(super) status: StatusCode,
    /// The title, without the name of the program.
    pub(super) title: String,
    /// The entry of the navigation that is marked as current.
    pub(super) place: &'static str,
    pub(super) body: Markup,
}

impl ShellPage {
    /// A page that was found.
    pub(super) fn reply(title: impl Into<String>, place: &'static str, body: Markup) -> ViewReply {
        ViewReply::Page(ShellPage { status: StatusCode::OK, title: title.into(), place, body })
    }
}

/// Returns a response that goes to another page.
pub(super) fn redirect(place: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    if let Ok(place) = HeaderValue::from_str(place) {
        response.headers_mut().insert(header::LOCATION, place);
    }
    response
}

/// Returns a response with HTML.
pub(super) fn html_response(status: StatusCode, text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response
}
