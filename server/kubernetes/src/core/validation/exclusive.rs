//! Unions that upstream checks by hand: the first member that is there is looked at, further ones are refused.

use machinery::field_path::Path;
use machinery::hooks::Validation;

/// The members of a union, gone through in upstream's order.
pub struct Exclusive<'c, 'v, 'p> {
    v: &'c mut Validation<'v>,
    path: &'p Path<'p>,
    refusal: &'static str,
    found: bool,
}

impl<'c, 'v, 'p> Exclusive<'c, 'v, 'p> {
    /// `refusal` is what further members are refused with.
    pub fn new(v: &'c mut Validation<'v>, path: &'p Path<'p>, refusal: &'static str) -> Self {
        Exclusive { v, path, refusal, found: false }
    }

    /// The next member.
    pub fn member<T>(
        &mut self,
        name: &str,
        member: &Option<Box<T>>,
        check: impl FnOnce(&mut Validation<'v>, &Path<'_>, &T),
    ) -> &mut Self {
        self.member_named(name, name, member, check)
    }

    /// The next member where upstream refuses it under another name than it checks it.
    pub fn member_named<T>(
        &mut self,
        refused: &str,
        checked: &str,
        member: &Option<Box<T>>,
        check: impl FnOnce(&mut Validation<'v>, &Path<'_>, &T),
    ) -> &mut Self {
        match member {
            Some(_) if self.found => self.v.forbidden(&self.path.child(refused), self.refusal),
            Some(member) => {
                self.found = true;
                check(self.v, &self.path.child(checked), member);
            }
            None => {}
        }
        self
    }

    /// A member that upstream does not refuse next to others.
    pub fn shared<T>(
        &mut self,
        name: &str,
        member: &Option<Box<T>>,
        check: impl FnOnce(&mut Validation<'v>, &Path<'_>, &T),
    ) -> &mut Self {
        if let Some(member) = member {
            self.found = true;
            check(self.v, &self.path.child(name), member);
        }
        self
    }

    /// What upstream looks at between two members.
    pub fn also(&mut self, check: impl FnOnce(&mut Validation<'v>, &Path<'_>)) -> &mut Self {
        check(self.v, self.path);
        self
    }

    /// Whether any member was there.
    pub fn found(&self) -> bool {
        self.found
    }
}
