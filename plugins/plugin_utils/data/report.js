"use strict";
(function () {
  const by = (id) => document.getElementById(id);
  const data = JSON.parse(by("data").textContent);
  const body = by("matrix").tBodies[0];
  const rows = Array.from(body.rows);
  const filter = by("filter");
  const chips = Array.from(document.querySelectorAll(".chip"));
  document.documentElement.classList.add("scripted");

  // Everything from a host becomes text, never markup.
  function element(name, text, parent, className) {
    const node = document.createElement(name);
    node.textContent = text;
    if (className) node.className = className;
    if (parent) parent.append(node);
    return node;
  }

  const haystacks = new Map(rows.map((row) => [row, (row.textContent + " " + row.dataset.ids).toLowerCase()]));
  const details = new Map();
  for (const row of rows) {
    const head = row.cells[0];
    const button = element("button", head.firstChild.data, null, "link");
    button.type = "button";
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", () => toggle(row, button));
    head.firstChild.replaceWith(button);
  }

  function toggle(row, button) {
    const open = details.get(row);
    if (open) {
      open.remove();
      details.delete(row);
    } else {
      const line = document.createElement("tr");
      line.className = "detail";
      const cell = element("td", "", line);
      cell.colSpan = row.cells.length;
      fill(cell, data.hosts[Number(row.id.slice(5))]);
      details.set(row, line);
      row.after(line);
    }
    button.setAttribute("aria-expanded", String(!open));
  }

  function fill(cell, host) {
    for (const part of host) {
      const [title, lines] = data.parts[part];
      element("h3", data.texts[title], cell);
      const list = element("ul", "", cell);
      for (const line of lines) element("li", data.texts[line], list);
    }
  }

  function chosen() {
    return chips.filter((chip) => chip.getAttribute("aria-pressed") === "true").map((chip) => chip.dataset.state);
  }

  function apply() {
    const words = filter.value.toLowerCase().split(/\s+/).filter((word) => word && word !== "-");
    const states = chosen();
    let shown = 0;
    for (const row of rows) {
      const text = haystacks.get(row);
      const match = (!states.length || states.includes(row.dataset.state)) &&
        words.every((word) => word[0] === "-" ? !text.includes(word.slice(1)) : text.includes(word));
      row.hidden = !match;
      if (details.has(row)) details.get(row).hidden = !match;
      shown += match ? 1 : 0;
    }
    by("shown").textContent = shown === rows.length ? rows.length + " hosts" : shown + " of " + rows.length + " hosts";
    by("none").hidden = shown > 0 || !rows.length;
    remember(states);
  }

  // The address keeps filter and states, so that a reload and a bookmark do.
  function remember(states) {
    const kept = new URLSearchParams();
    if (filter.value) kept.set("filter", filter.value);
    for (const state of states) kept.append("state", state);
    if (by("reload").checked) kept.set("reload", "1");
    const hash = kept.toString();
    if (hash !== location.hash.slice(1)) history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
  }

  function restore() {
    const kept = new URLSearchParams(location.hash.slice(1));
    filter.value = kept.get("filter") || "";
    by("reload").checked = kept.has("reload");
    for (const chip of chips) chip.setAttribute("aria-pressed", String(kept.getAll("state").includes(chip.dataset.state)));
    apply();
  }

  function show(text) {
    filter.value = text;
    for (const chip of chips) chip.setAttribute("aria-pressed", "false");
    apply();
    by("hosts").scrollIntoView();
    filter.focus({ preventScroll: true });
  }

  const natural = new Intl.Collator("en", { numeric: true });
  const value = (row, column) => row.cells[column].dataset.sort || row.cells[column].textContent;
  Array.from(by("matrix").tHead.rows[0].cells).forEach((head, column) => {
    const button = element("button", head.textContent);
    button.type = "button";
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const way = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
      const sorted = rows.map((row) => [value(row, column), row]).sort((one, two) => way * natural.compare(one[0], two[0]));
      body.append(...sorted.flatMap(([, row]) => details.has(row) ? [row, details.get(row)] : [row]));
    });
  });

  function age() {
    const minutes = Math.max(0, Math.round((Date.now() - Date.parse(by("time").dateTime)) / 60000));
    const [count, unit] = minutes < 120 ? [minutes, "minute"] : minutes < 2880 ? [Math.round(minutes / 60), "hour"] : [Math.round(minutes / 1440), "day"];
    by("age").textContent = "(" + count + " " + unit + (count === 1 ? "" : "s") + " ago)";
    by("age").className = minutes > 1440 ? "tag warn" : "";
  }

  for (const chip of chips) {
    chip.addEventListener("click", () => {
      chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
      apply();
    });
  }
  for (const link of document.querySelectorAll("[data-filter]")) {
    link.addEventListener("click", () => show(link.dataset.filter));
  }
  filter.addEventListener("input", apply);
  filter.form.addEventListener("submit", (event) => event.preventDefault());
  by("clear").addEventListener("click", () => show(""));
  by("reload").addEventListener("change", apply);
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== filter) {
      event.preventDefault();
      filter.focus();
    } else if (event.key === "Escape" && document.activeElement === filter) {
      filter.value = "";
      apply();
    }
  });
  window.addEventListener("hashchange", restore);
  setInterval(() => by("reload").checked && location.reload(), 60000);
  setInterval(age, 30000);
  age();
  restore();
})();
