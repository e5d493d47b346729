package bench;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.PoolRouter;
import org.apache.pekko.actor.typed.javadsl.Routers;

/** Sixteen routees behind a pool router, in turn and by the hash of a key. */
final class Router {
    private static final int ROUTEES = 16;
    /** Counts are a cache line apart. */
    private static final int STRIDE = 16;
    private static final long PATIENCE_NANOS = 110_000_000_000L;

    private final AtomicLongArray handled = new AtomicLongArray(ROUTEES * STRIDE);
    private final AtomicInteger next = new AtomicInteger();

    private Router() {}

    static Pass roundRobin() {
        Router routees = new Router();
        return routees.pass(routees.pool().withRoundRobinRouting());
    }

    static Pass byHash() {
        Router routees = new Router();
        return routees.pass(routees.pool().withConsistentHashingRouting(10, put -> Long.toString(put.value())));
    }

    private PoolRouter<Sink.Put> pool() {
        return Routers.pool(ROUTEES, Behaviors.<Sink.Put>setup(context -> routee(next.getAndIncrement() * STRIDE)));
    }

    private Behavior<Sink.Put> routee(int slot) {
        return Behaviors.receiveMessage(message -> {
            handled.lazySet(slot, handled.getPlain(slot) + 1);
            return Behaviors.same();
        });
    }

    private Pass pass(PoolRouter<Sink.Put> pool) {
        Host host = new Host();
        ActorRef<Sink.Put> router = host.spawn(pool);
        ActorRef<Host.Run> sender = host.spawn(Host.job());
        return count -> {
            long before = total();
            long end = System.nanoTime() + PATIENCE_NANOS;
            sender.tell(new Host.Run(context -> {
                for (long value = 0; value < count; value++) {
                    router.tell(new Sink.Put(value));
                }
            }));
            // Looked at often enough not to be seen in the figures.
            while (total() < before + count && System.nanoTime() < end) {
                LockSupport.parkNanos(100_000);
            }
            return total() - before;
        };
    }

    private long total() {
        long sum = 0;
        for (int routee = 0; routee < ROUTEES; routee++) {
            sum += handled.get(routee * STRIDE);
        }
        return sum;
    }
}
