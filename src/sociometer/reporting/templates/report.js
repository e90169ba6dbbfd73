"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const mode = () => root.dataset.theme || (dark.matches ? "dark" : "light");

  /* Charts: drawn when their fold is open, drawn anew when the theme changes. A chart can load and link nothing. */
  const closed = () => Promise.reject(new Error("nothing is loaded from outside"));
  const loader = { load: closed, sanitize: closed, http: closed, file: closed };
  const drawn = new Map();
  const COLUMN = 46; /* pixels of a column with a number in it */
  const LETTER = 7; /* pixels of a letter */

  /* The width of the longest name that a channel shows. */
  const views = (chart) => [chart, ...(chart.layer || []).flatMap(views)];
  function widest(chart, channels) {
    const all = views(chart).flatMap((view) => channels.map((name) => view.encoding?.[name]));
    const names = all.flatMap((channel) => channel?.legend === null ? [] : channel?.legend?.values || channel?.scale?.domain || []);
    return LETTER * Math.max(0, ...names.map((name) => String(name).length));
  }

  /* The legend is beside the names of the rows, in as many columns as there is room for; long names are cut to fit. */
  function themeFor(place, chart) {
    const theme = data.themes[mode()];
    const axis = { ...theme.axis, labelLimit: place.clientWidth > 560 ? theme.axis.labelLimit : 195 };
    const room = place.clientWidth - Math.min(axis.labelLimit, widest(chart, ["y"])) - 40;
    const name = Math.min(theme.legend.labelLimit, widest(chart, ["color", "shape"])) + 30;
    const columns = Math.max(1, Math.min(theme.legend.columns, Math.floor(room / name)));
    const labelLimit = columns > 1 ? theme.legend.labelLimit : room - 30;
    return { ...theme, legend: { ...theme.legend, columns, labelLimit }, axis };
  }

  /* A chart as its place allows: columns of names keep a readable width and scroll. */
  function fitted(specification, place) {
    const chart = structuredClone(specification);
    const columns = chart.encoding?.x?.scale?.domain;
    const wide = Array.isArray(columns) && columns.length * COLUMN + 200 > place.clientWidth;
    place.classList.toggle("wide", wide);
    if (wide) {
      chart.width = columns.length * COLUMN;
      delete chart.autosize;
    }
    return chart;
  }

  async function draw(place, specification) {
    if (drawn.get(place) === mode()) return;
    drawn.set(place, mode());
    const options = {
      mode: "vega-lite", renderer: "svg", actions: false, ast: true, logLevel: 1, loader, config: themeFor(place, specification),
      tooltip: { theme: mode() },
    };
    place.replaceChildren();
    await window.vegaEmbed(place, fitted(specification, place), options);
    place.dataset.drawn = mode();
  }

  const specifications = new WeakMap();
  for (const place of document.querySelectorAll(".chart")) specifications.set(place, data.charts[place.dataset.chart]);
  const places = () => [...document.querySelectorAll(".chart")].filter((place) => place.checkVisibility());
  const drawAll = () => Promise.all(places().map((place) => draw(place, specifications.get(place))));
  /* One after the other, so that the page answers in between. */
  const drawNext = () => {
    const place = places().find((each) => !drawn.has(each));
    if (place) draw(place, specifications.get(place)).then(drawSoon);
  };
  const drawSoon = () => setTimeout(drawNext, 20);
  document.addEventListener("toggle", drawSoon, true);
  drawSoon();

  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = mode() === "dark" ? "light" : "dark";
    drawAll();
  });
  dark.addEventListener("change", drawAll);
  let chosen = root.dataset.theme;
  window.addEventListener("afterprint", () => {
    if (chosen) root.dataset.theme = chosen; else delete root.dataset.theme;
    drawAll();
  });
  /* Paper shows what is open on the screen. */
  window.addEventListener("beforeprint", () => {
    chosen = root.dataset.theme;
    root.dataset.theme = "light";
    drawAll();
  });

  const folds = () => [...document.querySelectorAll("main details")];
  const unfold = document.getElementById("unfold");
  const unfoldAll = (open) => {
    for (const fold of folds()) fold.open = open;
    unfold.textContent = open ? "Collapse all" : "Expand all";
  };
  unfold.addEventListener("click", () => unfoldAll(unfold.textContent === "Expand all"));
  for (const link of document.querySelectorAll(".contents a")) {
    link.addEventListener("click", () => {
      const fold = document.querySelector(`${link.hash}.rest > details`);
      if (fold) fold.open = true;
    });
  }
  window.sociometer = { drawAll, unfoldAll };

  /* Evidence: text enters the page as text nodes alone. */
  const list = document.getElementById("episodes");
  if (!list) return;
  const reader = document.getElementById("transcript");
  let evidence = [];
  let words = [];

  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  function element(tag, className, ...inside) {
    const node = document.createElement(tag);
    if (className) node.className = className;
    node.append(...inside);
    return node;
  }

  const wordsOf = (episode) =>
    [episode.item, ...episode.lines.flatMap((line) => [line.text, line.reasoning || "", ...Object.values(line.facts || {})])]
      .join("\n").toLowerCase();

  const controls = ["instrument", "subject", "kind", "words"].map((name) => document.getElementById("by-" + name));
  const [byInstrument, bySubject, byKind, byWords] = controls;

  function matches(episode, place) {
    return (!byInstrument.value || episode.instrument === byInstrument.value)
      && (!bySubject.value || episode.subject === bySubject.value)
      && (!byKind.value || episode.kinds.includes(byKind.value))
      && (!byWords.value || words[place].includes(byWords.value.toLowerCase()));
  }

  function label(episode) {
    if (episode.failure) return "failed";
    return episode.value === null ? "" : String(Math.round(episode.value * 1000) / 1000);
  }

  function entry(episode, place) {
    const subject = data.subjects.indexOf(episode.subject);
    const about = [episode.subject, episode.instrument, episode.kinds.join(", ")].join(" · ");
    const button = element("button", "", element("span", `dot ${data.shapes[subject]}`), element("span", "item", episode.item),
      element("span", "score", label(episode)), element("span", "about", about));
    button.type = "button";
    button.dataset.place = place;
    button.style.setProperty("--c", `var(--subject-${subject % 8})`);
    button.addEventListener("click", () => { show(place); reader.focus({ preventScroll: true }); });
    return element("li", "", button);
  }

  function pick() {
    const chosen = evidence.map((episode, place) => [episode, place]).filter(([episode, place]) => matches(episode, place));
    list.replaceChildren(...chosen.map(([episode, place]) => entry(episode, place)));
    document.getElementById("count").textContent = `${chosen.length} of ${evidence.length} transcripts`;
    if (chosen.length) show(chosen[0][1]);
    else reader.replaceChildren(element("p", "aside", "No transcript matches these filters."));
  }

  const SPEAKERS = { system: "instruction", user: "asked", assistant: "said before", reply: "reply", note: "note" };

  function utterance(line) {
    if (line.speaker === "note") {
      const facts = Object.entries(line.facts || {}).flatMap(([name, fact]) => [element("dt", "", name), element("dd", "", fact)]);
      return element("div", "line note", element("span", "speaker", line.text), element("dl", "", ...facts));
    }
    const who = line.speaker === "reply" ? `${line.role} · ${line.name || ""}` : `${SPEAKERS[line.speaker] || line.speaker} → ${line.role}`;
    const speaker = element("span", "speaker", line.branch ? `${who} · ${line.branch}` : who);
    const block = element("div", `line ${line.speaker} role-${line.role === "subject" ? "subject" : "other"}`, speaker);
    const fold = (name, above, text) => element("details", name, element("summary", "", above), element("p", "text", text));
    const behind = line.speaker !== "reply" && (line.role !== "subject" || line.speaker === "system");
    if (line.reasoning) block.append(fold("reasoning", "reasoning", line.reasoning));
    if (behind && line.text.length > 280) block.append(fold("folded", line.text.replace(/\s+/g, " ").slice(0, 120) + " …", line.text));
    else block.append(element("p", "text", line.text || "(empty)"));
    return block;
  }

  function table(given) {
    const row = (tag, cells) => element("tr", "", ...cells.map((cell) => element(tag, "", cell)));
    const body = element("tbody", "", ...given.rows.map((cells) => row("td", cells)));
    return element("table", "", element("thead", "", row("th", given.columns)), body);
  }

  function beside(figure) {
    const aside = element("figure", "beside", element("h4", "", figure.title));
    if (figure.table) aside.append(element("div", "scroll", table(figure.table)));
    else if (figure.chart) {
      const place = element("div", "chart");
      aside.append(place);
      specifications.set(place, figure.chart);
      drawSoon();
    }
    if (figure.caption) aside.append(element("figcaption", "", figure.caption));
    return aside;
  }

  function show(place) {
    const episode = evidence[place];
    for (const button of list.querySelectorAll("button")) button.setAttribute("aria-current", String(Number(button.dataset.place) === place));
    const facts = [episode.subject, `${episode.instrument} / ${episode.task}`, `repeat ${episode.repeat}`,
      ...Object.entries(episode.facets || {}).map(([name, level]) => `${name}: ${level}`),
      ...Object.entries(episode.values || {}).map(([name, value]) => `${name} ${Math.round(value * 1000) / 1000}`)];
    if (episode.unreadable) facts.push(`${episode.unreadable} unreadable`);
    const head = element("header", "", element("h3", "", episode.item), element("p", "about", facts.join(" · ")));
    if (episode.failure) head.append(element("p", "failure", episode.failure));
    const aside = episode.beside ? beside(episode.beside) : "";
    reader.replaceChildren(head, aside, element("div", "lines", ...episode.lines.map(utterance)));
    reader.scrollTop = 0;
  }

  for (const control of controls) for (const event of ["input", "change"]) control.addEventListener(event, pick);
  unpack(document.getElementById("packed").textContent).then((unpacked) => {
    evidence = unpacked;
    words = evidence.map(wordsOf);
    pick();
  }, () => reader.replaceChildren(element("p", "aside", "This browser is too old to unpack the transcripts.")));
})();
