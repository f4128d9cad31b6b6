//! The alarms of the member, and the quota that raises one of them.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use storage::EmbeddedStore;
use tonic::Status;

use crate::{
    answer::{Answer, of_store},
    proto::AlarmType,
};

/// How long a measurement of the database is used. The quota is exceeded by what is written meanwhile.
const MEASURED_FOR: Duration = Duration::from_millis(200);

/// The alarms, which the store keeps; this is their copy in memory.
pub(crate) struct Alarms {
    store: Arc<EmbeddedStore>,
    /// Maximum size of the database in bytes; `None` is unlimited.
    quota: Option<u64>,
    state: Mutex<State>,
}

struct State {
    raised: Vec<(u64, i32)>,
    measured: Option<(Instant, u64)>,
}

impl Alarms {
    /// Reads the alarms of a store.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) fn load(store: Arc<EmbeddedStore>, quota: Option<u64>) -> storage::Result<Self> {
        let raised = store.alarms()?;
        Ok(Self { store, quota, state: Mutex::new(State { raised, measured: None }) })
    }

    /// Returns the alarms: numbers of members, and kinds.
    pub(crate) fn raised(&self) -> Vec<(u64, i32)> {
        self.lock().raised.clone()
    }

    pub(crate) fn quota(&self) -> Option<u64> {
        self.quota
    }

    /// Raises an alarm.
    pub(crate) async fn raise(&self, member: u64, kind: AlarmType) -> Result<(), Status> {
        self.store.raise_alarm(member, kind as i32).await.map_err(of_store)?;
        tracing::warn!(member, kind = kind.as_str_name(), "an alarm is raised");
        self.reload()
    }

    /// Clears an alarm; `false` when it was not raised.
    pub(crate) async fn clear(&self, member: u64, kind: AlarmType) -> Result<bool, Status> {
        if !self.lock().raised.contains(&(member, kind as i32)) {
            return Ok(false);
        }
        self.store.clear_alarm(member, kind as i32).await.map_err(of_store)?;
        tracing::info!(member, kind = kind.as_str_name(), "an alarm is cleared");
        self.reload().map(|()| true)
    }

    /// Refuses every request while the data is known to be damaged.
    pub(crate) fn check_intact(&self) -> Result<(), Status> {
        if self.is_raised(AlarmType::Corrupt) { Err(Answer::CORRUPT.into()) } else { Ok(()) }
    }

    /// Refuses a write that needs space while the quota is exceeded, and raises the alarm then.
    pub(crate) async fn check_space(&self, member: u64) -> Result<(), Status> {
        if self.is_raised(AlarmType::Nospace) {
            return Err(Answer::NO_SPACE.into());
        }
        let Some(quota) = self.quota else { return Ok(()) };
        if self.size()? < quota {
            return Ok(());
        }
        self.raise(member, AlarmType::Nospace).await?;
        Err(Answer::NO_SPACE.into())
    }

    fn is_raised(&self, kind: AlarmType) -> bool {
        self.lock().raised.iter().any(|(_, raised)| *raised == kind as i32)
    }

    fn reload(&self) -> Result<(), Status> {
        let raised = self.store.alarms().map_err(of_store)?;
        self.lock().raised = raised;
        Ok(())
    }

    /// The size of the database, measured not long ago.
    fn size(&self) -> Result<u64, Status> {
        let measured = self.lock().measured.filter(|(at, _)| at.elapsed() < MEASURED_FOR);
        if let Some((_, size)) = measured {
            return Ok(size);
        }
        let size = self.store.sizes().map_err(of_store)?.total;
        self.lock().measured = Some((Instant::now(), size));
        Ok(size)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner) // each change under the lock is complete
    }
}
