package bench;

import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;

/** A million named actors, each told one message; they stay alive. */
final class Spawn implements Pass {
    private final Host host = new Host();
    private final Latch latch = new Latch();
    private final List<ActorRef<Sink.Put>> alive = new ArrayList<>();
    private long next;

    static Pass named() {
        return new Spawn();
    }

    @Override
    public long run(long count) {
        latch.arm(count);
        host.system.tell(new Host.Run(context -> {
            int first = alive.size();
            for (long index = 0; index < count; index++) {
                alive.add(context.spawn(Sink.create(latch), "sink-" + next++));
            }
            alive.subList(first, alive.size()).forEach(sink -> sink.tell(new Sink.Put(Sink.LAST)));
        }));
        return latch.await();
    }

    /** The warm-up's actors stop, so that the timed pass begins with none. */
    @Override
    public void forget() {
        Latch stopped = new Latch();
        stopped.arm(1);
        host.system.tell(new Host.Run(context -> {
            alive.forEach(context::stop);
            alive.clear();
            stopped.arrive(1);
        }));
        stopped.await();
        Children.awaitNone(host);
    }
}
