import type { EndpointRow, Form, LiveUpdate, State, Test } from "../../src/contract";

/** Complete messages of the server, with the changes of a test. */

export function rowOf(changes: Partial<EndpointRow> = {}): EndpointRow {
  return {
    method: "GET",
    name: "/",
    requests: 100,
    failures: 0,
    unanswered: 0,
    rps: 10,
    failures_per_s: 0,
    current_rps: 12.34,
    current_failures_per_s: 0,
    current_p50: 0.4123,
    current_p95: 2,
    current_p99: 21.48,
    mean: 3,
    min: 0.1,
    p50: 0.4,
    p90: 1,
    p95: 2,
    p99: 20,
    p999: 100,
    max: 853,
    service_p50: 0.39,
    service_p99: 19,
    size: 1234,
    waited_s: 0.3,
    at_least: [],
    few: [],
    shares: {},
    ...changes,
  };
}

export function testOf(changes: Partial<Test> = {}): Test {
  return {
    run: "",
    number: 1,
    name: "locustfile.py",
    title: "locustfile.py · 50 users · http://127.0.0.1:8000",
    status: "running",
    model: "closed",
    load: "50 users",
    host: "http://127.0.0.1:8000",
    started: 1000,
    elapsed: 10,
    left: 110,
    users: 50,
    wanted: 50,
    workers: 1,
    warmup: 0,
    is_editable: true,
    message: "",
    exit_code: null,
    ...changes,
  };
}

export function momentOf(changes: Partial<LiveUpdate> = {}): LiveUpdate {
  return {
    sequence: 1,
    test: testOf(),
    headline: null,
    total: null,
    rows: [],
    is_whole: false,
    row_age: 1,
    appended: {},
    is_outdated: false,
    failures: 0,
    exceptions: 0,
    workers: [],
    log: [],
    ...changes,
  };
}

export function formOf(changes: Partial<Form> = {}, request: Partial<Form["request"]> = {}): Form {
  return {
    source: "locustfile.py",
    is_native: false,
    classes: [
      { name: "Buyer", weight: 3, fixed_count: 0, tasks: ["browse", "buy"], host: "" },
      { name: "Admin", weight: 1, fixed_count: 0, tasks: ["report"], host: "" },
    ],
    shapes: [
      { name: "constant", label: "Constant", hint: "The same.", open_example: "900/s", closed_example: "50" },
      { name: "stages", label: "Stages", hint: "To each level.", open_example: "30s:9/s", closed_example: "30s:9" },
    ],
    shape_classes: [],
    tags: [],
    arguments: [],
    has_shape: false,
    has_plan: false,
    first_source: "",
    error: "",
    ...changes,
    request: {
      model: "closed",
      users: 10,
      spawn_rate: 2,
      rate: "",
      shape: "constant",
      shape_text: "",
      shape_class: "",
      run_time: "2m",
      warmup: "",
      stop_timeout: "",
      host: "http://127.0.0.1:8000",
      classes: [],
      class_settings: {},
      tags: [],
      exclude_tags: [],
      arguments: {},
      profile: "",
      name: "",
      thresholds: [],
      ...request,
    },
  };
}

export function stateOf(changes: Partial<State> = {}): State {
  return { version: "1.0", token: "t", mode: "run", store: "plimsoll.db", form: formOf(), test: null, ...changes };
}
