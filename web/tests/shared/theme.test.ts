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

test("the device decides until the reader chooses", async () => {
  const { startTheme, theme } = await module();
  startTheme();
  expect(theme.value).toBe("system");
  expect(root.dataset.theme).toBeUndefined();
});

test("a choice is visible to the style sheet and stored", async () => {
  const first = await module();
  first.chooseTheme("dark");
  expect(root.dataset.theme).toBe("dark");
  expect(first.isDark.value).toBe(true);
  delete root.dataset.theme;
  const second = await module();
  second.startTheme();
  expect(root.dataset.theme).toBe("dark");
});

test("a choice can be reset to the device's", async () => {
  const { chooseTheme } = await module();
  chooseTheme("dark");
  chooseTheme("system");
  expect(root.dataset.theme).toBeUndefined();
});

test("without storage a choice lasts as long as the page", async () => {
  const { chooseTheme, theme } = await module();
  const broken = vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new Error("no storage");
  });
  chooseTheme("light");
  broken.mockRestore();
  expect(theme.value).toBe("light");
});
