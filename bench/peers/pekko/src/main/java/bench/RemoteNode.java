package bench;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSelection;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.Address;
import org.apache.pekko.actor.ExtendedActorSystem;

/** One of the two processes: a system with Artery over TCP on loopback. Classic actors, whose messages need no references. */
final class RemoteNode {
    static final int PAIRS = 1_000;

    private static final int ATTEMPTS = 8;

    /** Queues that hold what the senders have under way, and a lane of their own for large messages. */
    private static final String CONFIG =
            """
            pekko.loglevel = OFF
            pekko.stdout-loglevel = OFF
            pekko.log-dead-letters = off
            pekko.actor.provider = remote
            pekko.actor.serialization-bindings { "com.google.protobuf.GeneratedMessageV3" = proto }
            pekko.remote.artery {
              transport = tcp
              canonical { hostname = "127.0.0.1", port = 0 }
              large-message-destinations = ["/user/large"]
              advanced {
                outbound-message-queue-size = 65536
                maximum-large-frame-size = 2 MiB
              }
            }
            """;

    final ActorSystem system;

    RemoteNode(String name) {
        Config config = ConfigFactory.parseString(CONFIG).withFallback(ConfigFactory.load());
        system = ActorSystem.create(name, config);
    }

    int port() {
        Address address = ((ExtendedActorSystem) system).provider().getDefaultAddress();
        return (Integer) address.port().get();
    }

    /** Asks again while the connection is being made: what is asked before that may be lost. */
    ActorRef resolve(int port, String name) {
        ActorSelection selection = system.actorSelection("pekko://there@127.0.0.1:" + port + "/user/" + name);
        for (int attempt = 1; ; attempt++) {
            try {
                return selection.resolveOne(Duration.ofSeconds(5)).toCompletableFuture().join();
            } catch (CompletionException absent) {
                if (attempt == ATTEMPTS) {
                    throw absent;
                }
            }
        }
    }

    /** Brings up the actors of a workload and answers questions about this process until stdin ends. */
    static void serve(String workload) {
        RemoteNode there = new RemoteNode("there");
        int receivers = workload.equals("remote-tell/many") ? PAIRS : 1;
        for (int index = 0; index < receivers; index++) {
            there.system.actorOf(Desk.props(workload), "desk-" + index);
        }
        there.system.actorOf(Desk.props(workload), "large");
        Partner.answerQuestions(Integer.toString(there.port()));
    }
}
