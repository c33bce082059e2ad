// A message of 100 bytes, sent again when the next one has come, for k6.
import { setTimeout } from "k6/timers";
import { WebSocket } from "k6/websockets";

const message = "x".repeat(100);

export default function () {
  const socket = new WebSocket(__ENV.BENCH_URL);
  socket.onopen = () => {
    socket.send(message);
    setTimeout(() => socket.close(), __ENV.BENCH_SECONDS * 1000);
  };
  socket.onmessage = () => socket.send(message);
}
