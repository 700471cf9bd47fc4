// Sorting and filtering of a page that is complete without them. No data lives here: rows are moved and hidden.
"use strict";
(() => {
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const root = document.documentElement;

  // Light and dark: the system's choice until the button is used.
  const toggle = document.getElementById("theme");
  if (toggle) {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const now = () => root.dataset.theme || (dark.matches ? "dark" : "light");
    const say = () => { toggle.textContent = now() === "dark" ? "Light page" : "Dark page"; };
    toggle.addEventListener("click", () => { root.dataset.theme = now() === "dark" ? "light" : "dark"; say(); });
    dark.addEventListener("change", say);
    toggle.hidden = false;
    say();
  }

  // Sorting: headings become buttons; ascending, descending, as it was. Groups (several tbody) move whole.
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  const number = (text) => {
    const found = /^[^\d+\-−]*([+\-−]?[\d,]*\.?\d+)/.exec(text);
    return found ? parseFloat(found[1].replace(/,/g, "").replace("−", "-")) : NaN;
  };
  for (const table of all("table[data-sortable]")) {
    const parts = all(":scope > tbody", table);
    const movable = parts.length > 1 ? parts : [...(parts[0]?.rows ?? [])];
    const home = parts.length > 1 ? table : parts[0];
    const cell = (part, place) => ((part.rows ? part.rows[0] : part).cells[place]?.textContent ?? "").trim();
    const heads = all("thead th", table);
    heads.forEach((head, place) => {
      const kind = head.dataset.sort;
      if (!kind) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const next = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")];
        for (const other of heads) if (other.dataset.sort) other.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", next);
        let order = movable;
        if (next !== "none") {
          const sign = next === "ascending" ? 1 : -1;
          const keyed = movable.map((part) => [kind === "number" ? number(cell(part, place)) : cell(part, place), part]);
          keyed.sort(([a], [b]) => {
            if (kind !== "number") return sign * collator.compare(a, b);
            return (Number.isNaN(a) - Number.isNaN(b)) || (sign * (a - b)) || 0; // what is missing comes last
          });
          order = keyed.map(([, part]) => part);
        }
        home.append(...order);
      });
    });
  }

  // Finding lines: text, task, kind of line, note.
  const finder = document.getElementById("finder");
  if (!finder) return;
  finder.hidden = false;
  const fields = finder.elements;
  const output = finder.querySelector("output");
  const tables = all("table.lines").map((table) => ({
    table,
    rows: [...table.tBodies[0].rows].map((row) => ({ row, text: null })),
    task: table.dataset.task,
    folded: table.closest("details"),
    section: table.closest("[data-section]"),
  }));
  const total = tables.reduce((sum, each) => sum + each.rows.length, 0);
  const sections = all("[data-section]");
  const opened = new Set();
  const count = (value) => value.toLocaleString("en");
  const apply = () => {
    const text = fields.text.value.trim().toLowerCase();
    const { task, set, note } = Object.fromEntries(["task", "set", "note"].map((name) => [name, fields[name].value]));
    const narrowed = Boolean(text || set || note);
    const fitting = new Set();
    let shown = 0;
    for (const each of tables) {
      let here = 0;
      for (const entry of each.rows) {
        const { row } = entry;
        let fits = (!task || each.task === task) && (!set || row.dataset.set === set);
        if (fits && note) fits = row.dataset.note !== undefined && (note === "*" || row.dataset.note.split("; ").includes(note));
        if (fits && text) fits = (entry.text ??= row.textContent.toLowerCase()).includes(text);
        row.hidden = !fits;
        here += fits;
      }
      shown += here;
      each.table.hidden = !here;
      if (here) fitting.add(each.section);
      if (each.folded) {
        each.folded.hidden = !here;
        if (narrowed && here && !each.folded.open) { each.folded.open = true; opened.add(each.folded); }
        if ((!narrowed || !here) && opened.delete(each.folded)) each.folded.open = false;
      }
    }
    for (const section of sections) {
      section.classList.toggle("narrowed", narrowed);
      section.hidden = (task && section.dataset.section !== task) || (narrowed && !fitting.has(section));
    }
    output.textContent = narrowed || task ? `${count(shown)} of ${count(total)} lines shown` : `${count(total)} lines on this page`;
  };
  let waiting = 0;
  finder.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, 120); });
  finder.addEventListener("change", apply);
  finder.addEventListener("reset", () => { setTimeout(apply); });
  finder.addEventListener("submit", (event) => { event.preventDefault(); apply(); });
  apply();
})();
