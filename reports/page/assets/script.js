"use strict";
(() => {
  const root = document.documentElement;
  const status = document.getElementById("status");

  // Theme: the reader's own until the button says otherwise.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = document.getElementById("theme");
  const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
  const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
  });
  dark.addEventListener("change", nameTheme);
  nameTheme();
  theme.hidden = false;

  // Sorting: a table's bodies if it has several, each with what belongs to its first row; else its rows.
  const keyOf = (row, column) => {
    const cell = row.cells[column];
    if ("key" in cell.dataset) return Number(cell.dataset.key);
    const text = cell.textContent.trim();
    const number = Number(text.replace(/[,%]/g, ""));
    return text !== "" && !Number.isNaN(number) ? number : text;
  };
  // Numbers come before words, and where there is nothing comes last, whichever way it is sorted.
  const compare = (a, b, sign) => {
    if (a === "-" || b === "-") return (a === "-") - (b === "-");
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return sign * (typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true }));
  };
  const sort = (table, heads, column) => {
    const head = heads[column];
    const numeric = head.classList.contains("num");
    const now = head.getAttribute("aria-sort");
    const next = now === "none" ? (numeric ? "descending" : "ascending") : now === "ascending" ? "descending" : "ascending";
    for (const other of heads) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", next);
    const groups = table.tBodies.length > 1 ? [...table.tBodies] : [...table.tBodies[0].rows];
    const keys = new Map(groups.map((g) => [g, keyOf(g.rows ? g.rows[0] : g, column)]));
    const sign = next === "ascending" ? 1 : -1;
    groups.sort((a, b) => compare(keys.get(a), keys.get(b), sign));
    groups[0].parentNode.append(...groups);
    status.textContent = `Sorted by ${head.textContent}, ${next}.`;
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      const arrow = document.createElement("span");
      arrow.className = "arrow";
      [...button.childNodes].findLast((n) => n.nodeType === Node.TEXT_NODE).after(arrow);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => sort(table, heads, column));
    });
  }

  // An intent's row opens and closes the row of its hits.
  for (const hits of document.querySelectorAll("tr.hits")) {
    const head = hits.previousElementSibling.cells[0];
    const button = document.createElement("button");
    button.type = "button";
    button.className = "toggle";
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-controls", hits.id);
    button.append(...head.childNodes);
    head.append(button);
    hits.hidden = true;
    button.addEventListener("click", () => {
      hits.hidden = !hits.hidden;
      button.setAttribute("aria-expanded", String(!hits.hidden));
    });
  }

  // One class of intents at a time.
  const sections = [...document.querySelectorAll(".intents")].map((section) => {
    const bodies = [...section.querySelectorAll("tbody")];
    const select = section.querySelector("select");
    const shown = section.querySelector(".shown");
    const all = shown.textContent;
    const show = () => {
      let n = 0;
      for (const body of bodies) {
        body.hidden = select.value !== "" && body.dataset.class !== select.value;
        if (!body.hidden) n++;
      }
      shown.textContent = select.value === "" ? all : `${all} Of class ${select.value}: ${n}.`;
      status.textContent = shown.textContent;
    };
    select.addEventListener("change", show);
    select.parentNode.hidden = false;
    return { select, show };
  });
  for (const link of document.querySelectorAll("a[data-class]")) {
    link.addEventListener("click", () => {
      for (const { select, show } of sections) {
        select.value = link.dataset.class;
        if (select.selectedIndex < 0) select.value = "";
        show();
      }
      if (sections.length > 0) sections[0].select.focus({ preventScroll: true });
    });
  }

  // Paper has no closed parts: the meanings of measures are opened for it.
  const closed = [];
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details.definitions:not([open])")) {
      details.open = true;
      closed.push(details);
    }
  });
  addEventListener("afterprint", () => {
    for (const details of closed.splice(0)) details.open = false;
  });
})();
