package bench;

import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/** A tree of actors, ten children each, that sums its leaves up; actors stop when they have reported. */
final class Skynet {
    record Total(long sum) {}

    private final ActorRef<Total> parent;
    private long sum;
    private int missing = 10;

    private Skynet(ActorRef<Total> parent) {
        this.parent = parent;
    }

    static Pass setUp() {
        Host host = new Host();
        Latch latch = new Latch();
        ActorRef<Total> top = host.spawn(Behaviors.receiveMessage(total -> {
            latch.arrive(total.sum());
            return Behaviors.same();
        }));
        return leaves -> {
            latch.arm(1);
            host.spawn(node(top, 0, leaves));
            Expect.handled(leaves * (leaves - 1) / 2, latch.await());
            return leaves;
        };
    }

    private static Behavior<Total> node(ActorRef<Total> parent, long first, long leaves) {
        return Behaviors.setup(context -> {
            if (leaves == 1) {
                parent.tell(new Total(first));
                return Behaviors.stopped();
            }
            grow(context, first, leaves / 10);
            return Behaviors.receiveMessage(new Skynet(parent)::add);
        });
    }

    private static void grow(ActorContext<Total> context, long first, long share) {
        for (int index = 0; index < 10; index++) {
            context.spawnAnonymous(node(context.getSelf(), first + index * share, share));
        }
    }

    private Behavior<Total> add(Total total) {
        sum += total.sum();
        missing--;
        if (missing > 0) {
            return Behaviors.same();
        }
        parent.tell(new Total(sum));
        return Behaviors.stopped();
    }
}
