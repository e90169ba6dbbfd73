"use strict";
/* Asks for the state of the runs on the page every second, if the page is visible. What comes is put in as text; what
   needs more than that is loaded anew, unless somebody is choosing, writing or reading something that was folded. */
(() => {
  const page = document.body.dataset, opened = performance.now();
  const reload = () => {
    const busy = document.querySelector("main :is(details[open], input:checked, input:focus, select:focus)");
    if (!busy) location.reload();
    return !busy;
  };
  const write = (place, name, text) => {
    const found = place.querySelector(`[data-of="${name}"]`);
    if (found && found.textContent !== text) found.textContent = text;
    return found;
  };
  const show = (row) => {
    const place = document.querySelector(`[data-run="${CSS.escape(row.id)}"]`);
    if (!place) return;
    const further = page.numbers && String(row.finished) !== place.dataset.finished && performance.now() - opened > 5000;
    if (place.dataset.status !== row.status || further) reload();
    write(place, "status", row.shown).className = `status ${row.state.split(" ")[0]}`;
    write(place, "far", row.planned ? `${row.finished} / ${row.planned}` : String(row.finished));
    for (const name of ["failed", "requests", "tokens", "cost", "score", "bounds"]) write(place, name, String(row[name]));
    const bar = place.querySelector("progress");
    bar.max = row.planned || 1;
    bar.value = row.planned ? row.finished : 1;
  };
  const look = async () => {
    if (!document.hidden) {
      try {
        const state = await (await fetch(page.states)).json();
        state.runs.forEach(show);
        const link = document.getElementById("new");
        if (link && !page.filtered && state.count > Number(page.count) && !reload()) link.hidden = false;
      } catch {
        /* The server is away or busy: the next round may find it. */
      }
    }
    setTimeout(look, 1000);
  };
  look();
})();
