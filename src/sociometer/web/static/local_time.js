"use strict";
/* Shows times in the reader's time zone; the title of each keeps UTC. */
for (const time of document.querySelectorAll("time[datetime]")) {
  const at = new Date(time.dateTime), two = (number) => String(number).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  time.textContent = `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}
