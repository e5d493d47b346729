package bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorRef;

/** Timers that are pending, go off, and are cancelled: the system's scheduler. */
final class Timers {
    private static final Duration FAR = Duration.ofHours(1);
    private static final Duration NEAR = Duration.ofMillis(10);
    private static final long WHEEL_NANOS = 6_000_000_000L;

    private final Host host = new Host();
    private final Latch latch = new Latch();
    private final ActorRef<Sink.Put> sink = host.spawn(Sink.create(latch));

    private Timers() {}

    static Pass pending() {
        Timers timers = new Timers();
        List<Cancellable> set = new ArrayList<>();
        return new Pass() {
            @Override
            public long run(long count) {
                for (long index = 0; index < count; index++) {
                    set.add(timers.set(FAR));
                }
                return count;
            }

            @Override
            public void forget() {
                set.forEach(Cancellable::cancel);
                set.clear();
            }

            /** The scheduler drops a cancelled timer when its wheel has come round, which takes five seconds. */
            @Override
            public void settle() {
                LockSupport.parkNanos(WHEEL_NANOS);
            }
        };
    }

    static Pass fire() {
        Timers timers = new Timers();
        return count -> {
            timers.latch.arm(count);
            for (long index = 0; index < count; index++) {
                timers.set(NEAR);
            }
            return timers.latch.await();
        };
    }

    static Pass setAndCancel() {
        Timers timers = new Timers();
        return count -> {
            long cancelled = 0;
            for (long index = 0; index < count; index++) {
                cancelled += timers.set(FAR).cancel() ? 1 : 0;
            }
            return cancelled;
        };
    }

    private Cancellable set(Duration delay) {
        Sink.Put last = new Sink.Put(Sink.LAST);
        return host.system.scheduler().scheduleOnce(delay, () -> sink.tell(last), host.system.executionContext());
    }
}
