//! Sends conversations to two servers and collects their differences.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::catalog::Catalog;
use crate::compare::{Comparison, Difference};
use crate::conversation::Conversation;
use crate::error::Result;
use crate::generate::generate;
use crate::minimise::minimise;
use crate::play::{Play, Server};
use crate::rules::Matches;

/// Number of conversations of one family that are minimised and written.
const EXAMPLES: usize = 2;

/// Upstream lists policies once a second. Until then, policies of a conversation apply to the
/// cluster-scoped objects of the next one.
const POLICIES_ARE_LISTED: Duration = Duration::from_millis(2500);

/// Two servers and the collected differences.
pub struct Run<'s, S> {
    upstream: &'s S,
    here: &'s S,
    pub matches: Matches,
    /// The prefix that distinguishes conversations of this run.
    prefix: String,
    played: usize,
    /// Folder for conversations that differ.
    out: Option<PathBuf>,
    pub families: BTreeMap<String, Family>,
    pub totals: Totals,
}

/// Differences with the same signature.
#[derive(Default)]
pub struct Family {
    pub count: usize,
    pub examples: Vec<String>,
}

/// The counts of a run.
#[derive(Default)]
pub struct Totals {
    pub conversations: usize,
    pub steps: usize,
    pub alike: usize,
    /// Differences that did not recur.
    pub unstable: usize,
}

/// The first step of a conversation with different responses.
#[derive(Debug)]
pub struct Found {
    pub step: usize,
    pub differences: Vec<Difference>,
}

impl Found {
    /// Returns the common signature of the conversations of a family.
    pub fn signature(&self) -> String {
        let first = self.differences.first().map(Difference::signature).unwrap_or_default();
        let message = self.differences.iter().find(|d| d.place == "body.message" || d.place == "body");
        match message.filter(|_| first.starts_with("status:")) {
            Some(message) => format!("{first}; {}", message.signature()),
            None => first,
        }
    }
}

impl<'s, S: Server + Sync> Run<'s, S> {
    pub fn new(upstream: &'s S, here: &'s S, prefix: &str, out: Option<PathBuf>) -> Self {
        let (matches, families, totals) = (Matches::default(), BTreeMap::new(), Totals::default());
        Run { upstream, here, matches, prefix: prefix.into(), played: 0, out, families, totals }
    }

    /// Runs a conversation on both servers, and stores upstream's responses in its steps.
    ///
    /// It ends at the first difference that is not intended, or that leaves the servers with
    /// different objects; the steps after the latter are removed.
    pub async fn play(&mut self, talk: &mut Conversation) -> Result<Option<Found>> {
        self.played += 1;
        let word = format!("{}{:x}", self.prefix, self.played);
        let (upstream, here) =
            tokio::try_join!(Play::begin(self.upstream, talk, &word), Play::begin(self.here, talk, &word))?;
        let (mut upstream, mut here) = (upstream, here);
        let mut comparison = Comparison::default();
        let mut found = None;
        self.matches.begin_conversation();
        for at in 0..talk.steps.len() {
            let step = &mut talk.steps[at];
            let answers = tokio::join!(upstream.step(step), here.step(step));
            let answers = [answers.0, answers.1].map(|answer| match answer {
                Ok(answer) => answer.unwrap_or(Value::Null),
                // A broken connection counts as a response.
                Err(error) => format!("no answer: {error}").into(),
            });
            let [wanted, got] = answers;
            let differences = comparison.differences(&wanted, &got);
            step.response = Some(wanted);
            let differences = self.matches.unexplained(step, differences);
            if !differences.is_empty() {
                found = Some(Found { step: at, differences });
                break;
            }
            if self.matches.take_diverged() {
                talk.steps.truncate(at + 1);
                break;
            }
        }
        tokio::try_join!(upstream.end(), here.end())?;
        if talk.steps.iter().any(|step| step.path.starts_with("/apis/admissionregistration.k8s.io/")) {
            tokio::time::sleep(POLICIES_ARE_LISTED).await;
        }
        Ok(found)
    }

    /// Runs the conversation of a seed, and reports when the servers differ.
    pub async fn seed(&mut self, catalog: &Catalog, seed: u64) -> Result<()> {
        let mut talk = generate(catalog, seed);
        let found = self.play(&mut talk).await?;
        self.totals.conversations += 1;
        self.totals.steps += found.as_ref().map_or(talk.steps.len(), |found| found.step + 1);
        self.totals.alike += found.as_ref().map_or(talk.steps.len(), |found| found.step);
        let Some(found) = found else { return Ok(()) };
        let signature = found.signature();
        if let Some(family) = self.families.get_mut(&signature).filter(|family| family.examples.len() >= EXAMPLES) {
            family.count += 1;
            return Ok(());
        }
        talk.steps.truncate(found.step + 1);
        // A second run: some responses depend on the moment.
        if self.play(&mut talk).await?.is_none_or(|again| again.signature() != signature) {
            self.totals.unstable += 1;
            println!("unstable: {} {signature}", talk.name);
            return Ok(());
        }
        let small = minimise(&talk, async |smaller: &Conversation| {
            let found = self.play(&mut smaller.clone()).await;
            found.is_ok_and(|found| found.is_some_and(|found| found.signature() == signature))
        })
        .await;
        self.report(small, &signature).await
    }

