// The trivial user of trivial.py for k6.
import http from "k6/http";

export default function () {
  http.get(__ENV.BENCH_URL);
}
