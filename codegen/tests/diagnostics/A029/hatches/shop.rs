//! Hatches.
