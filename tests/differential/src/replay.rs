//! Replays conversations and compares with the recorded responses.

use std::path::{Path, PathBuf};

use conversations::archive;
use serde_json::Value;

use crate::compare::Comparison;
use crate::conversation::Conversation;
use crate::error::Result;
use crate::play::{Play, Server};
use crate::rules::Matches;

/// Replays a conversation on a server; returns the differences from the recorded responses as text.
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

/// Replays a conversation on a server, and records its responses.
pub async fn record(server: &impl Server, talk: &mut Conversation, word: &str) -> Result<()> {
    let mut play = Play::begin(server, talk, word).await?;
    for step in &mut talk.steps {
        step.response = play.step(step).await?;
        if let Some(response) = &mut step.response {
            archive::remove_descriptions(response);
        }
    }
    play.end().await
}

/// Reads the conversations of a folder, ordered by name.
pub fn read_folder(folder: &Path) -> Result<Vec<Conversation>> {
    files(folder)?.iter().map(|file| read(file)).collect()
}

/// Returns the conversation files of a folder, in order.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        files.push(entry?.path());
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    Ok(files)
}

/// Reads the conversation of a file.
pub fn read(file: &Path) -> Result<Conversation> {
    Conversation::from_text(&std::fs::read_to_string(file)?)
}
