// For examples of references to a protocol: what `protocol!(Till { Deposit })` makes, which another crate does. Behind `bank.rs`.

enum Till {}

impl __private::Target for Till {
    type Via = &'static [&'static __private::MessageTable; 1];

    fn abroad() -> Self::Via {
        const { &[__private::absent_table::<Deposit>()] }
    }
    fn found(actor: &__private::Found<'_>) -> Option<Self::Via> {
        static TABLES: __private::FoundTables<1> = __private::FoundTables::new();
        TABLES.of(actor, || Some([actor.table::<Deposit>()?]))
    }
}

impl __private::Accepts<Deposit> for Till {
    fn table(via: Self::Via) -> &'static __private::MessageTable {
        via[0]
    }
}

impl<A: Respond<Deposit>> __private::Covers<A> for Till {
    fn table() -> <Self as __private::Target>::Via {
        const { &[__private::message_table::<A, Deposit>()] }
    }
}
