package bench;

import com.google.protobuf.BytesValue;
import com.google.protobuf.UInt64Value;
import org.apache.pekko.actor.AbstractActor;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;

/**
 * Tells a receiver in bursts. Artery drops what its queue has no room for, so each burst ends with a question, and two bursts
 * are under way at a time, as in Pekko's own measurements of Artery.
 */
final class Sender extends AbstractActor {
    /** So many messages, after which the receiver has handled {@code told} in its life. */
    record Start(long count, long told) {}

    private final ActorRef far;
    private final int burst;
    private final Latch latch;
    private long left;
    private long told;

    private Sender(ActorRef far, int burst, Latch latch) {
        this.far = far;
        this.burst = burst;
        this.latch = latch;
    }

    static Props props(ActorRef far, int burst, Latch latch) {
        return Props.create(Sender.class, () -> new Sender(far, burst, latch));
    }

    @Override
    public Receive createReceive() {
        return receiveBuilder().match(Start.class, this::start).match(UInt64Value.class, this::answered).build();
    }

    private void start(Start start) {
        left = start.count();
        told = start.told();
        burst();
        if (left > 0) {
            burst();
        }
    }

    private void burst() {
        long size = Math.min(left, burst);
        left -= size;
        for (long index = 0; index < size; index++) {
            far.tell(BytesValue.of(RemoteCaller.SMALL_BODY), getSelf());
        }
        far.tell(UInt64Value.getDefaultInstance(), getSelf());
    }

    private void answered(UInt64Value handled) {
        if (left > 0) {
            burst();
        } else if (handled.getValue() == told) {
            latch.arrive(1);
        }
    }
}
