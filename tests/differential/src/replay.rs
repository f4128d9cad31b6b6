//! Replays conversations with the answers that were recorded in them.

use std::path::Path;

use serde_json::Value;

use crate::compare::Comparison;
use crate::conversation::Conversation;
use crate::error::Result;
use crate::play::{Play, Server};
use crate::rules::Matches;

/// Plays a conversation on a server; what differs from the recorded answers, for people.
pub async fn replay(server: &impl Server, talk: &Conversation, word: &str) -> Result<Vec<String>> {
    let mut play = Play::begin(server, talk, word).await?;
    let (mut comparison, mut matches) = (Comparison::default(), Matches::default());
    let mut complaints = Vec::new();
    for step in &talk.steps {
        let got = play.step(step).await?.unwrap_or(Value::Null);
        let Some(wanted) = &step.response else { continue };
        let found = matches.unexplained(step, comparison.differences(wanted, &got));
        complaints.extend(found.iter().map(|found| format!("{}/{}: {}", talk.name, step.id, found.text())));
    }
    play.end().await?;
    Ok(complaints)
}

/// The conversations of a folder, by name.
pub fn read_folder(folder: &Path) -> Result<Vec<Conversation>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        files.push(entry?.path());
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files.iter().map(|file| Conversation::from_text(&std::fs::read_to_string(file)?)).collect()
}
