// A search for "--delay" means the option. Without this, the dashes would exclude the word.
document.addEventListener(
  "input",
  (event) => {
    if (event.target.matches(".md-search__input")) {
      event.target.value = event.target.value.replace(/(^|\s)-+/g, "$1");
    }
  },
  true,
);
