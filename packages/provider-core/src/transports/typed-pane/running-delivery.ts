/** What submit and follow of one open session share. */
export interface RunningDelivery {
  /** Length of the spool when the cursor was taken: what was written since then belongs to the turn. */
  spoolFrom: number;
  /** The message the gate was armed with. */
  armed?: { readonly token: string; readonly text: string; readonly turnId: string };
}
