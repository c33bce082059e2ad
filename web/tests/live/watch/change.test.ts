import { describe, expect, it } from "vitest";
import { changeOf, editOf, type Edit } from "../../../src/live/watch/change";
import { formOf, testOf } from "../examples";

function changed(edit: Partial<Edit>, model: "closed" | "open" = "closed") {
  const test = testOf({ model, users: 40, wanted: 50 });
  const before = editOf(test, formOf());
  const { change, complaints } = changeOf(before, { ...before, ...edit }, test);
  return { change, fields: complaints.map((each) => each.field) };
}

describe("another load", () => {
  it("begins with the users that are wanted, not with those that are there already", () => {
    expect(editOf(testOf({ users: 40, wanted: 50 }), formOf())).toMatchObject({ users: "50", spawn_rate: "2" });
  });

  it("leaves classes alone that nobody has touched", () => {
    expect(changed({ users: "80" })).toEqual({
      change: { users: 80, spawn_rate: 2, classes: null, rate: null },
      fields: [],
    });
    expect(changed({ classes: ["Admin"] }).change.classes).toEqual(["Admin"]);
  });

  it("keeps the spawn rate when none is given", () => {
    expect(changed({ spawn_rate: "" }).change.spawn_rate).toBeNull();
  });

  it("says what is wrong", () => {
    expect(changed({ users: "x", spawn_rate: "-1", classes: [] }).fields).toEqual(["users", "spawn_rate", "classes"]);
    expect(changed({ rate: " " }, "open").fields).toEqual(["rate"]);
  });

  it("is a rate in the open model, and nothing else", () => {
    expect(changed({ rate: "100/s", users: "x" }, "open")).toEqual({
      change: { users: null, spawn_rate: null, classes: null, rate: "100/s" },
      fields: [],
    });
  });
});
