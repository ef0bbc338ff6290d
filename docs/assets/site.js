// The theme puts wide tables into boxes that scroll; with a keyboard, too, if they can have the focus.
document$.subscribe(() => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code"))
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
});
