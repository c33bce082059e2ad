import { afterEach, expect, test } from "vitest";
import { dragged, select, shownSpan, zoomed } from "../../src/charts/zoom";
import { chart } from "../blocks/sample";

const course = (name: string, params: object[] = []) => chart(name, { spec: { usermeta: { course: name }, params } });

afterEach(() => {
  zoomed.value = null;
  dragged.value = null;
});

test("whole seconds between both ends of a drag are selected, in either direction", () => {
  dragged.value = { course: "run", from: 12.4, until: 12.4, x: 100 };
  dragged.value = { ...dragged.value, until: 7.9 };
  select(40, 0);
  expect(zoomed.value).toEqual({ course: "run", from: 7, until: 13 });
  expect(dragged.value).toBeNull();
});

test("a click selects nothing, and a second at least is selected", () => {
  dragged.value = { course: "run", from: 3.2, until: 3.2, x: 100 };
  select(103, 1000);
  expect(zoomed.value).toBeNull();
  dragged.value = { course: "run", from: 3, until: 3, x: 100 };
  select(110, 2000);
  expect(zoomed.value).toMatchObject({ from: 3, until: 4 });
});

test("a double click shows all again", () => {
  zoomed.value = { course: "run", from: 7, until: 13 };
  for (const now of [5000, 5200]) {
    expect(zoomed.value).not.toBeNull();
    dragged.value = { course: "run", from: 8, until: 8, x: 100 };
    select(100, now);
  }
  expect(zoomed.value).toBeNull();
});

test("charts of the same run show the selection, others what they showed before", () => {
  zoomed.value = { course: "run", from: 7, until: 13 };
  expect(shownSpan(course("run"), { from: 0, until: 60 })).toEqual({ from: 7, until: 13 });
  expect(shownSpan(course("other"), { from: 0, until: 60 })).toEqual({ from: 0, until: 60 });
});

test("without a selection a chart shows what its specification says", () => {
  const params = [
    { name: "from", value: 0 },
    { name: "until", value: 42 },
  ];
  expect(shownSpan(course("run", params), undefined)).toEqual({ from: 0, until: 42 });
  expect(shownSpan(course("run"), undefined)).toBeUndefined();
});
