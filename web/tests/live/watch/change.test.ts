import { describe, expect, it } from "vitest";
import { changeOf, editOf, type Edit } from "../../../src/live/watch/change";
import { formOf, testOf } from "../examples";

function changed(edit: Partial<Edit>, model: "closed" | "open" = "closed") {
  const test = testOf({ model, users: 40, wanted: 50 });
  const before = editOf(test, formOf());
  const { change, complaints } = changeOf(before, { ...before, ...edit }, test);
  return { change, fields: complaints.map((each) => each.field) };
}

describe("a load change", () => {
  it("starts with the wanted users, not with the current ones", () => {
    expect(editOf(testOf({ users: 40, wanted: 50 }), formOf())).toMatchObject({ users: "50", spawn_rate: "2" });
  });

  it("leaves unedited classes unchanged", () => {
    expect(changed({ users: "80" })).toEqual({
      change: { users: 80, spawn_rate: 2, classes: null, rate: null },
      fields: [],
    });
    expect(changed({ classes: ["Admin"] }).change.classes).toEqual(["Admin"]);
  });

  it("keeps the spawn rate when the field is empty", () => {
    expect(changed({ spawn_rate: "" }).change.spawn_rate).toBeNull();
  });

  it("reports errors", () => {
    expect(changed({ users: "x", spawn_rate: "-1", classes: [] }).fields).toEqual(["users", "spawn_rate", "classes"]);
    expect(changed({ rate: " " }, "open").fields).toEqual(["rate"]);
  });

  it("contains only a rate in the open model", () => {
    expect(changed({ rate: "100/s", users: "x" }, "open")).toEqual({
      change: { users: null, spawn_rate: null, classes: null, rate: "100/s" },
      fields: [],
    });
  });
});
