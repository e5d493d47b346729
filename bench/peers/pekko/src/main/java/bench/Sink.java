package bench;

import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/** Adds numbers and reports the last. */
final class Sink {
    static final long LAST = Long.MAX_VALUE;

    record Put(long value) {}

    private final Latch latch;
    private long sum;
    private long handled;

    private Sink(Latch latch) {
        this.latch = latch;
    }

    static Behavior<Put> create(Latch latch) {
        return Behaviors.setup(context -> Behaviors.receiveMessage(new Sink(latch)::put));
    }

    private Behavior<Put> put(Put message) {
        sum += message.value();
        handled++;
        if (message.value() == LAST) {
            long count = handled;
            handled = 0;
            latch.arrive(count);
        }
        return Behaviors.same();
    }
}
