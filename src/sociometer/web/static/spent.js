"use strict";
/* Measures how many seconds a question is on the screen; time in which the page is hidden does not count. */
(() => {
  const form = document.querySelector("form.answer");
  let seconds = Number(form.elements.spent.value) || 0, since = performance.now(), seen = !document.hidden;
  const count = () => {
    if (seen) seconds += (performance.now() - since) / 1000;
    since = performance.now();
    seen = !document.hidden;
  };
  document.addEventListener("visibilitychange", count);
  form.addEventListener("submit", () => {
    count();
    form.elements.spent.value = seconds.toFixed(3);
  });
})();
