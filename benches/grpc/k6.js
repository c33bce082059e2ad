// The same call for k6. Each of its users has a connection of its own.
import grpc from "k6/net/grpc";

const client = new grpc.Client();
client.load([], "bench.proto");
let isConnected = false;

export default function () {
  if (!isConnected) {
    client.connect(__ENV.BENCH_HOST, { plaintext: true });
    isConnected = true;
  }
  client.invoke("bench.Bench/Call", JSON.parse(__ENV.BENCH_MESSAGE));
}
