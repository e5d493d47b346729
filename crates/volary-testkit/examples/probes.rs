//! Testing an actor: a probe stands in for whom it talks to, and two hours pass in no time.
//!
//! `cargo run -p volary-testkit --example probes`

use std::time::Duration;

use volary::prelude::*;
use volary_testkit::{MultiProbe, TestKit};

const TWO_HOURS: Duration = Duration::from_secs(7_200);

#[derive(Debug, PartialEq, Message)]
#[message(reply = bool)]
struct Charge {
    cents: u64,
}

#[derive(Debug, PartialEq, Message)]
struct Reminder;

#[derive(Clone, Message)]
struct Overdue;

/// What is tested: sends a bill, and a reminder if it is not paid within two hours.
struct Billing {
    bank: Recipient<Charge>,
    customer: Recipient<Reminder>,
}

#[actor]
impl Billing {
    async fn bill(&mut self, cents: u64, ctx: &mut Context<Self>) -> Result<(), Fault> {
        let paid = self.bank.ask(Charge { cents }).await.or_fault()?;
        if !paid {
            ctx.set_timer("overdue", TWO_HOURS, Overdue);
        }
        Ok(())
    }

    #[handles]
    fn overdue(&mut self, _: Overdue) {
        let _ = self.customer.tell(Reminder);
    }
}

fn main() {
    let kit = TestKit::new();
    kit.run(async {
        // Bank and customer in one, to see the order of what they are told.
        let probe = MultiProbe::builder().takes::<Charge>().takes::<Reminder>();
        let mut probe = probe.start(kit.system()).await;
        let (bank, customer) = (probe.recipient(), probe.recipient());
        let billing = move || Billing {
            bank: bank.clone(),
            customer: customer.clone(),
        };
        let Ok(billing) = kit.system().spawn(billing).await else {
            panic!("the actor under test starts")
        };

        let _ = billing.tell(Bill { cents: 995 });
        probe.expect(Charge { cents: 995 }).await;
        probe.reply::<Charge>(false); // the account is empty
        println!("charged, and not paid");

        probe.expect_none(TWO_HOURS - Duration::from_secs(1)).await;
        probe.expect(Reminder).await;
        println!("reminded after {} minutes", kit.elapsed().as_secs() / 60);

        billing.stop();
        probe.expect_terminated(&billing).await;
    });
}
