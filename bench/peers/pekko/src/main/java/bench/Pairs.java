package bench;

import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/** Sixty-four pairs tell a falling number back and forth. */
final class Pairs {
    private static final int PAIRS = 64;

    /** Whoever gets the ball tells it on to {@code from}. */
    record Ball(long left, ActorRef<Ball> from) {}

    private final ActorContext<Ball> context;
    private final Latch latch;
    private long handled;

    private Pairs(ActorContext<Ball> context, Latch latch) {
        this.context = context;
        this.latch = latch;
    }

    static Pass setUp() {
        Host host = new Host();
        Latch latch = new Latch();
        List<ActorRef<Ball>> players = new ArrayList<>();
        for (int index = 0; index < 2 * PAIRS; index++) {
            players.add(host.spawn(Behaviors.<Ball>setup(context ->
                    Behaviors.receiveMessage(new Pairs(context, latch)::play))));
        }
        return count -> {
            // A served ball n is handled n + 1 times.
            long share = Math.max(count / PAIRS, 2);
            latch.arm(2 * PAIRS);
            for (int index = 0; index < 2 * PAIRS; index += 2) {
                players.get(index).tell(new Ball(share - 1, players.get(index + 1)));
            }
            Expect.handled(share * PAIRS, latch.await());
            return count;
        };
    }

    private Behavior<Ball> play(Ball ball) {
        handled++;
        if (ball.left() > 0) {
            ball.from().tell(new Ball(ball.left() - 1, context.getSelf()));
        }
        if (ball.left() <= 1) {
            long count = handled;
            handled = 0;
            latch.arrive(count);
        }
        return Behaviors.same();
    }
}
