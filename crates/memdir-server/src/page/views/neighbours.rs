//! The neighbourhood of a memory: what it refers to, what refers to it, and what is nearest in meaning.

use crate::page::{
    backlinks, layout,
    params::Params,
    picture::{self, Neighbour, Relation},
    reply::{ShellPage, ViewContext, ViewReply},
};
use maud::html;
use memdir_core::{Memory, MemoryPath, Read, Result, Search, Source, internal::base::text};

/// Memories of each kind that are drawn.
const MAX_EACH: usize = 6;

/// Shows the neighbourhood.
pub(in crate::page) fn show(context: &ViewContext<'_>, name: &str, _: &Params) -> Result<ViewReply> {
    let memdir = &context.space.memdir;
    let reading = memdir.read(&Read::all(MemoryPath::parse(name)?))?;
    let (memory, _) = Memory::parse(&reading.content);
    let mut neighbours: Vec<Neighbour> = Vec::new();
    let mut add = |paths: Vec<MemoryPath>, relation: Relation| {
        let new = paths.into_iter().filter(|path| *path != reading.path);
        for path in new {
            let name = path.name().to_owned();
            let is_full = neighbours.iter().filter(|one| one.relation == relation).count() >= MAX_EACH;
            if !is_full && neighbours.iter().all(|one| one.name != name) {
                neighbours.push(Neighbour { url: context.memory_url(&name), name, relation });
            }
        }
    };
    add(backlinks::linked(memdir, &reading.content, &reading.path), Relation::Link);
    add(context.space.backlinks.to(memdir, &reading.path)?, Relation::Backlink);
    let question = format!("{} {}", memory.title(&reading.name), memory.description().unwrap_or_default());
    let question =
        if memory.description().is_some() { question } else { format!("{question} {}", text::truncate_bytes(memory.body(), 300)) };
    let search = Search { source: Some(Source::Memory), max_results: MAX_EACH * 2, ..Search::new(question) };
    // Without an index, links and backlinks are still shown.
    let near = memdir.search(&search).map(|answer| answer.hits).unwrap_or_default();
    add(near.into_iter().map(|hit| hit.path).collect(), Relation::Near);
    let body = html! {
        (layout::breadcrumbs(context, &reading.name))
        h1 { "Memories related to " (layout::memory_link(context, &reading.name)) }
        @if neighbours.is_empty() { p { "There are no related memories." } }
        @else {
            div.pair {
                figure { (picture::draw(&reading.name, &neighbours)) }
                div {
                    @for relation in Relation::ALL {
                        @let of_kind: Vec<&Neighbour> = neighbours.iter().filter(|one| one.relation == relation).collect();
                        @if !of_kind.is_empty() {
                            section {
                                h2 { (relation.title()) }
                                ul { @for one in of_kind { li data-row { (layout::memory_link(context, &one.name)) } } }
                            }
                        }
                    }
                }
            }
        }
    };
    Ok(ShellPage::reply(format!("Memories related to {}", reading.name), "/memories", body))
}
