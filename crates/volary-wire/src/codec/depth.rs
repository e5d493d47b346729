//! A bound on how deep a value may be nested, for formats whose readers have none, and on how far lengths in it are believed.
//!
//! A type that holds itself is as deep as the sender likes, at a byte for each level; reading it takes stack for each,
//! and a stack that is full ends the process. A type with derived traits holds itself through an option, a sequence, a map
//! or an enum, so these are counted. All else is passed on as it is: who writes `Deserialize` by hand bounds it by hand.
//!
//! The length of a sequence or map is only a promise. serde sets aside up to a mebibyte for one, at each level of what is
//! inside each other, so that a few bytes for each level would cost a hundred of them. It is told of a few elements only; for
//! more, memory grows as they come.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor};

/// For formats whose readers count by themselves.
#[cfg(feature = "cbor")]
pub(super) const COUNTED_ELSEWHERE: usize = usize::MAX;

/// How many elements are believed in before they have come.
const BELIEVED: usize = 32;

/// Reads a value that is nested at most `depth` levels deep.
pub(super) fn read<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D, depth: usize) -> Result<T, D::Error> {
    T::deserialize(Bounded {
        inner: from,
        left: depth,
    })
}

/// Something of serde's, and how many levels may still be below it.
struct Bounded<I> {
    inner: I,
    left: usize,
}

impl<I> Bounded<I> {
    /// The same around something else, of the same level.
    fn beside<J>(&self, inner: J) -> Bounded<J> {
        Bounded { inner, left: self.left }
    }

    /// What belongs around something one level further down.
    fn below<J, E: Error>(&self, inner: J) -> Result<Bounded<J>, E> {
        match self.left.checked_sub(1) {
            Some(left) => Ok(Bounded { inner, left }),
            None => Err(E::custom("it is nested too deep")),
        }
    }
}

macro_rules! pass_on {
    ($($name:ident($($argument:ident: $type:ty),*))*) => {
        $(#[inline]
        fn $name<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            self.inner.$name($($argument,)* visitor)
        })*
    };
}

macro_rules! pass_on_bounded {
    ($how:ident: $($name:ident($($argument:ident: $type:ty),*))*) => {
        $(#[inline]
        fn $name<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            let visitor = pass_on_bounded!(@$how self visitor);
            self.inner.$name($($argument,)* visitor)
        })*
    };
    (@beside $this:ident $visitor:ident) => { $this.beside($visitor) };
    (@below $this:ident $visitor:ident) => { $this.below($visitor)? };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Bounded<D> {
    type Error = D::Error;

    pass_on! {
        deserialize_bool()
        deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
        deserialize_f32() deserialize_f64()
        deserialize_char() deserialize_str() deserialize_string() deserialize_bytes() deserialize_byte_buf()
        deserialize_unit() deserialize_unit_struct(name: &'static str)
        deserialize_identifier()
    }

    pass_on_bounded! { beside:
        deserialize_newtype_struct(name: &'static str)
        deserialize_tuple(length: usize)
        deserialize_tuple_struct(name: &'static str, length: usize)
        deserialize_struct(name: &'static str, fields: &'static [&'static str])
    }

    pass_on_bounded! { below:
        deserialize_any()
        deserialize_ignored_any()
        deserialize_option()
        deserialize_seq()
        deserialize_map()
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

macro_rules! visit {
    ($($name:ident: $type:ty)*) => {
        $(#[inline]
        fn $name<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.inner.$name(value)
        })*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Bounded<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    visit! {
        visit_bool: bool
        visit_i8: i8 visit_i16: i16 visit_i32: i32 visit_i64: i64 visit_i128: i128
        visit_u8: u8 visit_u16: u16 visit_u32: u32 visit_u64: u64 visit_u128: u128
        visit_f32: f32 visit_f64: f64
        visit_char: char visit_str: &str visit_borrowed_str: &'de str visit_string: String
        visit_bytes: &[u8] visit_borrowed_bytes: &'de [u8] visit_byte_buf: Vec<u8>
    }

    #[inline]
    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    #[inline]
    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_unit()
    }

    #[inline]
    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<V::Value, D::Error> {
        let from = self.beside(from);
        self.inner.visit_some(from)
    }

    #[inline]
    fn visit_newtype_struct<D: Deserializer<'de>>(self, from: D) -> Result<V::Value, D::Error> {
        let from = self.beside(from);
        self.inner.visit_newtype_struct(from)
    }

    #[inline]
    fn visit_seq<A: SeqAccess<'de>>(self, from: A) -> Result<V::Value, A::Error> {
        let from = self.beside(from);
        self.inner.visit_seq(from)
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, from: A) -> Result<V::Value, A::Error> {
        let from = self.beside(from);
        self.inner.visit_map(from)
    }

    #[inline]
    fn visit_enum<A: EnumAccess<'de>>(self, from: A) -> Result<V::Value, A::Error> {
        let from = self.beside(from);
        self.inner.visit_enum(from)
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Bounded<S> {
    type Value = S::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<S::Value, D::Error> {
        let from = self.beside(from);
        self.inner.deserialize(from)
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Bounded<A> {
    type Error = A::Error;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        let seed = self.beside(seed);
        self.inner.next_element_seed(seed)
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint().map(|told| told.min(BELIEVED))
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Bounded<A> {
    type Error = A::Error;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        let seed = self.beside(seed);
        self.inner.next_key_seed(seed)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let seed = self.beside(seed);
        self.inner.next_value_seed(seed)
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint().map(|told| told.min(BELIEVED))
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for Bounded<A> {
    type Error = A::Error;
    type Variant = Bounded<A::Variant>;

    #[inline]
    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), A::Error> {
        let left = self.left;
        let (which, inner) = self.inner.variant_seed(seed)?;
        Ok((which, Bounded { inner, left }))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Bounded<A> {
    type Error = A::Error;

    #[inline]
    fn unit_variant(self) -> Result<(), A::Error> {
        self.inner.unit_variant()
    }

    #[inline]
    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        let seed = self.beside(seed);
        self.inner.newtype_variant_seed(seed)
    }

    #[inline]
    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, A::Error> {
        let visitor = self.beside(visitor);
        self.inner.tuple_variant(length, visitor)
    }

    #[inline]
    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        let visitor = self.beside(visitor);
        self.inner.struct_variant(fields, visitor)
    }
}
