//! Checks of feature gates: those that groups declare, and those that definitions refer to.

use super::Checker;
use crate::diagnostics::{Diagnostic, codes};
use crate::gates::Gates;
use crate::model::{Enum, Kind, Span};

impl Checker<'_> {
    /// Checks that no gate is one of Kubernetes', and that repeated declarations in several groups are
    /// equal.
    pub(super) fn declared_gates(&mut self, gates: &Gates<'_>) {
        for (index, gate) in gates.declared.iter().enumerate() {
            if gates.kubernetes.contains(&gate.name) {
                let message = format!("`{}` is a feature gate of Kubernetes", gate.name);
                let diagnostic = Diagnostic::error(codes::GATE_DECLARED, &gate.span, message);
                self.push(diagnostic.help("give it another name; or leave it out, if that gate is intended"));
            }
            let Some(first) = gates.declared[..index].iter().find(|earlier| earlier.name == gate.name) else {
                continue;
            };
            let message = match (first.span.file == gate.span.file, first.agrees(gate)) {
                (true, _) => format!("the feature gate `{}` is declared twice", gate.name),
                (false, false) => format!("another group declares the feature gate `{}` differently", gate.name),
                (false, true) => continue,
            };
            self.push(Diagnostic::error(codes::GATE_DECLARED, &gate.span, message).also(&first.span, "the other one"));
        }
    }

    /// Checks the gate of a kind.
    pub(super) fn kind_gate(&mut self, kind: &Kind, gates: &Gates<'_>) {
        self.gate(&kind.span, kind.feature_gate.as_deref(), gates);
    }

    /// Checks the gates of an enum's values.
    pub(super) fn value_gates(&mut self, one: &Enum, gates: &Gates<'_>) {
        let places = self.origins.variants.get(&one.span).cloned().unwrap_or_default();
        for (value, gate) in &one.gated {
            let Some((_, place)) = places.iter().find(|(name, _)| name == value) else { continue };
            self.gate(place, Some(gate), gates);
            if one.open {
                let message = "this gate has no effect: the enum is open, other values are allowed too";
                self.push(Diagnostic::error(codes::GATE_DECLARED, &self.word(place, "gate="), message));
            }
        }
    }

    pub(super) fn gate(&mut self, item: &Span, gate: Option<&str>, gates: &Gates<'_>) {
        let Some(gate) = gate.filter(|gate| !gates.known(gate)) else { return };
        let diagnostic = Diagnostic::error(codes::GATE, &self.word(item, "gate="), format!("no feature gate `{gate}`"));
        let example = format!("a group declares its own in `group.rs`: `#![gate({gate}, alpha)]`");
        self.push(diagnostic.suggest(gate, gates.names()).help(example));
    }
}
