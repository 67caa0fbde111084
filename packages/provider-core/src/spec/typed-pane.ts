/** A CLI driven by typing into its pane. Shapes are filled in by the typed-pane transport's author. */
export interface TypedPane {
  readonly kind: 'typed_pane';
}
