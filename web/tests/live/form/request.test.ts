import { describe, expect, it } from "vitest";
import type { Argument } from "../../../src/contract";
import { draftOf, settled, requestOf, type ClassDraft, type Draft } from "../../../src/live/form/request";
import { formOf } from "../examples";

const argument = (changes: Partial<Argument>): Argument => ({
  name: "tenant",
  label: "Tenant",
  help: "",
  kind: "text",
  value: "",
  choices: [],
  required: false,
  ...changes,
});

function asked(changes: Partial<Draft>, form = formOf()) {
  const { request, complaints } = requestOf({ ...draftOf(form), ...changes }, form);
  return { request, fields: complaints.map((each) => each.field) };
}

describe("the form as a request", () => {
  it("equals the server's defaults when nothing was edited", () => {
    const form = formOf({}, { users: 50, spawn_rate: 2.5, thresholds: ["p99 < 200ms"], classes: ["Admin"] });
    expect(requestOf(draftOf(form), form)).toEqual({ request: form.request, complaints: [] });
  });

  it("selects all classes, including later ones, when all are ticked", () => {
    expect(asked({ classes: ["Admin", "Buyer"] }).request.classes).toEqual([]);
    expect(asked({ classes: ["Buyer", "Gone"] }).request.classes).toEqual(["Buyer"]);
  });

  it.each(["", "0", "-3", "1.5", "many"])("does not take %j for a number of users", (users) => {
    expect(asked({ users }).fields).toEqual(["users"]);
  });

  it.each(["", "0", "-1", "fast", "Infinity"])("does not take %j for a spawn rate", (spawn_rate) => {
    expect(asked({ spawn_rate }).fields).toEqual(["spawn_rate"]);
  });

  it("needs a rate instead of users in the open model", () => {
    expect(asked({ model: "open", users: "", spawn_rate: "" }).fields).toEqual(["rate"]);
    expect(asked({ model: "open", rate: " 900/s " }).request).toMatchObject({
      model: "open",
      rate: "900/s",
      users: 10,
    });
  });

  it("needs the text of a written shape, and sends none for others", () => {
    expect(asked({ shape: "stages", shape_text: "", users: "" }).fields).toEqual(["shape_text"]);
    expect(asked({ shape: "stages", shape_text: "30s:50" }).request.shape_text).toBe("30s:50");
    expect(asked({ shape: "constant", shape_text: "30s:50" }).request.shape_text).toBe("");
  });

  it("needs no users when a LoadTestShape sets them", () => {
    expect(asked({ users: "" }, formOf({ has_shape: true })).fields).toEqual([]);
    expect(asked({ users: "", shape_class: "Stairs" }, formOf({ shape_classes: ["Stairs"] })).fields).toEqual([]);
  });

  it("needs at least one class", () => {
    expect(asked({ classes: [] }).fields).toEqual(["classes"]);
    expect(asked({ classes: [] }, formOf({ classes: [] })).fields).toEqual([]);
  });

  it("keeps class settings that the form does not show", () => {
    const form = formOf({}, { class_settings: { Buyer: { weight: 5, host: "http://b" } } });
    expect(requestOf(draftOf(form), form).request.class_settings).toEqual({ Buyer: { weight: 5, host: "http://b" } });
    const { Buyer } = draftOf(form).class_settings;
    const changed = { Buyer: { ...(Buyer as ClassDraft), weight: "", fixed_count: " 2 " } };
    expect(asked({ class_settings: changed }, form).request.class_settings).toEqual({
      Buyer: { fixed_count: 2, host: "http://b" },
    });
  });

  it.each([
    ["weight", "-1"],
    ["weight", "many"],
    ["fixed_count", "1.5"],
    ["fixed_count", "-2"],
  ])("does not take a %s of %j", (attribute, text) => {
    const Admin = { weight: "", fixed_count: "", others: {}, [attribute]: text };
    expect(asked({ class_settings: { Admin } }).fields).toEqual([`class_settings.Admin.${attribute}`]);
  });

  it("shows a class with its new settings", () => {
    const form = formOf({}, { class_settings: { Buyer: { weight: 0.5, fixed_count: 2 } } });
    const [buyer, admin] = form.classes.map((each) => settled(each, draftOf(form)));
    expect(buyer).toMatchObject({ weight: 0.5, fixed_count: 2, tasks: ["browse", "buy"] });
    expect(admin).toEqual(form.classes[1]);
  });

  it("names the missing argument", () => {
    const form = formOf({ arguments: [argument({ required: true }), argument({ name: "other" })] });
    expect(asked({}, form).fields).toEqual(["arguments.tenant"]);
    expect(asked({ arguments: { tenant: "acme", other: "" } }, form).fields).toEqual([]);
  });

  it("keeps a secret when the field is empty, and sends a typed one", () => {
    const form = formOf({ arguments: [argument({ name: "key", kind: "secret", required: true })] });
    expect(asked({}, form)).toMatchObject({ fields: [], request: { arguments: {} } });
    expect(asked({ arguments: { key: "s3cret" } }, form).request.arguments).toEqual({ key: "s3cret" });
  });

  it("never contains a secret of the last run", () => {
    const form = formOf({ arguments: [argument({ name: "key", kind: "secret" })] }, { arguments: { key: "old" } });
    expect(draftOf(form).arguments).toEqual({ key: "" });
  });

  it("has a threshold for each line that is not empty", () => {
    expect(asked({ thresholds: " p99 < 200ms\n\nerrors < 0.1% " }).request.thresholds).toEqual([
      "p99 < 200ms",
      "errors < 0.1%",
    ]);
  });
});
