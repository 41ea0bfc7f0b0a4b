// A part that is drawn again after a change of the state: at most once per frame.

/**
 * Draws now, and again in the frame after each change.
 * @param {{subscribe: (listener: () => void) => void}} store @param {() => void} draw
 */
export function follow(store, draw) {
  let isDue = false;
  store.subscribe(() => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      draw();
    });
  });
  draw();
}
