package bench;

import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.StashBuffer;

/** Messages put aside: a thousand at a time, taken back and handled. */
final class Stash {
    private static final int ASIDE = 1_000;
    private static final long OPEN = 0;

    private final StashBuffer<Sink.Put> stash;
    private final Latch latch;
    private int back;
    private long handled;

    private Stash(StashBuffer<Sink.Put> stash, Latch latch) {
        this.stash = stash;
        this.latch = latch;
    }

    static Pass setUp() {
        Host host = new Host();
        Latch latch = new Latch();
        ActorRef<Host.Run> sender = host.spawn(Host.job());
        ActorRef<Sink.Put> hoarder = host.spawn(Behaviors.withStash(
                ASIDE, stash -> Behaviors.receiveMessage(new Stash(stash, latch)::receive)));
        return count -> {
            latch.arm(1);
            sender.tell(new Host.Run(context -> putAll(hoarder, count)));
            return latch.await();
        };
    }

    private static void putAll(ActorRef<Sink.Put> hoarder, long count) {
        for (long value = 1; value <= count; value++) {
            hoarder.tell(new Sink.Put(value == count ? Sink.LAST : value));
            if (value % ASIDE == 0 || value == count) {
                hoarder.tell(new Sink.Put(OPEN));
            }
        }
    }

    private Behavior<Sink.Put> receive(Sink.Put message) {
        if (message.value() == OPEN) {
            back = stash.size();
            return stash.unstashAll(Behaviors.receiveMessage(this::receive));
        }
        if (back == 0) {
            stash.stash(message);
            return Behaviors.same();
        }
        back--;
        handled++;
        if (message.value() == Sink.LAST) {
            long count = handled;
            handled = 0;
            latch.arrive(count);
        }
        return Behaviors.same();
    }
}
