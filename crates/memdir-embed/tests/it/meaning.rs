//! Questions that share no word with their answer: the built-in model finds enough of them, and no hits for nonsense.

use memdir_core::{
    Embedder, FileStore, Mount, Search, Searcher, SystemClock,
    internal::search::{analysis::Analyser, query::Query},
};
use memdir_embed::StaticModel;
use memdir_index::TantivyIndex;
use std::sync::Arc;

/// Memories, each with a question in other words.
const PLANTED: [(&str, &str); 20] = [
    ("The dentist appointment moved to Thursday afternoon.", "When must I get my teeth checked?"),
    ("Our cat throws up after eating tuna.", "Which food makes the pet sick?"),
    ("Grandma's apple pie needs two hours in the oven.", "How long should the dessert be baked?"),
    ("The car makes a grinding noise when braking.", "What sound does my vehicle give while slowing down?"),
    ("Salary is paid on the 25th of each month.", "On what day does the wage arrive?"),
    ("We sold the house and rent a flat downtown now.", "Where do we live, in an apartment or a home?"),
    ("She is allergic to peanuts and almonds.", "Which nuts are dangerous for her?"),
    ("The flight to Lisbon leaves at six in the morning.", "What time does the airplane to Portugal depart?"),
    ("Our database crashed because the disk was full.", "Why did storage run out and take the server down?"),
    ("He quit smoking last winter.", "When did he give up cigarettes?"),
    ("The kids start school in September.", "When do the children begin class?"),
    ("My doctor told me to drink less coffee.", "What did the physician advise about caffeine?"),
    ("The movie was boring and far too long.", "How was the film, any good?"),
    ("Build fails on Windows because of path separators.", "Why can we not compile under Microsoft's operating system?"),
    ("Grandfather fought in the navy during the war.", "Which military branch did my grandpa serve in?"),
    ("They got married on a beach in Mexico.", "Where was the wedding ceremony?"),
    ("The gym membership costs forty dollars.", "What is the price of my fitness subscription?"),
    ("I am learning to play the violin.", "Which musical instrument do I practise?"),
    ("The baby was born at dawn.", "When did the infant arrive?"),
    ("Users complain that login is slow.", "What do customers say about signing in?"),
];

/// Other memories.
const OTHERS: [&str; 30] = [
    "Rotate the access keys every ninety days.",
    "The blue folder holds the tax papers.",
    "Tests run on every push to the main branch.",
    "Water the ferns twice a week.",
    "Prefer composition over inheritance.",
    "The garage door code is written inside the cupboard.",
    "Release notes go out on Mondays.",
    "Use tabs, not spaces, in makefiles.",
    "The neighbour feeds our fish when we travel.",
    "Feature flags live in the settings table.",
    "Paint the fence before autumn.",
    "The printer jams when the tray is overfilled.",
    "Keep functions short and name them for what they return.",
    "The choir rehearses in the old church.",
    "Invoices are numbered by year and client.",
    "The staging cluster is rebuilt every night.",
    "My bicycle has a puncture in the rear tyre.",
    "Ask for reviews before merging large changes.",
    "The library closes at eight.",
    "Logs are kept for thirty days.",
    "The hiking trail starts behind the mill.",
    "Never log passwords or tokens.",
    "The landlord will replace the boiler.",
    "Dates are stored in UTC.",
    "The chess club meets in the cafe.",
    "Cache entries expire after an hour.",
    "The tent leaks at the left seam.",
    "Error messages name the next step.",
    "The tailor needs a week for the suit.",
    "Backups are encrypted before upload.",
];

/// Questions about which there is no memory.
const OFF_TOPIC: [&str; 20] = [
    "ADAR1 binds to Dicer to cleave pre-miRNA.",
    "eigenvalues of the Laplacian on compact manifolds",
    "Which enzyme phosphorylates glycogen synthase?",
    "zorbulent quaxine frimbles",
    "mitochondrial membrane potential in neurons",
    "Treaty of Westphalia signatories",
    "blorptide snerkal",
    "photosynthesis in cyanobacteria",
    "Byzantine emperor succession",
    "plate tectonics and subduction zones",
    "gluon plasma viscosity",
    "homocysteine and vitamin B12 deficiency",
    "Gödel incompleteness",
    "Ottoman naval architecture",
    "xylem transport in conifers",
    "wuggle dax tove",
    "T cell receptor signalling",
    "supernova nucleosynthesis",
    "Etruscan pottery glazes",
    "CRISPR off-target cleavage",
];

#[test]
fn meaning_alone_answers_and_nonsense_gets_nothing() {
    let folder = tempfile::tempdir().expect("a scratch directory");
    let memory = folder.path().join("memory");
    std::fs::create_dir(&memory).expect("a directory");
    let notes = PLANTED.iter().map(|(memory, _)| *memory).chain(OTHERS);
    for (n, note) in notes.enumerate() {
        std::fs::write(memory.join(format!("{n}.md")), format!("{note}\n")).expect("a note");
    }
    let store = FileStore::open(&[Mount::new("", memory, folder.path().join("journal"))]).expect("a store");
    let model: Arc<dyn Embedder> = Arc::new(StaticModel::new());
    let identity = Some((model.id().clone(), model.dim()));
    let searcher = Searcher::new(&store, Some(model), Arc::new(SystemClock), |info| {
        Arc::new(TantivyIndex::for_mount(&folder.path().join("cache"), &info.root, &info.rules, identity.clone()))
    });
    let mut analyser = Analyser::default();
    let mut answered = Vec::new();
    for (n, (memory, question)) in PLANTED.iter().enumerate() {
        let stems: Vec<String> = analyser.split_words(memory).into_iter().map(|word| word.stem).collect();
        let shared: Vec<String> = Query::parse(question, &mut analyser).terms.into_iter().filter(|term| stems.contains(term)).collect();
        assert_eq!(shared, [""; 0], "{question} shares words with its answer");
        let hits = searcher.search(&store, &Search::new(*question)).expect("an answer").hits;
        answered.extend(hits.iter().any(|hit| hit.path.as_str() == format!("{n}.md")).then_some(*question));
    }
    assert!(answered.len() >= 8, "only {} are answered: {answered:#?}", answered.len());
    let empty = OFF_TOPIC.iter().filter(|query| searcher.search(&store, &Search::new(**query)).expect("an answer").hits.is_empty()).count();
    assert!(empty * 10 >= OFF_TOPIC.len() * 9, "only {empty} of {} stay empty", OFF_TOPIC.len());
}
