// Before the first paint, so that a dark page never flashes white. A file of its own, because the
// server's content security policy allows no inline script.
const chosen = localStorage.getItem('hai.theme');
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
