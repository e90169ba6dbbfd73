"use strict";
/* Shows how many points are left to share out; the server checks the sum. */
(() => {
  const form = document.querySelector("form[data-total]");
  const left = document.getElementById("left");
  const fields = [...form.querySelectorAll("input[type=number]")];
  const count = () => {
    const given = fields.reduce((sum, field) => sum + (Number(field.value) || 0), 0);
    left.hidden = false;
    left.querySelector("output").textContent = String(Number(form.dataset.total) - given);
  };
  for (const field of fields) field.addEventListener("input", count);
  count();
})();
