//! Renders Markdown as HTML that cannot run, load or frame anything: raw HTML is shown as text, an image becomes a link, and a link
//! leads to a memory, to a website or to nothing.

use maud::{Markup, PreEscaped};
use pulldown_cmark::{CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, html};

/// Where a link leads.
pub(super) enum LinkTarget {
    /// A page of memdir.
    Page(String),
    /// Another website.
    Web(String),
    /// Nowhere that a page may lead to.
    None,
}

/// Renders a text. `resolve` gets the destination of a link as written, and whether it is a `[[wikilink]]`.
pub(super) fn render(text: &str, resolve: &dyn Fn(&str, bool) -> LinkTarget) -> Markup {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS | Options::ENABLE_WIKILINKS;
    let mut ends: Vec<Vec<Event<'_>>> = Vec::new();
    let mut events: Vec<Event<'_>> = Vec::new();
    for event in Parser::new_ext(text, options) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => events.push(Event::Text(html)),
            Event::Start(Tag::HtmlBlock) => events.push(Event::Start(Tag::Paragraph)),
            Event::End(TagEnd::HtmlBlock) => events.push(Event::End(TagEnd::Paragraph)),
            Event::Start(Tag::Link { link_type, dest_url, .. }) => {
                let (before, after) = link(&resolve(&dest_url, matches!(link_type, LinkType::WikiLink { .. })));
                events.extend(before);
                ends.push(after);
            }
            Event::Start(Tag::Image { dest_url, .. }) => {
                let (before, after) = link(&resolve(&dest_url, false));
                events.extend(before);
                events.push(Event::Text("image: ".into()));
                ends.push(after);
            }
            Event::End(TagEnd::Link | TagEnd::Image) => events.extend(ends.pop().unwrap_or_default()),
            // The page has its own headings above: those of a text begin one level lower, and have no ids that could collide.
            Event::Start(Tag::Heading { level, .. }) => {
                events.push(Event::InlineHtml(format!("<h{}>", (level as usize + 1).min(6)).into()));
            }
            Event::End(TagEnd::Heading(level)) => {
                events.push(Event::InlineHtml(format!("</h{}>\n", (level as usize + 1).min(6)).into()));
            }
            // A wide block can be scrolled with the keyboard.
            Event::Start(Tag::CodeBlock(_)) => {
                events.push(Event::InlineHtml("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Code\">".into()));
                events.push(Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)));
            }
            Event::End(TagEnd::CodeBlock) => {
                events.push(Event::End(TagEnd::CodeBlock));
                events.push(Event::InlineHtml("</div>".into()));
            }
            Event::Start(Tag::Table(alignments)) => {
                events.push(Event::InlineHtml("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Table\">".into()));
                events.push(Event::Start(Tag::Table(vec![pulldown_cmark::Alignment::None; alignments.len()])));
            }
            Event::End(TagEnd::Table) => {
                events.push(Event::End(TagEnd::Table));
                events.push(Event::InlineHtml("</div>".into()));
            }
            Event::TaskListMarker(is_done) => events.push(Event::Text(if is_done { "☑ " } else { "☐ " }.into())),
            other => events.push(other),
        }
    }
    let mut out = String::with_capacity(text.len() * 3 / 2);
    html::push_html(&mut out, events.into_iter());
    PreEscaped(out)
}

/// The events before and after the text of a link.
fn link<'a>(target: &LinkTarget) -> (Vec<Event<'a>>, Vec<Event<'a>>) {
    let (url, rel) = match target {
        LinkTarget::Page(url) => (url, ""),
        LinkTarget::Web(url) => (url, " rel=\"noopener noreferrer external\""),
        LinkTarget::None => return (Vec::new(), Vec::new()),
    };
    let open = format!("<a href=\"{}\"{rel}>", maud::html! { (url) }.into_string().replace('"', "&quot;"));
    (vec![Event::InlineHtml(CowStr::from(open))], vec![Event::InlineHtml("</a>".into())])
}

/// Returns where a destination leads that is not a memory: websites and addresses only.
pub(super) fn web_target(destination: &str) -> LinkTarget {
    let lower = destination.trim().to_ascii_lowercase();
    if ["https://", "http://", "mailto:"].iter().any(|scheme| lower.starts_with(scheme)) {
        LinkTarget::Web(destination.trim().to_owned())
    } else {
        LinkTarget::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str) -> String {
        render(text, &|url, is_wiki| if is_wiki { LinkTarget::Page(format!("/m/{url}")) } else { web_target(url) }).into_string()
    }

    #[test]
    fn html_is_text_and_only_websites_are_links() {
        let hostile = "# <script>a</script>\n\n<img src=x onerror=alert(1)>\n\ntext <b onclick=x>b</b> [a](javascript:alert(1)) \
             [b](data:text/html,x) ![pic](https://example.org/p.png \"t\") <https://example.org/?a=1&b=\"> [[notes/x\"y]]\n";
        let html = rendered(hostile);
        for tag in ["<script", "<img", "<b ", "onclick=x>b", "javascript:", "data:"] {
            assert!(!html.contains(tag), "{tag} in {html}");
        }
        assert!(html.contains("<h2>&lt;script&gt;a&lt;/script&gt;</h2>"), "{html}");
        assert!(html.contains("<a href=\"https://example.org/p.png\" rel=\"noopener noreferrer external\">image: pic</a>"), "{html}");
        assert!(html.contains("<a href=\"/m/notes/x&quot;y\">"), "{html}");
    }

    #[test]
    fn tables_code_and_lists_are_rendered() {
        let html = rendered("| a | b |\n|:--|--:|\n| 1 | 2 |\n\n```rust\nlet x = \"<\";\n```\n\n- [x] done\n- ~~old~~\n");
        assert!(html.contains("<table>") && html.contains("<pre><code>let x = \"&lt;\";\n</code></pre>"), "{html}");
        assert!(html.contains("☑ done") && html.contains("<del>old</del>") && !html.contains("style="), "{html}");
    }
}
