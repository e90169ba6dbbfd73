"use strict";
document.getElementById("enter").requestSubmit();
