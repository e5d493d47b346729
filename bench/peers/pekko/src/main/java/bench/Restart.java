package bench;

import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.SupervisorStrategy;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/** Faults: an actor throws at message after message and is restarted; the mailbox outlives it. */
final class Restart {
    /** An exception without a stack trace, and an ordinary one. */
    enum Failure {
        ERROR,
        PANIC
    }

    private static final class Broken extends RuntimeException {
        Broken(Failure failure) {
            super("broken on purpose", null, false, failure == Failure.PANIC);
        }
    }

    private static final class Count {
        long built;
    }

    private Restart() {}

    static Pass setUp(Failure failure) {
        Host host = new Host();
        Latch latch = new Latch();
        // Only the actor touches it, one incarnation after the other.
        Count count = new Count();
        SupervisorStrategy restart = SupervisorStrategy.restart().withLoggingEnabled(false);
        Behavior<Sink.Put> fragile = Behaviors.setup(context -> {
            count.built++;
            return Behaviors.receiveMessage(message -> {
                if (message.value() != Sink.LAST) {
                    throw new Broken(failure);
                }
                latch.arrive(count.built);
                return Behaviors.same();
            });
        });
        ActorRef<Sink.Put> target = host.spawn(Behaviors.supervise(fragile).onFailure(restart));
        ActorRef<Host.Run> sender = host.spawn(Host.job());
        return faults -> {
            latch.arm(1);
            target.tell(new Sink.Put(Sink.LAST));
            long before = latch.await();
            latch.arm(1);
            sender.tell(new Host.Run(context -> {
                for (long value = 0; value < faults; value++) {
                    target.tell(new Sink.Put(value));
                }
                target.tell(new Sink.Put(Sink.LAST));
            }));
            return latch.await() - before;
        };
    }
}