    /// Prints a conversation that differs, and writes it with upstream's responses.
    async fn report(&mut self, mut talk: Conversation, signature: &str) -> Result<()> {
        let found = self.play(&mut talk).await?;
        println!("\n{} ({}): {signature}", talk.name, talk.area);
        for step in &talk.steps {
            let body = step.body.as_ref().map(|body| body.to_string().chars().take(600).collect::<String>());
            println!("  {} {} {} {:?} {}", step.id, step.method, step.path, step.headers, body.unwrap_or_default());
        }
        for difference in found.iter().flat_map(|found| &found.differences).take(6) {
            println!("    {}", difference.text());
        }
        if let Some(out) = &self.out {
            std::fs::create_dir_all(out)?;
            talk.about = signature.to_string();
            std::fs::write(out.join(format!("{}.json", talk.name)), talk.to_text())?;
        }
        let family = self.families.entry(signature.to_string()).or_default();
        family.count += 1;
        family.examples.push(talk.name);
        Ok(())
    }

    /// Returns the results, most frequent first.
    pub fn summary(&self) -> String {
        let Totals { conversations, steps, alike, unstable } = self.totals;
        let mut families: Vec<_> = self.families.iter().collect();
        families.sort_by_key(|(_, family)| std::cmp::Reverse(family.count));
        let mut text = format!(
            "\n{conversations} conversations, {alike} of {steps} steps alike, {} families of differences, \
             {unstable} unstable\n",
            families.len()
        );
        for (signature, family) in families {
            text += &format!("{:5}  {signature} ({})\n", family.count, family.examples.join(", "));
        }
        let unused = self.matches.unused();
        if !unused.is_empty() {
            text += &format!("rules that matched nothing: {}\n", unused.join(", "));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;
    use crate::catalog::Kind;
    use crate::conversation::Conversation;
    use crate::generate::area_of;
    use crate::play::{Answer, Exchange};

    /// A server that responds with one status, and to deletes of config maps with another one.
    struct Fake {
        of_deletes: u16,
    }

    impl Server for Fake {
        async fn send(&self, exchange: &Exchange) -> Result<Answer> {
            let is_delete = exchange.method == "DELETE" && exchange.path.contains("/configmaps");
            let status = if is_delete { self.of_deletes } else { 200 };
            let headers = vec![("content-type".into(), "application/json".into())];
            Ok(Answer { status, headers, body: b"{}".to_vec(), closed: true })
        }

        fn address(&self) -> String {
            "127.0.0.1:6443".into()
        }
    }

    fn config_maps() -> Catalog {
        let verbs = ["create", "get", "list", "update", "patch", "delete", "deletecollection"].map(str::to_string);
        let objects = vec![json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}, "data": {"a": "b"}})];
        let kind = Kind {
            version: "v1".into(),
            kind: "ConfigMap".into(),
            resource: "configmaps".into(),
            namespaced: true,
            verbs: verbs.to_vec(),
            objects,
            ..Kind::default()
        };
        Catalog::of(vec![kind], "api/v1", Map::new())
    }

    #[tokio::test]
    async fn differing_conversation_is_minimised_and_written_with_upstream_responses() {
        let folder = tempfile::tempdir().unwrap();
        let (upstream, here) = (Fake { of_deletes: 200 }, Fake { of_deletes: 404 });
        let mut run = Run::new(&upstream, &here, "test-", Some(folder.path().to_path_buf()));
        let catalog = config_maps();
        for seed in (0..400).filter(|seed| area_of(*seed) == "deletion") {
            run.seed(&catalog, seed).await.unwrap();
        }
        let families: Vec<&String> = run.families.keys().collect();
        assert_eq!(families, ["status: 200 / 404"]);
        assert!(run.totals.alike > 0 && run.totals.unstable == 0);
        let example = &run.families["status: 200 / 404"].examples[0];
        let text = std::fs::read_to_string(folder.path().join(format!("{example}.json"))).unwrap();
        let talk = Conversation::from_text(&text).unwrap();
        let [step] = talk.steps.as_slice() else { panic!("{text}") };
        assert_eq!((step.method.as_str(), &step.body, step.path.contains('?')), ("DELETE", &None, false));
        assert_eq!(step.response.as_ref().unwrap()["status"], 200);
    }

    #[tokio::test]
    async fn equal_servers_have_no_differences() {
        let server = Fake { of_deletes: 200 };
        let mut run = Run::new(&server, &server, "test-", None);
        let catalog = config_maps();
        for seed in (0..200).filter(|seed| area_of(*seed) == "deletion") {
            run.seed(&catalog, seed).await.unwrap();
        }
        assert!(run.families.is_empty() && run.totals.conversations > 0);
    }
}
