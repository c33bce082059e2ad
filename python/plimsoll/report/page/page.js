// The page without this script is complete but for its charts: everything else is in the HTML.
"use strict";
(() => {
  const root = document.documentElement;
  const main = document.querySelector("main");

  // --- light and dark: colours of charts are variables of the style sheet, so nothing is drawn again -----------------
  const theme = document.querySelector(".theme");
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches);
  const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.hidden = false;
  theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; nameTheme(); });
  prefersDark.addEventListener("change", nameTheme);
  nameTheme();

  // --- charts --------------------------------------------------------------------------------------------------------
  const { charts, config } = JSON.parse(document.getElementById("data").textContent);
  const BESIDE = 62; // px of a chart that are not its plot: the labels of the y axis
  const drawn = new Map(); // element → the width that it was drawn for

  const widthOf = (plot) => {
    // What is in a closed tab or detail has no width of its own: that of the nearest ancestor with one is what it will get.
    let at = plot;
    while (at && !at.clientWidth) at = at.parentElement;
    if (!at) return 640;
    const style = getComputedStyle(at);
    const inner = at.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const pair = plot.closest(".pair");
    return pair && at !== plot && inner > 1000 ? (inner - 40) / 2 : inner;
  };
  const draw = async (plot) => {
    const width = Math.floor(widthOf(plot));
    if (drawn.get(plot) === width) return;
    drawn.set(plot, width);
    const chart = charts[plot.dataset.chart];
    const beside = chart.usermeta?.beside ?? BESIDE;
    const spec = { ...chart, width: Math.max(120, Math.min(width, 960) - beside), title: undefined };
    try {
      await vegaEmbed(plot, spec, { mode: "vega-lite", actions: false, renderer: "svg", ast: true, config, logLevel: 1 });
      // The picture has a description of its own; its single marks would be read out one by one.
      plot.querySelector("svg")?.setAttribute("aria-hidden", "true");
    } catch (error) {
      plot.replaceChildren(Object.assign(document.createElement("p"), { className: "failed", textContent: `This chart could not be drawn: ${error.message}` }));
      console.error(error);
    }
  };
  const plots = [...document.querySelectorAll("[data-chart]")];
  const seen = new IntersectionObserver((entries) => {
    for (const each of entries) if (each.isIntersecting) draw(each.target);
  }, { rootMargin: "300px" });
  plots.forEach((plot) => seen.observe(plot));
  // The others when there is nothing else to do, so that they are there when the page is printed.
  const rest = plots.slice();
  const idle = window.requestIdleCallback ?? ((work) => setTimeout(work, 30));
  const next = async () => {
    const plot = rest.shift();
    if (!plot) { root.dataset.drawn = "all"; return; }
    if (!drawn.has(plot)) await draw(plot);
    idle(next);
  };
  idle(next);
  let wait;
  addEventListener("resize", () => {
    clearTimeout(wait);
    wait = setTimeout(() => { if (!matchMedia("print").matches) plots.filter((plot) => plot.clientWidth).forEach(draw); }, 200);
  });
  // A plot that was drawn while it was hidden is drawn anew if it turns out to have another width.
  const shown = (element) => element.querySelectorAll("[data-chart]").forEach((plot) => { if (plot.clientWidth) draw(plot); });
  document.addEventListener("toggle", (event) => { if (event.target.open) shown(event.target); }, true);

  // --- tabs (ARIA authoring practices: arrows, Home, End; only the selected one is in the order of Tab) ----------------
  for (const list of document.querySelectorAll('[role="tablist"]')) {
    const tabs = [...list.querySelectorAll('[role="tab"]')];
    const select = (tab, focus) => {
      for (const each of tabs) {
        const chosen = each === tab;
        each.setAttribute("aria-selected", chosen);
        each.tabIndex = chosen ? 0 : -1;
        const panel = document.getElementById(each.getAttribute("aria-controls"));
        panel.hidden = !chosen;
        if (chosen) shown(panel);
      }
      if (focus) tab.focus();
    };
    tabs.forEach((tab, place) => {
      tab.addEventListener("click", () => select(tab));
      tab.addEventListener("keydown", (event) => {
        const to = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: tabs.length - 1 }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        select(tabs[(to + tabs.length) % tabs.length], true);
      });
    });
    select(tabs[0]);
  }

  // --- one run of many -------------------------------------------------------------------------------------------------
  for (const menu of document.querySelectorAll("select[data-shows]")) {
    const parts = [...document.querySelectorAll(`[data-part="${menu.dataset.shows}"]`)];
    const show = () => parts.forEach((part) => { part.hidden = part.dataset.key !== menu.value; if (!part.hidden) shown(part); });
    menu.addEventListener("change", show);
    show();
  }

  // --- tables: sort by a click on a title, filter by text and by verdict ----------------------------------------------
  const number = (text) => {
    const found = text.replace(/[\s\u00a0≥]/g, "").replace(/^−/, "-").match(/^[×[<>+]*(-?\d+(?:\.\d+)?)/);
    return found ? parseFloat(found[1]) : NaN;
  };
  const compare = (a, b) => {
    const [x, y] = [number(a), number(b)];
    if (!isNaN(x) && !isNaN(y)) return x - y;
    if (isNaN(x) !== isNaN(y)) return isNaN(x) ? 1 : -1;
    return a.localeCompare(b, undefined, { numeric: true });
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0];
    const original = [...body.rows];
    [...table.tHead.rows[0].cells].forEach((head, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const way = { ascending: "descending", descending: null }[head.getAttribute("aria-sort")];
        const order = way === undefined ? "ascending" : way;
        for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
        if (order) head.setAttribute("aria-sort", order);
        const sign = order === "descending" ? -1 : 1;
        const key = (row) => row.cells[place]?.textContent.trim() ?? "";
        const isTotal = (row) => row.classList.contains("total");
        const rows = order ? original.slice().sort((a, b) => isTotal(a) - isTotal(b) || sign * compare(key(a), key(b))) : original;
        body.append(...rows);
      });
    });
  }
  for (const tools of document.querySelectorAll(".tools[data-table]")) {
    const body = document.getElementById(tools.dataset.table).tBodies[0];
    const text = tools.querySelector("input");
    const word = tools.querySelector("select");
    const count = tools.querySelector("output");
    const filter = () => {
      const wanted = text.value.trim().toLowerCase().split(/\s+/);
      let left = 0;
      for (const row of body.rows) {
        const has = row.textContent.toLowerCase();
        row.hidden = !(wanted.every((each) => has.includes(each)) && (!word || !word.value || row.dataset.word === word.value));
        left += !row.hidden;
      }
      count.textContent = `${left} of ${body.rows.length} rows`;
    };
    tools.hidden = false;
    text.addEventListener("input", filter);
    word?.addEventListener("change", filter);
    filter();
  }

  // --- where in the page the reader is; everything is open on paper ----------------------------------------------------
  const links = [...document.querySelectorAll(".bar nav a")];
  const spy = new IntersectionObserver((entries) => {
    for (const each of entries) {
      if (!each.isIntersecting) continue;
      for (const link of links) link.toggleAttribute("aria-current", link.hash === `#${each.target.id}`);
    }
  }, { rootMargin: "-20% 0px -70% 0px" });
  document.querySelectorAll("main > section[id]").forEach((section) => spy.observe(section));
  addEventListener("beforeprint", () => {
    for (const each of main.querySelectorAll(".findings details, .level")) each.open = true;
    root.dataset.before = root.dataset.theme ?? "";
    root.dataset.theme = "light";
  });
  addEventListener("afterprint", () => {
    if (root.dataset.before) root.dataset.theme = root.dataset.before;
    else delete root.dataset.theme;
  });
})();
