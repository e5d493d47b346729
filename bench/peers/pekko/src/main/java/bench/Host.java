package bench;

import com.typesafe.config.ConfigFactory;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.Props;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/** A system whose guardian spawns what it is asked for; default dispatcher, logging off. */
final class Host {
    /** Work to do in the handler of an actor. */
    record Run(Consumer<ActorContext<Run>> work) {}

    private static final String CONFIG =
            """
            pekko.loglevel = OFF
            pekko.stdout-loglevel = OFF
            pekko.log-dead-letters = off
            waiting-mailbox {
              mailbox-type = "org.apache.pekko.dispatch.BoundedMailbox"
              mailbox-capacity = 1024
              mailbox-push-timeout-time = 100s
            }
            """;

    final ActorSystem<Run> system =
            ActorSystem.create(job(), "bench", ConfigFactory.parseString(CONFIG).withFallback(ConfigFactory.load()));

    static Behavior<Run> job() {
        return Behaviors.receive((context, message) -> {
            message.work().accept(context);
            return Behaviors.same();
        });
    }

    <T> ActorRef<T> spawn(Behavior<T> behavior) {
        return spawn(behavior, Props.empty());
    }

    <T> ActorRef<T> spawn(Behavior<T> behavior, Props props) {
        CompletableFuture<ActorRef<T>> spawned = new CompletableFuture<>();
        system.tell(new Run(context -> spawned.complete(context.spawnAnonymous(behavior, props))));
        return spawned.join();
    }
}
