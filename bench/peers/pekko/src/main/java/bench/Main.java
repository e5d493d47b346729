package bench;

import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * The workloads of the benchmark on Pekko: {@code list} names those it offers, {@code run WORKLOAD --ops N …} measures
 * one and prints one line of JSON, {@code serve WORKLOAD} is the second process of a workload between two.
 */
public final class Main {
    private static final Map<String, Supplier<Pass>> WORKLOADS = new TreeMap<>();

    static {
        WORKLOADS.put("tell", Tell::oneToOne);
        WORKLOADS.put("tell/outside", Tell::outside);
        WORKLOADS.put("tell/bounded", Tell::bounded);
        WORKLOADS.put("fan-in", Tell::fanIn);
        WORKLOADS.put("fan-out", Tell::fanOut);
        WORKLOADS.put("pairs", Pairs::setUp);
        WORKLOADS.put("ask", Ask::oneByOne);
        WORKLOADS.put("tokio-ask", () -> Ask.crowd(64));
        WORKLOADS.put("tokio-ask/one", () -> Ask.crowd(1));
        WORKLOADS.put("spawn", Spawn::named);
        WORKLOADS.put("skynet", Skynet::setUp);
        WORKLOADS.put("timers", Timers::pending);
        WORKLOADS.put("timers/fire", Timers::fire);
        WORKLOADS.put("timers/set-cancel", Timers::setAndCancel);
        WORKLOADS.put("restart", () -> Restart.setUp(Restart.Failure.ERROR));
        WORKLOADS.put("restart/panic", () -> Restart.setUp(Restart.Failure.PANIC));
        WORKLOADS.put("stash", Stash::setUp);
        WORKLOADS.put("router", Router::roundRobin);
        WORKLOADS.put("router/hash", Router::byHash);
        WORKLOADS.put("topic", TopicFanOut::setUp);
        WORKLOADS.put("events", Events::setUp);
        WORKLOADS.put("stream", Streams::setUp);
    }

    public static void main(String[] arguments) {
        try {
            if (arguments.length == 1 && arguments[0].equals("list")) {
                WORKLOADS.keySet().forEach(System.out::println);
                RemoteCaller.WORKLOADS.forEach(System.out::println);
            } else if (arguments.length == 2 && arguments[0].equals("serve")) {
                RemoteNode.serve(arguments[1]);
            } else if (arguments.length > 1 && arguments[0].equals("run")) {
                run(arguments[1], Sizes.parse(arguments));
            } else {
                throw new IllegalArgumentException("usage: list | run WORKLOAD --ops N --operations N --warm-up N");
            }
        } catch (Throwable problem) {
            problem.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
        // Leaves at once: taking down a million actors is not what is measured.
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static void run(String name, Sizes sizes) throws IOException {
        if (RemoteCaller.WORKLOADS.contains(name)) {
            System.out.println(Measurement.between(name, sizes));
            return;
        }
        Supplier<Pass> workload = WORKLOADS.get(name);
        if (workload == null) {
            throw new IllegalArgumentException(name + " is not offered");
        }
        System.out.println(new Measurement(name, workload.get(), sizes).run());
    }
}
