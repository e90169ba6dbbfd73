"use strict";
/* Sorts the runs on the page by a column: a click on its name, and another one for the other direction. The runs of an
   instrument stay together when they are sorted by score, the best first; a run without a score comes last. */
(() => {
  const body = document.querySelector("table.runs tbody");
  if (!body) return;
  /* Two to six runs of one instrument can be compared. */
  const form = body.closest("form"), boxes = [...form.querySelectorAll("input[name=run]")];
  const choose = () => {
    const ticked = boxes.filter((box) => box.checked);
    for (const box of boxes) box.disabled = ticked.length > 0 && box.dataset.instrument !== ticked[0].dataset.instrument;
    for (const button of form.querySelectorAll(".chosen button")) button.disabled = ticked.length < 2 || ticked.length > 6;
  };
  form.addEventListener("change", choose);
  choose();
  const given = [...body.querySelectorAll("tr[data-run]")];
  const text = (row, place) => row.cells[place].innerText.trim().toLowerCase();
  const score = (row) => {
    const value = parseFloat(row.querySelector("[data-of=score]").textContent.replace("−", "-"));
    return Number.isNaN(value) ? Infinity : row.querySelector("[data-better]").dataset.better === "lower" ? value : -value;
  };
  const orders = {
    text: (place) => (a, b) => text(a, place).localeCompare(text(b, place)),
    time: () => (a, b) => b.querySelector("time").dateTime.localeCompare(a.querySelector("time").dateTime),
    score: (place) => (a, b) => text(a, place - 1).localeCompare(text(b, place - 1)) || score(a) - score(b) || 0,
  };
  const heads = document.querySelectorAll("th[data-sort]");
  for (const head of heads) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    const sort = (turned) => {
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", turned ? "descending" : "ascending");
      const rows = [...given].sort(orders[head.dataset.sort](head.cellIndex));
      body.append(...(turned ? rows.reverse() : rows));
      sessionStorage.setItem("sorted", `${head.cellIndex} ${turned}`);
    };
    button.addEventListener("click", () => sort(head.getAttribute("aria-sort") === "ascending"));
    /* A page that follows a run is loaded again. */
    const [place, turned] = (sessionStorage.getItem("sorted") || "").split(" ");
    if (place === String(head.cellIndex)) sort(turned === "true");
  }
})();
