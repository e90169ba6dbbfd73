"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const mode = () => root.dataset.theme || (dark.matches ? "dark" : "light");

  /* Charts: drawn when they come into view, drawn anew when the theme changes. A chart can load and link nothing. */
  const closed = () => Promise.reject(new Error("nothing is loaded from outside"));
  const loader = { load: closed, sanitize: closed, http: closed, file: closed };
  const drawn = new Map();
  const COLUMN = 46; /* pixels of a column with a number in it */

  /* In a narrow chart the legend is a list beside the names of the rows, and both are cut to fit. */
  function themeFor(place) {
    const theme = data.themes[mode()];
    if (place.clientWidth > 560) return theme;
    const legend = { ...theme.legend, columns: 1, labelLimit: place.clientWidth - 200 };
    return { ...theme, legend, axis: { ...theme.axis, labelLimit: 195 } };
  }

  /* A chart as its place allows: columns of names keep a readable width and scroll, and a title breaks its lines anew. */
  function fitted(specification, place) {
    const chart = structuredClone(specification);
    const columns = chart.encoding?.x?.scale?.domain;
    const wide = Array.isArray(columns) && columns.length * COLUMN + 200 > place.clientWidth;
    place.classList.toggle("wide", wide);
    if (wide) {
      chart.width = columns.length * COLUMN;
      delete chart.autosize;
    }
    if (Array.isArray(chart.title?.text)) chart.title.text = broken(chart.title.text.join(" "), place.clientWidth / 6.2);
    return chart;
  }

  function broken(text, letters) {
    const lines = [""];
    for (const word of text.split(" ")) {
      if (lines.at(-1) && lines.at(-1).length + word.length >= letters) lines.push(word);
      else lines[lines.length - 1] += (lines.at(-1) ? " " : "") + word;
    }
    return lines;
  }

  async function draw(place, specification) {
    if (drawn.get(place) === mode()) return;
    drawn.set(place, mode());
    const options = {
      mode: "vega-lite", renderer: "svg", actions: false, ast: true, logLevel: 1, loader, config: themeFor(place),
      tooltip: { theme: mode() },
    };
    place.replaceChildren();
    await window.vegaEmbed(place, fitted(specification, place), options);
    place.dataset.drawn = mode();
  }

  const specifications = new WeakMap();
  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (isIntersecting && target.checkVisibility()) draw(target, specifications.get(target));
    }
  }, { rootMargin: "400px" });

  function watch(place, specification) {
    specifications.set(place, specification);
    seen.observe(place);
  }

  /* A chart in a closed fold is drawn when the fold opens. */
  const places = () => [...document.querySelectorAll(".chart")].filter((place) => place.checkVisibility());
  document.addEventListener("toggle", (event) => {
    for (const place of event.target.querySelectorAll(".chart")) {
      seen.unobserve(place);
      seen.observe(place);
    }
  }, true);
  const drawAll = () => Promise.all(places().map((place) => draw(place, specifications.get(place))));
  for (const place of document.querySelectorAll(".chart")) watch(place, data.charts[place.dataset.chart]);

  function themeChanged() {
    for (const place of places()) if (place.dataset.drawn) draw(place, specifications.get(place));
  }
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = mode() === "dark" ? "light" : "dark";
    themeChanged();
  });
  dark.addEventListener("change", themeChanged);
  let chosen = root.dataset.theme;
  window.addEventListener("afterprint", () => {
    if (chosen) root.dataset.theme = chosen; else delete root.dataset.theme;
    themeChanged();
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
  /* A page that is printed has all its open charts, so they are drawn when the browser has time. */
  const idle = window.requestIdleCallback || ((callback) => setTimeout(callback, 200));
  const drawNext = () => {
    const place = places().find((each) => !drawn.has(each));
    if (place) draw(place, specifications.get(place)).then(() => idle(drawNext));
  };
  idle(drawNext);

  /* Evidence: text enters the page through textContent alone. */
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

  function element(tag, className, text) {
    const node = document.createElement(tag);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
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
    const item = element("li");
    const button = element("button");
    button.type = "button";
    button.dataset.place = place;
    const subject = data.subjects.indexOf(episode.subject);
    button.style.setProperty("--c", `var(--subject-${subject % 8})`);
    const shape = data.shapes[subject];
    button.append(element("span", `dot ${shape}`), element("span", "item", episode.item), element("span", "score", label(episode)));
    const about = [episode.subject, episode.instrument, episode.kinds.join(", ")].join(" · ");
    button.append(element("span", "about", about));
    button.addEventListener("click", () => { show(place); reader.focus({ preventScroll: true }); });
    item.append(button);
    return item;
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
      const note = element("div", "line note");
      note.append(element("span", "speaker", line.text));
      const facts = element("dl");
      for (const [name, fact] of Object.entries(line.facts || {})) facts.append(element("dt", "", name), element("dd", "", fact));
      note.append(facts);
      return note;
    }
    const block = element("div", `line ${line.speaker} role-${line.role === "subject" ? "subject" : "other"}`);
    const who = line.speaker === "reply" ? `${line.role} · ${line.name || ""}` : `${SPEAKERS[line.speaker] || line.speaker} → ${line.role}`;
    block.append(element("span", "speaker", line.branch ? `${who} · ${line.branch}` : who));
    const behind = line.speaker !== "reply" && (line.role !== "subject" || line.speaker === "system");
    if (behind && line.text.length > 280) {
      const folded = element("details", "folded");
      folded.append(element("summary", "", line.text.replace(/\s+/g, " ").slice(0, 120) + " …"), element("p", "text", line.text));
      block.append(folded);
      return block;
    }
    if (line.reasoning) {
      const thought = element("details", "reasoning");
      thought.append(element("summary", "", "reasoning"), element("p", "text", line.reasoning));
      block.append(thought);
    }
    block.append(element("p", "text", line.text || "(empty)"));
    return block;
  }

  function table(given) {
    const grid = element("table");
    const head = element("tr");
    for (const column of given.columns) head.append(element("th", "", column));
    const body = element("tbody");
    for (const row of given.rows) {
      const line = element("tr");
      for (const cell of row) line.append(element("td", "", cell));
      body.append(line);
    }
    const top = element("thead");
    top.append(head);
    grid.append(top, body);
    return grid;
  }

  function beside(figure) {
    const aside = element("figure", "beside");
    aside.append(element("h4", "", figure.title));
    if (figure.table) {
      const frame = element("div", "scroll");
      frame.append(table(figure.table));
      aside.append(frame);
    } else if (figure.chart) {
      const place = element("div", "chart");
      aside.append(place);
      watch(place, figure.chart);
    }
    if (figure.caption) aside.append(element("figcaption", "", figure.caption));
    return aside;
  }

  function show(place) {
    const episode = evidence[place];
    for (const button of list.querySelectorAll("button")) button.setAttribute("aria-current", String(Number(button.dataset.place) === place));
    const head = element("header");
    head.append(element("h3", "", episode.item));
    const facts = [episode.subject, `${episode.instrument} / ${episode.task}`, `repeat ${episode.repeat}`,
      ...Object.entries(episode.facets || {}).map(([name, level]) => `${name}: ${level}`),
      ...Object.entries(episode.values || {}).map(([name, value]) => `${name} ${Math.round(value * 1000) / 1000}`)];
    if (episode.unreadable) facts.push(`${episode.unreadable} unreadable`);
    head.append(element("p", "about", facts.join(" · ")));
    if (episode.failure) head.append(element("p", "failure", episode.failure));
    const text = element("div", "lines");
    text.append(...episode.lines.map(utterance));
    const parts = [head];
    if (episode.beside) parts.push(beside(episode.beside));
    parts.push(text);
    reader.replaceChildren(...parts);
    reader.scrollTop = 0;
  }

  for (const control of controls) for (const event of ["input", "change"]) control.addEventListener(event, pick);
  unpack(document.getElementById("packed").textContent).then((unpacked) => {
    evidence = unpacked;
    words = evidence.map(wordsOf);
    pick();
  }, () => reader.replaceChildren(element("p", "aside", "This browser is too old to unpack the transcripts.")));
})();
