//! The stylesheet and the script, compiled in.

use axum::{
    body::Body,
    http::{HeaderValue, header},
    response::Response,
};
use std::sync::OnceLock;

/// The stylesheet.
pub(super) const STYLE: &str = include_str!("assets/style.css");
/// The script. Pages work without it.
pub(super) const SCRIPT: &str = include_str!("assets/script.js");
/// The script of an exported file.
pub(super) const EXPORT_SCRIPT: &str = include_str!("assets/export.js");

/// The icon, as a path below the base.
pub(super) const ICON: &str = include_str!("assets/icon.svg");

/// Identifies the assets of this build in their URLs, so that browsers may keep them.
pub(super) fn version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let hash = blake3::hash([STYLE, SCRIPT, ICON].concat().as_bytes());
        hash.to_hex().chars().take(12).collect()
    })
}

/// Returns the response for the asset of this name.
pub(super) fn respond(name: &str) -> Option<Response> {
    let (media_type, text) = match name {
        "style.css" => ("text/css; charset=utf-8", STYLE),
        "script.js" => ("text/javascript; charset=utf-8", SCRIPT),
        "icon.svg" => ("image/svg+xml", ICON),
        _ => return None,
    };
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=604800, immutable"));
    Some(response)
}
