//! From the name of a method to the name of its message.

use syn::Ident;
use syn::ext::IdentExt;

use super::block::Block;

/// Names that every module has without importing them. A message of such a name would hide it.
#[rustfmt::skip]
const PRELUDE: &[&str] = &[
    "AsMut", "AsRef", "AsyncFn", "AsyncFnMut", "AsyncFnOnce", "Box", "Clone", "Copy", "Default",
    "DoubleEndedIterator", "Drop", "Eq", "Err", "ExactSizeIterator", "Extend", "Fn", "FnMut",
    "FnOnce", "From", "FromIterator", "Future", "Into", "IntoFuture", "IntoIterator", "Iterator",
    "None", "Ok", "Option", "Ord", "PartialEq", "PartialOrd", "Result", "Send", "Sized", "Some",
    "String", "Sync", "ToOwned", "ToString", "TryFrom", "TryInto", "Unpin", "Vec",
];

/// `deposit_all` makes `DepositAll`.
pub(super) fn message_name(method: &Ident, block: &Block) -> syn::Result<Ident> {
    let name = camel_case(&method.unraw().to_string());
    let clash = if block.name == name {
        Some(format!("the actor `{name}` itself"))
    } else if block.generics.type_params().any(|param| param.ident == name) {
        Some(format!("the parameter `{name}` of the block"))
    } else if PRELUDE.contains(&name.as_str()) {
        Some(format!("`{name}` of the standard library"))
    } else {
        None
    };
    if let Some(taken) = clash {
        let sentence = format!(
            "the message of this method would be called `{name}` and clash with {taken}: rename the method, or name \
             the message with `#[message(name = {name}Message)]`"
        );
        return Err(syn::Error::new(method.span(), sentence));
    }
    syn::parse_str::<Ident>(&name)
        .map(|_| Ident::new(&name, method.span()))
        .map_err(|_| {
            let sentence = "no message name can be made from this one: name it with `#[message(name = …)]`";
            syn::Error::new(method.span(), sentence)
        })
}

fn camel_case(snake: &str) -> String {
    let mut camel = String::with_capacity(snake.len());
    for word in snake.split('_') {
        let mut letters = word.chars();
        camel.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        camel.push_str(letters.as_str());
    }
    camel
}

#[cfg(test)]
mod tests {
    use super::camel_case;

    #[test]
    fn methods_become_camel_case() {
        for (method, message) in [
            ("deposit", "Deposit"),
            ("deposit_all", "DepositAll"),
            ("_tick", "Tick"),
            ("get_2nd", "Get2nd"),
            ("änderung", "Änderung"),
        ] {
            assert_eq!(camel_case(method), message);
        }
    }
}
