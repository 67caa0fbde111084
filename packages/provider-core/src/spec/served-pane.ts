/** A CLI driven through a server of its own; the pane only shows. */
export interface ServedPane {
  readonly kind: 'served_pane';
}
