import { afterEach, describe, expect, test } from "vitest";
import {
  ago,
  amount,
  bytes,
  clock,
  count,
  dateTime,
  duration,
  milliseconds,
  rate,
  seconds,
  share,
  timeOfDay,
} from "../../src/shared/format";

/** Narrow spaces as normal spaces. */
const plain = (text: string) => text.replace(/\u202f/g, " ");

describe("a number", () => {
  test.each([
    [0, "0"],
    [0.0002, "<0.001"],
    [0.1134, "0.113"],
    [0.9996, "1.00"],
    [1.236, "1.24"],
    [9.996, "10.0"],
    [12.34, "12.3"],
    [99.96, "100"],
    [853.4, "853"],
    [12345.6, "12 346"],
    [-3.2, "-3.20"],
    [null, "–"],
  ])("%f is %s: three digits, never whole milliseconds where that hides something", (value, text) => {
    expect(plain(amount(value))).toBe(text);
  });

  test("can be a lower bound with a mark", () => {
    expect(milliseconds(30000, true)).toBe("≥30\u202f000");
    expect(duration(30000, true)).toBe("≥30.0 s");
    expect(milliseconds(null, true)).toBe("–");
  });

  test.each([
    [999, "999"],
    [1000, "1 000"],
    [1234567, "1 234 567"],
    [-1234, "−1 234"],
  ])("of things: %i is %s", (value, text) => {
    expect(plain(count(value))).toBe(text);
  });
});

describe("a duration", () => {
  test.each([
    [0.113, "0.113 ms"],
    [12.34, "12.3 ms"],
    [999.4, "999 ms"],
    [1000, "1.00 s"],
    [1240, "1.24 s"],
    [59940, "59.9 s"],
    [59960, "1 min"],
    [125000, "2 min 5 s"],
    [3780000, "1 h 3 min"],
    [null, "–"],
  ])("of %f ms is %s", (value, text) => {
    expect(duration(value)).toBe(text);
  });

  test("of whole seconds has no decimals", () => {
    expect(seconds(30)).toBe("30 s");
    expect(seconds(1.2)).toBe("1.20 s");
  });

  test.each([
    [0, "0:00"],
    [34.9, "0:34"],
    [725, "12:05"],
    [3725, "1:02:05"],
    [-1, "0:00"],
  ])("on a stopwatch: %f s is %s", (value, text) => {
    expect(clock(value)).toBe(text);
  });
});

describe("a share", () => {
  test.each([
    [0, 100, "0 %"],
    [100, 100, "100 %"],
    [1, 1_000_000, "<0.01 %"],
    [999_999, 1_000_000, ">99.99 %"],
    [1, 300, "0.33 %"],
    [50, 300, "16.7 %"],
    [9_997, 10_000, "99.97 %"],
    [1, 0, "–"],
  ])("%i of %i is %s: what is there is never shown as nothing", (part, whole, text) => {
    expect(share(part, whole)).toBe(text);
  });
});

test.each([
  [0, "0"],
  [0.004, "<0.01"],
  [0.25, "0.25"],
  [12.34, "12.3"],
  [930.2, "930"],
])("a rate of %f is %s", (value, text) => {
  expect(rate(value)).toBe(text);
});

test.each([
  [512, "512 B"],
  [1024, "1.00 KiB"],
  [1_572_864, "1.50 MiB"],
  [null, "–"],
])("%i bytes are %s", (value, text) => {
  expect(bytes(value)).toBe(text);
});

test.each([
  [10, "just now"],
  [50, "1 min ago"],
  [3599, "59 min ago"],
  [7300, "2 h ago"],
  [90_000, "1 day ago"],
  [5 * 86_400, "5 days ago"],
])("%i s before now is %s", (past, text) => {
  expect(ago(1_000_000_000 - past, 1_000_000_000)).toBe(text);
});

test("an old moment is shown as a date", () => {
  expect(ago(0, 30 * 86_400)).toContain("1970");
});

describe("times of day", () => {
  const zone = process.env.TZ;
  afterEach(() => {
    process.env.TZ = zone;
  });

  test.each([
    ["UTC", "13:46:40", /UTC$/],
    ["Europe/Berlin", "15:46:40", /(GMT\+2|CEST)$/],
    ["America/New_York", "09:46:40", /EDT$/],
  ])("of %s have their zone", (name, time, ending) => {
    process.env.TZ = name;
    expect(timeOfDay(1_000_000_000 + 12 * 3600)).toMatch(new RegExp(`^${time} `));
    expect(timeOfDay(1_000_000_000 + 12 * 3600)).toMatch(ending);
    expect(dateTime(1_000_000_000 + 12 * 3600)).toMatch(ending);
  });
});
