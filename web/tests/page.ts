import { type ComponentChild, render } from "preact";
import { act } from "preact/test-utils";
import { afterEach } from "vitest";

const places: HTMLElement[] = [];

afterEach(() => {
  for (const place of places.splice(0)) {
    render(null, place);
    place.remove();
  }
});

/** Renders into the page until the test ends. `draw` renders something else in its place. */
export function shown(what: ComponentChild) {
  const place = document.body.appendChild(document.createElement("div"));
  places.push(place);
  const draw = (next: ComponentChild) => act(() => render(next, place));
  void draw(what);
  return {
    place,
    draw,
    /** The first match; throws if there is none. */
    one: <E extends HTMLElement = HTMLElement>(selector: string): E => found<E>(place, selector),
    all: <E extends HTMLElement = HTMLElement>(selector: string): E[] => [...place.querySelectorAll<E>(selector)],
    /** The text of each match. */
    texts: (selector: string): string[] => [...place.querySelectorAll(selector)].map((each) => each.textContent),
  };
}

/** Acts on the page and waits for the render. */
export function doing(what: () => void): void {
  void act(what);
}

export function typed(field: HTMLInputElement, text: string): void {
  doing(() => {
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

export function picked(field: HTMLSelectElement, value: string): void {
  doing(() => {
    field.value = value;
    field.dispatchEvent(new Event("change", { bubbles: true }));
  });
}

export function pressed(element: HTMLElement, key: string): void {
  doing(() => element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })));
}

function found<E extends HTMLElement>(place: HTMLElement, selector: string): E {
  const element = place.querySelector<E>(selector);
  if (!element) throw new Error(`nothing on the page is ${selector}`);
  return element;
}
