// The same user as in trivial.py, for k6.
import http from "k6/http";

export default function () {
  http.get(__ENV.BENCH_URL);
}
