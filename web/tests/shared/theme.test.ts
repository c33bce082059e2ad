import { beforeEach, expect, test, vi } from "vitest";

const root = document.documentElement;

async function module() {
  vi.resetModules();
  return import("../../src/shared/theme");
}

beforeEach(() => {
  localStorage.clear();
  delete root.dataset.theme;
});

test("the device decides until somebody chooses", async () => {
  const { startTheme, theme } = await module();
  startTheme();
  expect(theme.value).toBe("system");
  expect(root.dataset.theme).toBeUndefined();
});

test("a choice is seen by the style sheet, and kept for the next time", async () => {
  const first = await module();
  first.chooseTheme("dark");
  expect(root.dataset.theme).toBe("dark");
  expect(first.isDark.value).toBe(true);
  delete root.dataset.theme;
  const second = await module();
  second.startTheme();
  expect(root.dataset.theme).toBe("dark");
});

test("a choice can be given back to the device", async () => {
  const { chooseTheme } = await module();
  chooseTheme("dark");
  chooseTheme("system");
  expect(root.dataset.theme).toBeUndefined();
});

test("where nothing can be kept it holds as long as the page does", async () => {
  const { chooseTheme, theme } = await module();
  const broken = vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new Error("no storage");
  });
  chooseTheme("light");
  broken.mockRestore();
  expect(theme.value).toBe("light");
});
