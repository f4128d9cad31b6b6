//! A boxed struct of any declared type.

use std::any::TypeId;
use std::marker::PhantomData;
use std::ptr::NonNull;

use super::access::Struct;
use super::view::{Mut, Ref};
use crate::def::StructDef;

/// A boxed struct of any declared type.
pub struct Owned {
    pub(super) def: &'static StructDef,
    pub(super) at: NonNull<u8>,
}

// SAFETY: it stands for a `Box<T>` with `T: Send + Sync`.
unsafe impl Send for Owned {}
// SAFETY: likewise.
unsafe impl Sync for Owned {}

impl Owned {
    /// The default value of the described type.
    pub fn new(def: &'static StructDef) -> Self {
        Owned { def, at: (def.access.new_box)() }
    }

    /// Boxes a struct.
    pub fn of<T: Struct>(value: T) -> Self {
        Owned { def: T::def(), at: NonNull::from(Box::leak(Box::new(value))).cast() }
    }

    /// The descriptor of the struct.
    pub fn def(&self) -> &'static StructDef {
        self.def
    }

    /// A read-only view of the struct.
    #[inline]
    pub fn as_ref(&self) -> Ref<'_> {
        Ref { def: self.def, at: self.at, life: PhantomData }
    }

    /// A mutable view of the struct.
    #[inline]
    pub fn as_mut(&mut self) -> Mut<'_> {
        Mut { def: self.def, at: self.at, life: PhantomData }
    }

    /// The struct, if it is a `T`.
    pub fn downcast_ref<T: Struct>(&self) -> Option<&T> {
        self.as_ref().downcast()
    }

    /// The struct, if it is a `T`.
    pub fn downcast_mut<T: Struct>(&mut self) -> Option<&mut T> {
        self.as_mut().downcast()
    }

    /// The struct, if it is a `T`; otherwise the box.
    ///
    /// # Errors
    /// The unchanged box when the struct is not a `T`.
    pub fn into_inner<T: Struct>(self) -> Result<T, Self> {
        if (self.def.access.type_id)() != TypeId::of::<T>() {
            return Err(self);
        }
        let this = std::mem::ManuallyDrop::new(self);
        // SAFETY: it is the box of a T, and `this` does not drop it again.
        Ok(*unsafe { Box::from_raw(this.at.cast::<T>().as_ptr()) })
    }
}

impl Clone for Owned {
    fn clone(&self) -> Self {
        self.as_ref().to_owned()
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: made by a box of this very type, dropped once.
        unsafe { (self.def.access.drop_box)(self.at) }
    }
}
