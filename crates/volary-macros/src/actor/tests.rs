//! What the expansion is made of. That it compiles and what the errors look like is shown by the
//! cases in `volary/tests/ui`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{File, Item};

use super::expand;

/// The items of an expansion.
fn items(arguments: TokenStream, block: TokenStream) -> Vec<Item> {
    syn::parse2::<File>(expand(arguments, block))
        .expect("an expansion is a list of items")
        .items
}

fn written(items: &[Item]) -> String {
    items
        .iter()
        .map(|item| item.to_token_stream().to_string())
        .collect::<Vec<_>>()
        .join("\n")
}

/// How often `part` occurs, however it is spaced.
fn count(items: &[Item], part: TokenStream) -> usize {
    written(items).matches(&part.to_string()).count()
}

/// The parameters and conditions of a struct, as written.
fn generics_of(items: &[Item], name: &str) -> Option<(String, String)> {
    items.iter().find_map(|item| match item {
        Item::Struct(item) if item.ident == name => {
            let conditions = &item.generics.where_clause;
            Some((
                item.generics.to_token_stream().to_string(),
                quote!(#conditions).to_string(),
            ))
        }
        _ => None,
    })
}

/// The traits that are implemented, by the last segment of their path.
fn traits(items: &[Item]) -> Vec<String> {
    let of = |item: &Item| match item {
        Item::Impl(block) => Some(block.trait_.as_ref()?.1.segments.last()?.to_token_stream().to_string()),
        _ => None,
    };
    items.iter().filter_map(of).collect()
}

#[test]
fn the_block_comes_first_and_loses_only_its_marks() {
    let items = items(
        quote!(),
        quote! {
            impl Account {
                #[inline]
                #[message(name = Credit)]
                fn deposit(&mut self, cents: i64) -> i64 { self.cents + cents }
                #[actor(skip)]
                fn helper(self) {}
            }
        },
    );
    let unchanged = quote! {
        impl Account {
            #[inline]
            fn deposit(&mut self, cents: i64) -> i64 { self.cents + cents }
            fn helper(self) {}
        }
    };
    assert_eq!(items[0].to_token_stream().to_string(), unchanged.to_string());
    assert_eq!(traits(&items), ["Message", "SyncHandler < Credit >", "Actor"]);
}

#[test]
fn the_signature_chooses_the_handler() {
    let items = items(
        quote!(handlers),
        quote! {
            impl Account {
                fn one(&mut self) {}
                async fn two(&mut self) {}
                fn three(&mut self, reply: ReplyTo<u8>) {}
                async fn four(&mut self, reply: ReplyTo<u8>) -> Result<(), Fault> { Ok(()) }
                #[handles]
                fn five(&mut self, five: Five) {}
            }
        },
    );
    let handlers: Vec<String> = traits(&items).into_iter().filter(|name| name != "Message").collect();
    let expected = [
        "SyncHandler < One >",
        "Handler < Two >",
        "Respond < Three >",
        "Respond < Four >",
        "SyncHandler < Five >",
    ];
    assert_eq!(handlers, expected);
    assert_eq!(count(&items, quote!(struct Five)), 0);
}

#[test]
fn conditions_reach_everything_that_is_generated() {
    let items = items(
        quote!(),
        quote! {
            impl<T: Send + 'static> Cache<T> {
                #[cfg(feature = "x")]
                fn all(&self) -> Vec<T> { Vec::new() }
                #[cfg(feature = "y")]
                fn started(&mut self) {}
            }
        },
    );
    // The method, the struct, its `new`, its contract, its handler and its place in the list.
    assert_eq!(count(&items, quote!(#[cfg(feature = "x")])), 6);
    // The method and the hook that calls it.
    assert_eq!(count(&items, quote!(#[cfg(feature = "y")])), 2);
}

#[test]
fn a_message_takes_the_parameters_it_mentions_and_their_bounds() {
    let items = items(
        quote!(),
        quote! {
            impl<K: Send + Into<V> + 'static, V, const N: usize> Cache<K, V, N>
            where
                K: Clone + PartialEq<V>,
                V: From<[u8; N]>,
                Self: Sized,
            {
                fn find(&self, key: K) {}
                fn fill(&self, value: Option<V>, raw: [u8; N]) {}
                fn clear(&mut self) {}
                fn same(&self, other: Self) {}
            }
        },
    );
    for (message, params, conditions) in [
        ("Find", quote!(<K: Send + 'static>), quote!(where K: Clone)),
        ("Fill", quote!(<V, const N: usize>), quote!(where V: From<[u8; N]>)),
        ("Clear", quote!(), quote!()),
        (
            "Same",
            quote!(<K: Send + Into<V> + 'static, V, const N: usize>),
            quote!(where K: Clone + PartialEq<V>, V: From<[u8; N]>),
        ),
    ] {
        let expected = (params.to_string(), conditions.to_string());
        assert_eq!(generics_of(&items, message), Some(expected), "{message}");
    }
}

#[test]
fn a_parameter_of_the_answer_alone_leaves_a_marker_and_a_constructor() {
    let items = items(
        quote!(),
        quote!(
            impl<T: Send + 'static> Cache<T> {
                fn get(&self, at: usize) -> T {
                    todo!()
                }
            }
        ),
    );
    assert_eq!(count(&items, quote!(fn new(at: usize) -> Self)), 1);
    let plain = self::items(quote!(), quote!(impl Cache { fn get(&self, at: usize) {} }));
    assert_eq!(count(&plain, quote!(fn new)), 0);
}

#[test]
fn every_mistake_is_reported_and_the_rest_is_still_made() {
    let items = items(
        quote!(mailbox),
        quote! {
            impl Account {
                fn one(self) {}
                fn two(&self, (a, b): (u8, &str)) {}
                fn three(&self) {}
            }
        },
    );
    // The option, the receiver, the borrow and the pattern.
    assert_eq!(count(&items, quote!(compile_error!)), 4, "{}", written(&items));
    assert_eq!(traits(&items), ["Message", "SyncHandler < Three >", "Actor"]);
}

#[test]
fn hooks_and_messages_fill_the_actor() {
    let items = items(
        quote!(remote(Add)),
        quote! {
            impl Counter {
                async fn started(&mut self, ctx: &mut Context<Self>) -> Result<(), Fault> { Ok(()) }
                fn stopped(&mut self) {}
                fn add(&mut self) {}
                #[handles]
                fn ended(&mut self, ended: volary::Terminated) {}
            }
        },
    );
    let actor = items
        .last()
        .expect("the impl of Actor comes last")
        .to_token_stream()
        .to_string();
    for part in [
        quote!(list.add::<Add>();),
        quote!(list.add::<volary::Terminated>();),
        quote!(Self::started(self, context).await),
        quote!(Self::stopped(self,);),
    ] {
        assert!(actor.contains(&part.to_string()), "{part} in\n{actor}");
    }
}
