// 50 virtual users: as many requests as possible, or 500/s. TRUTH_EXECUTOR selects.
import http from 'k6/http';

const duration = `${__ENV.TRUTH_SECONDS}s`;
const executors = {
  'constant-vus': { executor: 'constant-vus', vus: 50, duration },
  'constant-arrival-rate': {
    executor: 'constant-arrival-rate', rate: 500, timeUnit: '1s', duration, preAllocatedVUs: 50, maxVUs: 50,
  },
};

export const options = { scenarios: { truth: executors[__ENV.TRUTH_EXECUTOR] } };

export default function () {
  http.get(__ENV.TRUTH_URL);
}
