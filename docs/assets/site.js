// The theme puts wide tables into boxes that scroll; with a keyboard, too, if they can have the focus. What is too
// wide changes with the window.
document$.subscribe(() => {
  const watched = new ResizeObserver((boxes) => {
    for (const { target } of boxes)
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
  });
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) watched.observe(box);
});
