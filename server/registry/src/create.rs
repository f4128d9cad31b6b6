//! Create (`registry.Store.Create`).

use std::sync::Arc;

use apimachinery::meta::v1::ObjectMeta;
use bytes::Bytes;
use machinery::field_error::with_bounded_texts;
use machinery::reflect::Owned;
use machinery::status::Status;
use storage::cache::Entry;
use storage::{Txn, TxnOutcome};

use crate::metadata::{MetaExt, ensure_namespace, meta, meta_mut};
use crate::options::CreateOptions;
use crate::resource::ResourceStore;
use crate::strategy::WriteContext;
use crate::update::CheckWrite;
use crate::write_hook::WriteOutcome;
use crate::{names, validation};

/// Number of attempts with a generated name (KEP-4420).
const NAME_ATTEMPTS: usize = 8;

/// Name and `generateName` of a request.
#[derive(Default)]
struct RequestedName {
    name: String,
    generate_name: String,
}

impl RequestedName {
    fn of(object: &Owned) -> Self {
        let of =
            |meta: &ObjectMeta| RequestedName { name: meta.name.clone(), generate_name: meta.generate_name.clone() };
        meta(object.as_ref()).map(of).unwrap_or_default()
    }

    fn is_generated(&self) -> bool {
        self.name.is_empty() && !self.generate_name.is_empty()
    }
}

impl ResourceStore {
    /// Stores a new object and returns it as stored (`registry.Store.Create`).
    ///
    /// Generates another name when a generated one is taken, at most eight times.
    ///
    /// # Errors
    /// Besides those of each call:
    /// - 400 when the object has another namespace than the request;
    /// - 409 `AlreadyExists` when the name is taken;
    /// - 422 when the object is invalid;
    /// - the errors of `check` and of the [`WriteHook`](crate::WriteHook).
    pub async fn create<C: CheckWrite + ?Sized>(
        &self,
        context: &WriteContext,
        object: Owned,
        options: &CreateOptions,
        check: &mut C,
    ) -> Result<Owned, Status> {
        if !RequestedName::of(&object).is_generated() {
            return self.create_attempt(context, object, options, check).await;
        }
        for _ in 1..NAME_ATTEMPTS {
            match self.create_attempt(context, object.clone(), options, check).await {
                Err(status) if status.reason == "AlreadyExists" => {}
                done => return done,
            }
        }
        self.create_attempt(context, object, options, check).await
    }

    async fn create_attempt<C: CheckWrite + ?Sized>(
        &self,
        context: &WriteContext,
        mut object: Owned,
        options: &CreateOptions,
        check: &mut C,
    ) -> Result<Owned, Status> {
        self.begin_object(context, &mut object)?;
        let mut reserved = self.begin(context, &mut object, None).await?;
        let stored = self.create_with_reservation(context, object, options, check, &mut reserved.outcome).await;
        check.settle(reserved.outcome).await;
        reserved.finish().await;
        stored
    }

    /// Sets the fields that the server determines: name, uid, creation time.
    fn begin_object(&self, context: &WriteContext, object: &mut Owned) -> Result<(), Status> {
        self.check_namespace(context, object)?;
        if let Some(meta) = meta_mut(object) {
            meta.uid = WriteContext::new_uid();
            meta.creation_timestamp = self.clock.now();
            if meta.name.is_empty() && !meta.generate_name.is_empty() {
                meta.name = names::random_suffix(&meta.generate_name);
            }
        }
        Ok(())
    }

    async fn create_with_reservation<C: CheckWrite + ?Sized>(
        &self,
        context: &WriteContext,
        mut object: Owned,
        options: &CreateOptions,
        check: &mut C,
        outcome: &mut WriteOutcome,
    ) -> Result<Owned, Status> {
        self.strategy.prepare_for_create(context, &mut object);
        let requested = RequestedName::of(&object);
        self.check_new(context, &object, &requested.name)?;
        check.check(&object, None).await?;
        match self.put_new(context, object, &requested.name, options, outcome).await? {
            Ok(stored) => Ok(stored),
            Err(taken) => Err(self.already_exists(context, &requested, taken)),
        }
    }

    fn check_new(&self, context: &WriteContext, object: &Owned, name: &str) -> Result<(), Status> {
        let mut errors = with_bounded_texts(|| self.strategy.validate(context, object.as_ref()));
        if errors.is_empty() {
            validation::common(context, object.as_ref(), None, self.def.namespaced, &mut errors);
        }
        if !errors.is_empty() {
            context.sent.complete(&mut errors, object.def());
            return Err(Status::invalid(self.kind_of(object), name, &errors));
        }
        let warnings = self.strategy.warnings(context, object.as_ref(), None);
        warnings.iter().for_each(|text| context.warnings.add(text));
        Ok(())
    }

    fn already_exists(&self, context: &WriteContext, requested: &RequestedName, taken: Option<Arc<Entry>>) -> Status {
        let mut status = match requested.generate_name.as_str() {
            "" => Status::already_exists(self.name_in(context), &requested.name),
            _ => Status::generate_name_conflict(self.name(), &requested.name),
        };
        let taken = taken.and_then(|entry| self.object(&entry).ok());
        if taken.is_some_and(|object| meta(object.as_ref()).is_some_and(MetaExt::is_deleting)) {
            status.message = format!("object is being deleted: {}", status.message);
        }
        status
    }

    /// Stores the object, or returns the existing one with its name.
    async fn put_new(
        &self,
        context: &WriteContext,
        object: Owned,
        name: &str,
        options: &CreateOptions,
        outcome: &mut WriteOutcome,
    ) -> Result<Result<Owned, Option<Arc<Entry>>>, Status> {
        let key = self.key(&context.namespace, name);
        if options.dry_run {
            let taken = self.current(&key).await?;
            return Ok(if taken.is_some() { Err(taken) } else { Ok(self.as_read(object)) });
        }
        if meta(object.as_ref()).and_then(MetaExt::revision).is_some() {
            return Err(Status::new(500, "", "resourceVersion should not be set on objects to be created"));
        }
        let (value, mut object) = self.encode_for_readers(object).await?;
        if let Some(meta) = meta_mut(&mut object) {
            meta.self_link.clear();
        }
        let value = Bytes::from(value);
        let txn = Txn::create(key.clone(), value.clone()).with_ttl(self.time_to_live);
        match self.commit(txn, outcome).await? {
            TxnOutcome::Committed { revision, .. } => {
                let mut stored = self.written(object, &key, value, revision).await?;
                self.strategy.after_create(&mut stored);
                Ok(Ok(stored))
            }
            TxnOutcome::Conflict { current, .. } => Ok(Err(self.newer(current))),
        }
    }

    /// Checks that object and request have the same namespace.
    pub(crate) fn check_namespace(&self, context: &WriteContext, object: &mut Owned) -> Result<(), Status> {
        let expected = if self.def.namespaced { context.namespace.as_str() } else { "" };
        match meta_mut(object) {
            Some(meta) => ensure_namespace(meta, expected),
            None => Ok(()),
        }
    }
}
