"use strict";
/* Shows how many points are left to share out, or too many, and that they are whole or half; the server checks both. */
(() => {
  const form = document.querySelector("form[data-total]");
  const left = document.getElementById("left");
  const fields = [...form.querySelectorAll("input[type=number]")];
  const count = () => {
    const given = fields.reduce((sum, field) => sum + (Number(field.value) || 0), 0);
    const rest = Number((Number(form.dataset.total) - given).toFixed(6));  // 1.3 has no exact binary form
    left.hidden = false;
    const said = (rest < 0 ? left.dataset.over : left.dataset.left).replace("{points}", String(Math.abs(rest)));
    left.textContent = said + (fields.some((field) => Number(field.value) * 2 % 1) ? left.dataset.step : "");
  };
  for (const field of fields) field.addEventListener("input", count);
  count();
})();
